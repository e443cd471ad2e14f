"""The C and C++ fences of pages: each compiles without a warning, as older and newer standard; those with `run`
end well on the recording driver.

```cpp            a whole program or header, C++17 and C++20, without exceptions and RTTI
```cpp run        besides, linked with libtkcrt and libtkcrt_double and run
```cpp body       statements of a function that has `driver`, `bundle` and `kernel`
```c, c run       the same in C99 and C11
```c body         statements of a function that has files in memory, arrays x and y of rows x columns, a stream

What runs finds add.tkb in its folder: the example of docs/metadata.md as a bundle.
"""

import argparse
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
FENCE = re.compile(r"^```(cpp|c)\b([^\n]*)\n(.*?)^```", re.M | re.S)
BODY = """#include <cstdio>
#include <tkc/runtime.hpp>
void body(tkc::driver &driver, tkc::bundle &bundle, tkc::kernel &kernel);
void body(tkc::driver &driver, tkc::bundle &bundle, tkc::kernel &kernel) {
  (void)driver, (void)bundle, (void)kernel;
%s
}
"""
C_BODY = """#include <stdio.h>
int body(const void *image, size_t image_bytes, const void *json, size_t json_bytes, void *stream, void *x, void *y,
         int64_t rows, int64_t columns);
int body(const void *image, size_t image_bytes, const void *json, size_t json_bytes, void *stream, void *x, void *y,
         int64_t rows, int64_t columns) {
%s
  return 0;
}
"""


def write_bundle(page, path):
    """The page's JSON with one image of 64 zero bytes, by docs/design/bundles.md."""
    text = re.search(r"^```json\n(\{\"schema.*?)^```", page, re.M | re.S).group(1)
    document, image = json.loads(text), bytes(64)
    entry = {"kind": "cubin", "offset": 1 << 16, "stored": 64, "size": 64, "codec": "none",
             "sha256": hashlib.sha256(image).hexdigest()}
    document["images"] = [entry]
    entry["offset"] = -(-(128 + len(json.dumps(document))) // 64) * 64
    body = json.dumps(document).encode()
    head = b"\x89TKB\r\n\x1a\n" + struct.pack("<IIQQQ", 1, 128, 128, len(body), entry["offset"] + 64)
    head += hashlib.sha256(body).digest()
    path.write_bytes((head.ljust(128, b"\0") + body).ljust(entry["offset"], b"\0") + image)


def check(options, language, info, text, folder):
    is_cpp = language == "cpp"
    source = folder / ("fence." + language)
    if "body" in info:
        text = BODY % text if is_cpp else "#include <tkc/runtime.h>\n" + C_BODY % text
    source.write_text(text)
    command = [options.cxx if is_cpp else options.cc, *WARNINGS, "-I", options.include, "-I", HERE, source]
    if is_cpp:
        command += ["-fno-exceptions", "-fno-rtti"]
    for standard in ("c++17", "c++20") if is_cpp else ("c99", "c11"):
        command_of_standard = command + ["-std=" + standard]
        result = subprocess.run(command_of_standard + ["-fsyntax-only"], text=True, capture_output=True)
        if result.returncode:
            return result
    if "run" not in info:
        return result
    paths = [pathlib.Path(options.library), pathlib.Path(options.double)]
    linked = command_of_standard + paths + ["-Wl,-rpath,%s" % path.parent for path in paths]
    result = subprocess.run(linked + ["-o", folder / "fence"], text=True, capture_output=True)
    if result.returncode:
        return result
    write_bundle((HERE.parents[1] / "docs" / "metadata.md").read_text(), folder / "add.tkb")
    return subprocess.run([folder / "fence"], text=True, capture_output=True, cwd=folder)


def check_page(options, path):
    """The numbers of fences, of those that were run, and of faults."""
    page = path.read_text()
    fences = list(FENCE.finditer(page))
    faults = 0
    for match in fences:
        language, info, text = match.groups()
        line = page.count("\n", 0, match.start()) + 1
        with tempfile.TemporaryDirectory() as folder:
            result = check(options, language, info.split(), text, pathlib.Path(folder))
        if result.returncode:
            faults += 1
            print("%s:%d: %s" % (path, line, result.stdout + result.stderr))
    return len(fences), sum("run" in match.group(2).split() for match in fences), faults


def main():
    parser = argparse.ArgumentParser()
    for name in ["--cc", "--cxx", "--include", "--library", "--double"]:
        parser.add_argument(name, required=True)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    fences, runs, faults = map(sum, zip(*(check_page(options, page) for page in options.pages)))
    print("%d fences, %d run, %d faults" % (fences, runs, faults))
    sys.exit(bool(faults or not runs))


main()
