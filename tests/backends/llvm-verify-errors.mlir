// RUN: not tkc %s --emit=llvm --target=sm_90a 2>&1 | FileCheck %s
// RUN: not tkc %s --emit=ptx --target=sm_90a -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx
// A module that would be cut into kernels as well.
// RUN: awk '/^ *\/\/ MORE/ { for (i = 0; i < 900; ++i) print "llvm.inline_asm has_side_effects \"nop;\", \"\" : () -> ()" } { print }' %s > %t.mlir
// RUN: not tkc %t.mlir --emit=ptx --target=sm_90a -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx

// What LLVM's verifier refuses is an error at the kernel, whether LLVM IR is written or taken further.
// CHECK: mlir:[[#]]:3: error: TK9006: translation to LLVM IR failed: immarg operand has non-immediate parameter
module attributes {tk.phase = "Machine", tk.target = "sm_90a"} {
  llvm.func @first(%n: i32) attributes {nvvm.kernel} {
    // MORE
    llvm.return
  }
  llvm.func @second(%n: i32) attributes {nvvm.kernel} {
    // MORE
    llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%n) : (i32) -> ()
    llvm.return
  }
}
