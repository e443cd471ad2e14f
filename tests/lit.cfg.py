"""How lit runs the tests: what counts as a test, where the tools are, what a test may require.

Features a test may name in REQUIRES, UNSUPPORTED or %if:
  ptxas      an assembler is configured
  nvdisasm   and a disassembler stands beside it
  libdevice  NVIDIA's device library is configured
  gpu        a GPU is there and the run asks for it: lit --param gpu=1
  cpu-device libtkccpu is built
  asan       the tools are built with sanitizers
  rustc, meson, abidiff   that program is on the PATH of the tests
  bazel      so is Debian's, with the rules that it would download
"""

import os
import shutil

import lit.formats

config.name = "tkc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".tk", ".mlir", ".test", ".ll"]
config.excludes = ["unit", "tools", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tkc_binary_root, "tests")

# Tools are found by name on a PATH of our own: nothing else of the machine is seen.
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.tkc_binary_root, "bin"), config.llvm_tools, "/usr/bin", "/bin"]
)
for tool in ("rustc", "meson", "abidiff"):
    if shutil.which(tool, path=config.environment["PATH"]):
        config.available_features.add(tool)
if shutil.which("bazel", path=config.environment["PATH"]) and os.path.isdir("/usr/share/bazel/rules/java"):
    config.available_features.add("bazel")
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=annotation-full"

config.substitutions.append(("%python", config.python))
config.substitutions.append(("%examples", os.path.join(config.tkc_source_root, "examples")))
config.substitutions.append(("%root", config.tkc_source_root))
config.substitutions.append(("%build", config.tkc_binary_root))
config.substitutions.append(("%ptxas", config.ptxas))
config.substitutions.append(("%libdevice", config.libdevice))

if config.ptxas:
    config.available_features.add("ptxas")
    if os.path.exists(os.path.join(os.path.dirname(config.ptxas), "nvdisasm")):
        config.available_features.add("nvdisasm")
if config.libdevice:
    config.available_features.add("libdevice")
if lit_config.params.get("gpu", "0") != "0":
    config.available_features.add("gpu")
if config.cpu_device in ("ON", "1", "TRUE"):
    config.available_features.add("cpu-device")
if config.sanitizers:
    config.available_features.add("asan")
