// RUN: not tkc %s --emit=llvm --target=sm_90a 2>&1 | FileCheck %s

// What MLIR's translation refuses ends as an internal error, not as a crash.
// CHECK: error: could not find LLVM intrinsic: "llvm.no.such.thing"
// CHECK: error: TK9006: translation to LLVM IR failed
module attributes {tk.phase = "Machine", tk.target = "sm_90a"} {
  llvm.func @k() attributes {nvvm.kernel} {
    %0 = llvm.call_intrinsic "llvm.no.such.thing"() : () -> i32
    llvm.return
  }
}
