// RUN: tk-opt %s --tk-expand-dots | FileCheck %s

// As the head of ExpandDots.cpp has it:
//   %d = tk.dot %a, %b, %c {tkg.tiling = {kind = "f16", ...}}
// becomes
//   %x = tkg.alloc : !tkg.buf<64x32xf16, strides = 40, 1>
//   tkg.buf_store %a, %x
//   %y = tkg.alloc : !tkg.buf<32x64xf16, strides = 72, 1>
//   tkg.buf_store %b, %y
//   %d = tkg.mma %x, %y, %c {tkg.tiling = {kind = "f16", ...}}

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#full_a = #tkg.layout<"register=[[0,1],[0,2],[0,4],[16,0],[32,0]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]]">
#full_b = #tkg.layout<"register=[[0,1],[0,2],[0,4],[8,0],[16,0]], lane=[[0,8],[0,16],[0,32],[1,0],[2,0]], warp=[[4,0]]">
#acc = #tkg.layout<"register=[[0,1],[8,0],[0,8],[0,16],[0,32],[32,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0]]">
#left = #tkg.layout<"register=[[0,1],[8,0],[0,8],[32,0],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0]]">
#tiling = {kind = "f16", m = 64 : i32, n = 64 : i32, k = 32 : i32, warps_m = 2 : i32, warps_n = 1 : i32}

// CHECK-LABEL: tk.kernel @through_memory(
// CHECK: %[[X:.*]] = tkg.alloc : <64x32xf16, strides = 40, 1>
// CHECK: tkg.buf_store %{{.*}}, %[[X]]
// CHECK: %[[Y:.*]] = tkg.alloc : <32x64xf16, strides = 72, 1>
// CHECK: tkg.buf_store %{{.*}}, %[[Y]]
// CHECK: tkg.mma %[[X]], %[[Y]], %{{.*}} input "exact" promote 128 {tkg.tiling = {{{.*}}kind = "f16"
tk.kernel @through_memory(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x32xf16, #full_a>
  %b = arith.constant dense<1.0> : tensor<32x64xf16, #full_b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tk.dot %a, %b, %c {tkg.tiling = #tiling} : tensor<64x32xf16, #full_a>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
  tk.return
}

