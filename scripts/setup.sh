# setup.sh - what quickstart and test share: packages, CUDA's assembler, configuring.
#
# Sourced, not run. Everything is taken from Debian 12's own archive (LLVM 22 is in its security
# suite, which a plain installation has); ptxas and libdevice come from an installed CUDA 13 toolkit
# or from NVIDIA's packages on PyPI. Nothing is installed that is there already.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
cuda=auto
jobs=$(nproc)

packages=(
  clang-22 lld-22 llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools libclang-rt-22-dev
  g++ cmake ninja-build ccache
  libcli11-dev nlohmann-json3-dev catch2 zlib1g-dev libzstd-dev pkgconf libncurses-dev
  python3 python3-numpy python3-jsonschema
)

fail() {
  echo "error: $*" >&2
  exit 1
}

usage() {
  cat <<END
Usage: scripts/$(basename "$0") [--cuda=auto|installed|pypi|none] [--build-dir=DIR] [-j N]
  --cuda        where ptxas and libdevice come from: an installed CUDA 13 toolkit, PyPI, nowhere
                (kernels then compile to PTX only); auto, the default, tries them in this order
  --no-cuda     the same as --cuda=none
  --build-dir   folder of the build (default: build/release)
  -j            compile jobs (default: all processors)
END
}

parse_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --cuda=auto | --cuda=installed | --cuda=pypi | --cuda=none) cuda=${1#--cuda=} ;;
      --no-cuda) cuda=none ;;
      --build-dir=?*) build=$(realpath -m "${1#--build-dir=}") ;;
      -j) shift && jobs=${1:?-j needs a number} ;;
      -j?*) jobs=${1#-j} ;;
      -h | --help) usage && exit 0 ;;
      *) usage >&2 && exit 2 ;;
    esac
    shift
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "neither root nor sudo: install these packages first: ${missing[*]}"
  fi
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of the packages named that are missing.
install_packages() {
  command -v dpkg-query >/dev/null || fail "this script installs packages of Debian 12: no dpkg here"
  missing=()
  local package unknown=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "-- installing: ${missing[*]}"
  as_root apt-get update -qq
  for package in "${missing[@]}"; do
    apt-cache show "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  [ ${#unknown[@]} -eq 0 ] ||
    fail "not in the archives of this machine: ${unknown[*]} (LLVM 22 is in bookworm-security)"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# True when a ptxas runs and is of CUDA 13. No pipe into grep -q: that leaves early, and the writer's
# broken pipe would count as a failure.
is_cuda13() {
  local version
  version=$("$1" --version) && [[ $version == *'release 13.'* ]]
}

# Sets ptxas and libdevice to those of an installed toolkit of CUDA 13; fails when there is none.
find_installed_cuda() {
  local nvcc folder
  nvcc=$(command -v nvcc || true)
  for folder in ${nvcc:+"$(dirname "$(readlink -f "$nvcc")")"} /usr/local/cuda/bin /usr/local/cuda-13*/bin; do
    ptxas=$folder/ptxas
    libdevice=$folder/../nvvm/libdevice/libdevice.10.bc
    if [ -x "$ptxas" ] && [ -f "$libdevice" ] && is_cuda13 "$ptxas"; then
      ptxas=$(readlink -f "$ptxas")
      libdevice=$(readlink -f "$libdevice")
      return 0
    fi
  done
  return 1
}

# Takes both from NVIDIA's packages on PyPI into build/cuda.
fetch_cuda() {
  local folder=$root/build/cuda
  ptxas=$folder/bin/ptxas
  libdevice=$folder/nvvm/libdevice/libdevice.10.bc
  [ -x "$ptxas" ] && [ -f "$libdevice" ] && return 0
  install_packages python3-pip
  echo "-- taking ptxas and libdevice 13.0 from PyPI"
  rm -rf "$folder" && mkdir -p "$folder/wheels"
  /usr/bin/python3 -m pip download --quiet --disable-pip-version-check --no-deps \
    --only-binary=:all: --dest "$folder/wheels" 'nvidia-cuda-nvcc==13.0.*' 'nvidia-nvvm==13.0.*'
  /usr/bin/python3 - "$folder" <<'END'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
wanted = {"bin/ptxas": 0o755, "nvvm/libdevice/libdevice.10.bc": 0o644}
for wheel in sorted((folder / "wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            for end, mode in wanted.items():
                if name.endswith("/" + end):
                    target = folder / end
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
                    target.chmod(mode)
END
  rm -rf "$folder/wheels"
  [ -x "$ptxas" ] && [ -f "$libdevice" ] || fail "PyPI's packages have no ptxas or no libdevice"
  is_cuda13 "$ptxas" || fail "$ptxas does not run here"
}

choose_cuda() {
  ptxas='' libdevice=''
  case $cuda in
    none) ;;
    pypi) fetch_cuda ;;
    installed) find_installed_cuda || fail "no CUDA 13 toolkit is installed" ;;
    auto) find_installed_cuda || fetch_cuda ;;
  esac
  echo "-- assembler: ${ptxas:-none}"
}

# Installs what is missing and configures the release preset.
prepare() {
  install_packages "${packages[@]}"
  choose_cuda
  local tools=(-DTKC_PTXAS="$ptxas" -DTKC_LIBDEVICE="$libdevice")
  # An empty result keeps CMake from looking for an installed toolkit.
  [ "$cuda" != none ] || tools+=(-DTKC_PTXAS_FOUND= -DTKC_LIBDEVICE_FOUND=)
  (cd "$root" && cmake --preset release -B "$build" "${tools[@]}" >"$root/build/configure.log" 2>&1) ||
    { cat "$root/build/configure.log" >&2 && fail "configuring failed"; }
}
