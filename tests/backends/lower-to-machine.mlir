// RUN: tk-opt %s --tk-lower-to-machine=target=sm_90a --tk-verify-phase | FileCheck %s

// As the head of LowerToMachine.cpp has it:
//   tk.kernel @k(%n: i64) attributes {contract = ...} { tk.return }
// becomes
//   llvm.func @k() attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} { llvm.return }

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
#pointer = #tk.contract<{kernel = "p", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#A = #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]]">

module attributes {tk.phase = "Ordered"} {
// The phase is Machine, and the host's description goes along.
// CHECK: module attributes {tk.description = "{{.*}}\22kernel\22:\22k\22{{.*}}", tk.phase = "Machine"}

// Shared memory is one array for all kernels, 16-byte aligned.
// CHECK: llvm.mlir.global external @tkc_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// A parameter that is not used is none of the function's.
// CHECK-LABEL: llvm.func @k()
// CHECK-SAME:    nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK:         llvm.return
// CHECK-NOT:   tk.kernel
tk.kernel @k(%n: i64) attributes {contract = #contract, shared_bytes = 0 : i64} {
  tk.return
}

// Two registers of a thread: one variable address, the second an immediate away.
// CHECK-LABEL: llvm.func @two_registers(
// CHECK-SAME:    %[[X:.*]]: !llvm.ptr<1>
// CHECK:         %[[LANE:.*]] = llvm.sext %{{.*}} : i32 to i64
// CHECK:         %[[BYTES:.*]] = llvm.mul %[[LANE]], %{{.*}} : i64
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr %[[X]][%[[BYTES]]]
// CHECK:         llvm.load %[[FIRST]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK:         %[[SECOND:.*]] = llvm.getelementptr %[[FIRST]][%{{.*}}]
// CHECK:         llvm.load %[[SECOND]]
tk.kernel @two_registers(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, shared_bytes = 0 : i64} {
  %l = tk.arange 0 : tensor<64xi32, #A>
  %v = tkg.load %x[%l] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tk.return
}

// What a barrier hands on must not look private to LLVM, which takes it for a call that cannot change
// `noalias` memory.
// CHECK-LABEL: llvm.func @memory_that_threads_share(
// CHECK-NOT:     llvm.noalias
// CHECK:         nvvm.barrier
tk.kernel @memory_that_threads_share(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, shared_bytes = 256 : i64} {
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  %l = tk.arange 0 : tensor<64xi32, #A>
  %v = tkg.load %x[%l] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tkg.barrier
  tkg.store %v, %x[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  tk.return
}
}
