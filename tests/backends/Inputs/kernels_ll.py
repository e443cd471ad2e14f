"""LLVM IR of four large kernels, each with one line: kernels_ll.py LINE, in which # is the kernel's number."""

import sys

print('target triple = "nvptx64-nvidia-cuda"')

for kernel in range(4):
    chain = "\n".join(f"  %a{i} = {'mul' if i % 2 else 'xor'} i32 {f'%a{i - 1}' if i else '%x'}, {i + 3}"
                      for i in range(600))
    line = sys.argv[1].replace("#", str(kernel)).replace("\\n", "\n")
    print(f"define ptx_kernel void @k{kernel}(ptr addrspace(1) %p, i32 %x) {{\n  {line}\n{chain}\n"
          "  store i32 %a599, ptr addrspace(1) %p\n  ret void\n}")
