"""Builds a program of examples/apps against an installed tkc, and runs it on the CPU device.

    apps.py CASE --root=ROOT --build=BUILD --work=DIR

The prefix is made by `cmake --install` and moved before it is used, as packages are.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

WARNINGS = "-pedantic -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Werror"
CC = ["cc", "-std=c99", *WARNINGS.split()]


# Where Debian has the rules that its Bazel would download.
DEBIAN_RULES = "/usr/share/bazel/rules"

BAZEL_BUILD = """
load("@rules_cc//cc:defs.bzl", "cc_binary")
load("@tkc//:defs.bzl", "tkc_kernels")

tkc_kernels(
    name = "kernels",
    src = "kernels.tk",
    imports = ["shared.tk"],
    targets = ["sm_80", "sm_90a"],
    with_interp = True,
)

cc_binary(
    name = "app",
    srcs = ["main.cpp", "memory.c", "memory.h"],
    deps = [":kernels"],
)

# The same file for other chips, and in a shared library.
genrule(
    name = "made",
    outs = ["made/shared.tk"],
    cmd = "echo 'fn twice(x) { return x + x }' > $@",
)

tkc_kernels(
    name = "other",
    src = "kernels.tk",
    imports = [":made"],
    includes = ["made"],
    options = ["-g"],
    tags = ["manual"],
    testonly = True,
    with_interp = True,
)

cc_binary(
    name = "libother.so",
    srcs = ["other.cpp"],
    linkshared = True,
    testonly = True,
    deps = [":other"],
)

