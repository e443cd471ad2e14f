// RUN: not tkc %s --emit=llvm --target=sm_90a 2>&1 | FileCheck %s
// RUN: not tkc %s --emit=ptx --target=sm_90a -o %t.ptx 2>&1 | FileCheck %s
// RUN: not ls %t.ptx

// What LLVM's verifier refuses is an error, whether LLVM IR is written or taken further.
// CHECK: error: TK9006: translation to LLVM IR failed: immarg operand has non-immediate parameter
module attributes {tk.phase = "Machine", tk.target = "sm_90a"} {
  llvm.func @k(%n: i32) attributes {nvvm.kernel} {
    llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%n) : (i32) -> ()
    llvm.return
  }
}
