#!/bin/sh
# Stands in for ptxas: the name it is called by says how it behaves.
for last; do :; done
case "$1" in --version) echo "Cuda compilation tools, release ${FAKE_RELEASE:-11.4}, V11.4.100"; exit 0;; esac
while [ $# -gt 0 ]; do case "$1" in -o) out=$2;; esac; shift; done
case "$0" in
  *old) echo "ptxas in.ptx, line 1; fatal   : Unsupported .version 8.1; current version is '7.4'"; exit 255;;
  *silent) exit 1;;
  *notarget) echo "ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'"; exit 255;;
  *error) echo "ptxas in.ptx, line 7; error   : Not a name of any known instruction: 'addd'"
          echo "ptxas in.ptx, line 9; error   : Unknown symbol 'x'"
          echo "ptxas fatal   : Ptx assembly aborted due to errors"; exit 255;;
  *empty) exit 0;;
  *killed) kill -9 $$;;
esac
printf 'cubin' > "$out"
echo "ptxas info    : Compiling entry function 'vector_add__f32_BLOCK1024' for 'sm_90a'"
echo "ptxas info    : Function properties for vector_add__f32_BLOCK1024"
echo "    48 bytes stack frame, 44 bytes spill stores, 40 bytes spill loads"
echo "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]"
echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized in the function 'vector_add__f32_BLOCK1024'"