cc_binary(
    name = "uses_other",
    srcs = ["uses.cpp", ":libother.so"],
    testonly = True,
)
"""


class Apps:
    def __init__(self, root, build, work):
        self.root, self.work = root, work
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        self.run(["cmake", "--install", build, "--prefix", work / "packed"])
        self.prefix = (work / "packed").rename(work / "prefix")
        self.apps = pathlib.Path(shutil.copytree(root / "examples" / "apps", work / "apps"))
        library = next(self.prefix.glob("lib*/**/pkgconfig"))
        self.libraries = library.parent
        self.environment = dict(os.environ, PATH="%s:%s" % (self.prefix / "bin", os.environ["PATH"]),
                                PKG_CONFIG_PATH=str(library), CMAKE_PREFIX_PATH=str(self.prefix))
        self.rpath = "-Wl,-rpath,%s" % self.libraries

    def run(self, command, cwd=None):
        done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=getattr(self, "environment", None))
        if done.returncode:
            sys.exit("status %d of %s\n%s" % (done.returncode, " ".join(map(str, command)), done.stdout))
        return done.stdout

    def expect(self, text, wanted):
        if wanted not in text:
            sys.exit("`%s` is not in\n%s" % (wanted, text))

    def ran(self, app):
        self.expect(self.run([app, "cpu"]), ": 0 of 100000 wrong")

    def object(self):
        self.run(["tkc", "kernels.tk", "--target=sm_80,sm_90a,cpu", "-o", "kernels.o"], self.apps)
        self.run(CC + ["-c", "memory.c", "-o", "memory.o"], self.apps)

    def configure(self, generator="Ninja"):
        build = self.work / "build"
        self.run(["cmake", "-S", self.apps / "cpp", "-B", build, "-G", generator, "-DCMAKE_CXX_FLAGS=" + WARNINGS])
        return build

    def cpp(self):
        build = self.configure()
        self.run(["cmake", "--build", build])
        self.ran(build / "app")

    def c(self):
        self.object()
        flags = self.run(["pkg-config", "--cflags", "--libs", "tkc-runtime"]).split()
        self.run(CC + ["-I.", "c/main.c", "memory.o", "kernels.o", "-ldl", self.rpath, "-o", "app"] + flags, self.apps)
        self.ran(self.apps / "app")

    def static(self):
        """The loader as an archive."""
        self.object()
        flags = self.run(["pkg-config", "--static", "--cflags", "--libs", "tkc-runtime"]).split()
        (self.libraries / "libtkcrt.so").unlink()
        self.run(CC + ["-I.", "c/main.c", "memory.o", "kernels.o", self.rpath, "-o", "app"] + flags, self.apps)
        self.ran(self.apps / "app")

    def rust(self):
        self.object()
        self.run(["rustc", "--edition=2021", "rust/main.rs", "-C", "link-args=kernels.o memory.o -ldl " + self.rpath, "-L",
                  self.libraries, "-l", "tkcrt", "-o", "app"], self.apps)
        self.ran(self.apps / "app")

    def python(self):
        self.run(["tkc", "kernels.tk", "--target=sm_80,sm_90a,cpu", "-o", "kernels.tkb"], self.apps)
        self.environment.update(PYTHONPATH=str(self.root / "runtime" / "python"), LD_LIBRARY_PATH=str(self.libraries))
        script = [sys.executable, self.apps / "python" / "main.py", self.apps / "kernels.tkb"]
        printed = self.run(script + ["cpu"])
        self.expect(printed, ": 0 of 100000 wrong")
        self.expect(printed, "softmax on cpu: off by")

    def meson(self):
        build = self.work / "build"
        shared = self.import_shared()
        self.run(["meson", "setup", build, self.apps / "meson"])
        self.run(["ninja", "-C", build])
        self.ran(build / "app")
        self.expect(self.run(["ninja", "-C", build]), "no work to do")
        shared.write_text("fn twice(x) { return 2.0 * x }\n")
        self.expect(self.run(["ninja", "-C", build]), "kernels.tkb")
        self.ran(build / "app")

    def bazel(self):
        """In its sandbox, without a network: rules_cc is Bazel's own rules under that name."""
        shared = self.import_shared()
        shutil.copy(self.apps / "cpp" / "main.cpp", self.apps)
        rules = self.work / "rules_cc"
        (rules / "cc").mkdir(parents=True)
        (rules / "WORKSPACE").touch()
        (rules / "cc" / "BUILD").touch()
        names = "binary library test import toolchain toolchain_suite".split()
        (rules / "cc" / "defs.bzl").write_text("".join("cc_%s = native.cc_%s\n" % (name, name) for name in names))
        places = {"tkc": self.prefix / "share" / "tkc" / "bazel", "rules_cc": rules,
                  "rules_java": DEBIAN_RULES + "/java", "rules_proto": DEBIAN_RULES + "/proto"}
        (self.apps / "WORKSPACE").write_text(
            "".join('local_repository(name = "%s", path = "%s")\n' % place for place in places.items()))
        (self.apps / "other.cpp").write_text(
            '#include "kernels.h"\nunsigned long bytes() { return kernels::bundle().size; }\n')
        (self.apps / "uses.cpp").write_text("unsigned long bytes();\nint main() { return bytes() ? 0 : 1; }\n")
        build = self.apps / "BUILD"
        build.write_text(BAZEL_BUILD)
        with tempfile.TemporaryDirectory() as root:
            self.environment.update(LD_LIBRARY_PATH=str(self.libraries), HOME=root)
            bazel = ["bazel", "--output_user_root=" + root]
            build_options = bazel + ["build", "--cxxopt=-std=c++17"]
            try:
                self.run(build_options + ["//..."], self.apps)
                self.ran(self.apps / "bazel-bin" / "app")
                self.run([self.apps / "bazel-bin" / "uses_other"])
                self.expect(self.run(build_options + ["//..."], self.apps), "1 process: 1 internal")
                shared.write_text("fn twice(x) { return 2.0 * x }\n")
                self.expect(self.run(build_options + ["//:app"], self.apps), "linux-sandbox")
                self.ran(self.apps / "bazel-bin" / "app")
                build.write_text(BAZEL_BUILD.replace('["shared.tk"]', "[]"))
                failed = subprocess.run(build_options + ["//:app"], cwd=self.apps, text=True, capture_output=True,
                                        env=self.environment)
                self.expect(failed.stderr, "shared.tk")
            finally:
                self.run(bazel + ["clean", "--expunge"], self.apps)

    def library(self):
        """Kernels of a library that a program in another folder links; a prefix for the symbols."""
        top = self.work / "top"
        for folder in ("lib", "app"):
            (top / folder).mkdir(parents=True)
        shutil.copy(self.apps / "kernels.tk", top / "lib" / "my.kernels.tk")
        (top / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(top LANGUAGES C CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
            "find_package(tkc REQUIRED)\nadd_subdirectory(lib)\nadd_subdirectory(app)\n")
        (top / "lib" / "CMakeLists.txt").write_text(
            "add_library(kernels STATIC)\n"
            "tkc_add_kernels(kernels SOURCES my.kernels.tk WITH_INTERP EMBED OPTIONS --symbol-prefix=own_)\n"
            "set_target_properties(kernels PROPERTIES LINKER_LANGUAGE CXX)\n")
        (top / "app" / "CMakeLists.txt").write_text(
            "add_executable(app main.cpp)\ntarget_link_libraries(app PRIVATE kernels)\n")
        (top / "app" / "main.cpp").write_text(
            '#include "my.kernels.h"\nint main() { return own_my_kernels == my_kernels::bundle().data ? 0 : 1; }\n')
        build = self.work / "build"
        self.run(["cmake", "-S", top, "-B", build])  # by make
        self.run(["cmake", "--build", build])
        self.run([build / "app" / "app"])
        with (top / "app" / "CMakeLists.txt").open("a") as file:
            file.write("tkc_add_kernels(kernels SOURCES ../lib/my.kernels.tk TARGETS sm_90a)\n")
        failed = subprocess.run(["cmake", "-S", top, "-B", build], text=True, capture_output=True, env=self.environment)
        self.expect(failed.stderr, "is of another folder")

    def import_shared(self):
        """Another file that kernels.tk imports, to be edited."""
        kernels = self.apps / "kernels.tk"
        shared = self.apps / "shared.tk"
        shared.write_text("fn twice(x) { return x + x }\n")
        kernels.write_text("import \"shared.tk\"\n" + kernels.read_text().replace("a * x[i", "shared.twice(a * 0.5) * x[i"))
        return shared

    def incremental(self):
        """What is built again after an edit."""
        kernels = self.apps / "kernels.tk"
        shared = self.import_shared()
        build = self.configure()
        self.run(["cmake", "--build", build])
        self.ran(build / "app")
        self.expect(self.run(["cmake", "--build", build]), "no work to do")

        linked = (build / "app").stat().st_mtime_ns
        kernels.write_text(kernels.read_text().replace("# y = a * x + y", "#   y  is  a * x + y") + "# the end\n")
        self.expect(self.run(["cmake", "--build", build]), "tkc ")
        if (build / "app").stat().st_mtime_ns != linked:
            sys.exit("a comment linked the program again")
        self.expect(self.run(["cmake", "--build", build]), "no work to do")

        shared.write_text("fn twice(x) { return 2.0 * x }\n")
        self.expect(self.run(["cmake", "--build", build]), "Linking")
        self.ran(build / "app")

    def makefiles(self):
        """make builds once what an edit of a comment leaves as it is."""
        kernels = self.apps / "kernels.tk"
        build = self.configure("Unix Makefiles")
        self.run(["cmake", "--build", build])
        kernels.write_text(kernels.read_text() + "# the end\n")
        self.expect(self.run(["cmake", "--build", build]), "tkc ")
        again = self.run(["cmake", "--build", build])
        if "tkc " in again or "Linking" in again:
            sys.exit("without an edit this was built again:\n" + again)
        self.ran(build / "app")

    def several(self):
        """One list of values and one table for two files."""
        top = self.work / "top"
        top.mkdir()
        kernel = "kernel %s[%s: int](out y: f32[N]) @grid(cdiv(N, %s))%s { y[program_id(0) * %s +: %s] = zeros[f32](%s) }\n"
        (top / "a.tk").write_text(kernel % ("a", "A", "A", " @tune(key=[N], configs=[{A: [16, 32]}])", "A", "A", "A"))
        (top / "b.tk").write_text(kernel % ("b", "B", "B", "", "B", "B", "B"))
        (top / "table.json").write_text('[{"kernel": "a", "arch": "sm_80", "sms": 1, "key": [1], "config_id": "A32.w4"}]')
        (top / "main.cpp").write_text("int main() { return 0; }\n")
        (top / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(top LANGUAGES CXX)\nfind_package(tkc REQUIRED)\n"
            "add_executable(app main.cpp)\n"
            "tkc_add_kernels(app SOURCES a.tk b.tk FALLBACK compute_80 TUNED table.json DEFINES B=64)\n")
        build = self.work / "build"
        self.run(["cmake", "-S", top, "-B", build, "-G", "Ninja"])
        built = self.run(["cmake", "--build", build])
        self.expect(built, "TK2045: -D B")  # of a.tk
        if "TK3056" in built or "TK3058" in built:
            sys.exit("the table of a.tk is no matter of b.tk:\n" + built)
        sizes = self.run(["tkc", "size", build / "app.tkc" / "a.tkb"])
        self.expect(sizes, "A16.w4")
        self.expect(sizes, "A32.w4")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case")
    for name in ("root", "build", "work"):
        parser.add_argument("--" + name, type=lambda text: pathlib.Path(text).resolve(), required=True)
    options = parser.parse_args()
    getattr(Apps(options.root, options.build, options.work), options.case)()
    print(options.case + ": good")


main()