// The threads hold the fragments of the left operand: only the right one goes through memory, and
// outside of the loop, which does not change it.
// CHECK-LABEL: tk.kernel @held(
// CHECK: %[[Y:.*]] = tkg.alloc : <32x64xf16, strides = 72, 1>
// CHECK: tkg.buf_store %{{.*}}, %[[Y]]
// CHECK: scf.for
// CHECK-NOT: tkg.alloc
// CHECK: tkg.mma %{{.*}}, %[[Y]], %{{.*}} : tensor<64x32xf16,
tk.kernel @held(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x32xf16, #left>
  %b = arith.constant dense<1.0> : tensor<32x64xf16, #full_b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x64xf32, #acc>) : i64 {
    %d = tk.dot %a, %b, %s {tkg.tiling = #tiling} : tensor<64x32xf16, #left>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tk.return
}

// A transposed operand is a view of the buffer of what was transposed, which the other operand has too; without
// an instruction for it the product is made of multiply-adds.
// CHECK-LABEL: tk.kernel @transposed(
// CHECK: %[[B:.*]] = tkg.alloc : <64x32xf16, strides = 40, 1>
// CHECK-NOT: tkg.alloc
// CHECK: %[[V:.*]] = tkg.buf_view %[[B]] offset 0 : <64x32xf16, strides = 40, 1> -> <32x64xf16, strides = 1, 40>
// CHECK-NOT: tk.permute
// CHECK: tkg.dot %[[B]], %[[V]], %{{.*}} input "exact"
tk.kernel @transposed(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x32xf16, #full_a>
  %t = tk.permute %a [1, 0] : tensor<64x32xf16, #full_a> -> tensor<32x64xf16, #full_b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tk.dot %a, %t, %c : tensor<64x32xf16, #full_a>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
  tk.return
}

// A tile that two loops multiply by, transposed there, is written once, before the first.
// CHECK-LABEL: tk.kernel @shared_by_loops(
// CHECK: %[[B:.*]] = tkg.alloc : <64x32xf16, strides = 40, 1>
// CHECK: tkg.buf_store %{{.*}}, %[[B]]
// CHECK: scf.for
// CHECK-NOT: tkg.alloc
// CHECK: tkg.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x32xf16,
// CHECK: scf.for
// CHECK-NOT: tkg.alloc
// CHECK: %[[V:.*]] = tkg.buf_view %[[B]]
// CHECK: tkg.mma %{{.*}}, %[[V]], %{{.*}} : tensor<64x32xf16,
tk.kernel @shared_by_loops(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x32xf16, #left>
  %b = arith.constant dense<2.0> : tensor<64x32xf16, #full_a>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c) -> (tensor<64x64xf32, #acc>) : i64 {
    %t = tk.permute %b [1, 0] : tensor<64x32xf16, #full_a> -> tensor<32x64xf16, #full_b>
    %d = tk.dot %a, %t, %s {tkg.tiling = #tiling} : tensor<64x32xf16, #left>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%s = %r) -> (tensor<64x64xf32, #acc>) : i64 {
    %t = tk.permute %b [1, 0] : tensor<64x32xf16, #full_a> -> tensor<32x64xf16, #full_b>
    %d = tk.dot %a, %t, %s {tkg.tiling = #tiling} : tensor<64x32xf16, #left>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tk.return
}

// Where only one branch has written the tile, the other writes it too.
// CHECK-LABEL: tk.kernel @branches(
// CHECK: scf.if
// CHECK: tkg.buf_store
// CHECK: else
// CHECK: tkg.buf_store
tk.kernel @branches(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x32xf16, #left>
  %b = arith.constant dense<1.0> : tensor<32x64xf16, #full_b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %c1 = arith.constant 1 : i64
  %one = arith.cmpi eq, %n, %c1 : i64
  %r = scf.if %one -> (tensor<64x64xf32, #acc>) {
    %d = tk.dot %a, %b, %c {tkg.tiling = #tiling} : tensor<64x32xf16, #left>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  } else {
    %d = tk.dot %a, %b, %c {tkg.tiling = #tiling} : tensor<64x32xf16, #left>, tensor<32x64xf16, #full_b>, tensor<64x64xf32, #acc>
    scf.yield %d : tensor<64x64xf32, #acc>
  }
  tk.return
}

#ragged_a = #tkg.layout<"register=[[0,1],[0,2],[0,4],[16,0],[32,0],[0,32]], lane=[[0,8],[0,16],[1,0],[2,0],[4,0]], warp=[[8,0]], shape=[64,40]">
#ragged_b = #tkg.layout<"register=[[0,1],[0,2],[0,4],[8,0],[16,0],[32,0]], lane=[[0,8],[0,16],[0,32],[1,0],[2,0]], warp=[[4,0]], shape=[40,64]">
#ragged = {kind = "f16", m = 64 : i32, n = 64 : i32, k = 40 : i32, warps_m = 2 : i32, warps_n = 1 : i32}

// A depth of 40 is 32 and 16, of which the last 8 are zeros: the buffers have room for them.
// CHECK-LABEL: tk.kernel @depth_in_parts(
// CHECK: %[[A:.*]] = tkg.alloc : <64x48xf16, strides = 56, 1>
// CHECK: tkg.buf_store %{{.*}}, %{{.*}} : tensor<64x40xf16
// CHECK: %[[PAD:.*]] = tkg.buf_view %[[A]] offset 40 : <64x48xf16, strides = 56, 1> -> <64x8xf16, strides = 56, 1>
// CHECK: tkg.buf_store %{{.*}}, %[[PAD]]
// CHECK: %[[B:.*]] = tkg.alloc : <48x64xf16, strides = 72, 1>
// CHECK: %[[A0:.*]] = tkg.buf_view %[[A]] offset 0
// CHECK: %[[B0:.*]] = tkg.buf_view %[[B]] offset 0
// CHECK: %[[FIRST:.*]] = tkg.mma %[[A0]], %[[B0]], %{{.*}}k = 32 : i32
// CHECK: %[[A1:.*]] = tkg.buf_view %[[A]] offset 32 : {{.*}} -> <64x16xf16, strides = 56, 1>
// CHECK: %[[B1:.*]] = tkg.buf_view %[[B]] offset 2304 : {{.*}} -> <16x64xf16, strides = 72, 1>
// CHECK: tkg.mma %[[A1]], %[[B1]], %[[FIRST]] {{.*}}k = 16 : i32
tk.kernel @depth_in_parts(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64x40xf16, #ragged_a>
  %b = arith.constant dense<1.0> : tensor<40x64xf16, #ragged_b>
  %c = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  %d = tk.dot %a, %b, %c {tkg.tiling = #ragged} : tensor<64x40xf16, #ragged_a>, tensor<40x64xf16, #ragged_b>, tensor<64x64xf32, #acc>
  tk.return
}
