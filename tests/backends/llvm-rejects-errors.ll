; RUN: not tkc %s --emit=ptx --target=sm_90a -o - 2>&1 | FileCheck %s

; What LLVM's code generator refuses is an error with its words, and no output.
; CHECK: error: TK3043: LLVM does not accept the code: {{.*}}constraint
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @k() {
  %a = call i32 asm sideeffect "mov.b32 $0, 1;", "={nosuch}"()
  ret void
}
