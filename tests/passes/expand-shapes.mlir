// RUN: tk-opt %s --tk-expand-shapes | FileCheck %s

// As the head of ExpandShapes.cpp has it:
//   %t = tk.permute %m [1, 0] : tensor<4x8xf32, #A> -> tensor<8x4xf32, #B>
// becomes, where #B is not #A transposed,
//   %s = tk.permute %m [1, 0] : tensor<4x8xf32, #A> -> tensor<8x4xf32, #A transposed>
//   %t = tkg.convert %s how "shuffle" : tensor<8x4xf32, #A transposed> -> tensor<8x4xf32, #B>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#rows = #tkg.layout<"register=[], lane=[[0,1],[0,2],[0,4],[1,0],[2,0]], warp=[[0,0]]">
#columns = #tkg.layout<"register=[], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,0]]">
#transposed = #tkg.layout<"register=[], lane=[[1,0],[2,0],[4,0],[0,1],[0,2]], warp=[[0,0]]">
#line = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">
#pair = #tkg.layout<"register=[[0,1]], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[[0,0]]">

// CHECK-LABEL: tk.kernel @moves(
tk.kernel @moves(%n: i64) attributes {contract = #contract} {
  %m = arith.constant dense<1.0> : tensor<4x8xf32, #rows>
  // CHECK: %[[S:.*]] = tk.permute %[[M:.*]] [1, 0] : {{.*}} -> tensor<8x4xf32, #tkg.layout<"register=[], lane={{\[\[}}1,0],
  // CHECK: tkg.convert %[[S]] how "shuffle" {{.*}} -> tensor<8x4xf32, #tkg.layout<"register=[], lane={{\[\[}}0,1],
  // CHECK: %[[B:.*]] = tkg.alloc : <4x8xf32>
  // CHECK: tkg.buf_store %[[M]], %[[B]]
  %t = tk.permute %m [1, 0] : tensor<4x8xf32, #rows> -> tensor<8x4xf32, #columns>
  // Backwards: the last element first, a negative step.
  // CHECK: tkg.buf_view %{{.*}} offset 7 : <4x8xf32> -> <4x8xf32, strides = 8, -1>
  %f = tk.flip %m axis 1 : tensor<4x8xf32, #rows>
  // CHECK: tkg.buf_view %{{.*}} offset 9 : <4x8xf32> -> <2x3xf32, strides = 16, 2>
  %s = tk.slice %m offsets [1, 1] strides [2, 2] : tensor<4x8xf32, #rows>
      -> tensor<2x3xf32, #tkg.layout<"register=[], lane=[[0,1],[0,2],[1,0],[0,0],[0,0]], warp=[[0,0]], shape=[2,3]">>
  // Both parts go into one buffer.
  // CHECK: %[[C:.*]] = tkg.alloc : <8x8xf32>
  // CHECK: tkg.buf_view %[[C]] offset 0
  // CHECK: tkg.buf_view %[[C]] offset 32
  // CHECK: tkg.buf_load %[[C]]
  %c = tk.cat %m, %m axis 0 : tensor<4x8xf32, #rows>, tensor<4x8xf32, #rows>
      -> tensor<8x8xf32, #tkg.layout<"register=[[0,1]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,0]]">>
  // An index outside reads index 0, and gives zero.
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[N:.*]], %{{.*}} : i64
  // CHECK: arith.select %[[IN]], %[[N]]
  // CHECK: tkg.buf_view %{{.*}}[%{{.*}}] offset 0 : <4x8xf32> -> <8xf32>
  // CHECK: arith.select %[[IN]]
  %p = tk.pick %m[%n] axis 0 : tensor<4x8xf32, #rows>
      -> tensor<8xf32, #tkg.layout<"register=[], lane=[[1],[2],[4],[0],[0]], warp=[[0]]">>
  // One row more takes what is put outside.
  // CHECK: tkg.alloc : <5x8xf32>
  %q = tk.put %p, %m[%n] axis 0 : tensor<8xf32, #tkg.layout<"register=[], lane=[[1],[2],[4],[0],[0]], warp=[[0]]">>, tensor<4x8xf32, #rows>
  // CHECK: tk.return
  tk.return
}

// Each thread has what it needs.
// CHECK-LABEL: tk.kernel @stay(
// CHECK-NOT: tkg.alloc
tk.kernel @stay(%n: i64) attributes {contract = #contract} {
  %m = arith.constant dense<1.0> : tensor<4x8xf32, #rows>
  %t = tk.permute %m [1, 0] : tensor<4x8xf32, #rows> -> tensor<8x4xf32, #transposed>
  %r = tk.reshape %m : tensor<4x8xf32, #rows> -> tensor<32xf32, #line>
  %e = tk.expand_dims %r, 1 : tensor<32xf32, #line>
      -> tensor<32x1xf32, #tkg.layout<"register=[], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[[0,0]]">>
  %j = tk.cat %e, %e axis 1 : tensor<32x1xf32, #tkg.layout<"register=[], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[[0,0]]">>,
      tensor<32x1xf32, #tkg.layout<"register=[], lane=[[1,0],[2,0],[4,0],[8,0],[16,0]], warp=[[0,0]]">> -> tensor<32x2xf32, #pair>
  tk.return
}

// Element 0 is in any of 16 registers of the first part, element 4 in the one register of the second: no one register
// leads to both, and the second part has no register 15.
// CHECK-LABEL: tk.kernel @uneven(
// CHECK: tkg.buf_load
tk.kernel @uneven(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<4xf32, #tkg.layout<"register=[[0],[0],[0],[0]], lane=[[1],[2],[0],[0],[0]], warp=[[0]]">>
  %b = arith.constant dense<2.0> : tensor<4xf32, #tkg.layout<"register=[], lane=[[1],[2],[0],[0],[0]], warp=[[0]]">>
  %c = tk.cat %a, %b axis 0 : tensor<4xf32, #tkg.layout<"register=[[0],[0],[0],[0]], lane=[[1],[2],[0],[0],[0]], warp=[[0]]">>,
      tensor<4xf32, #tkg.layout<"register=[], lane=[[1],[2],[0],[0],[0]], warp=[[0]]">>
      -> tensor<8xf32, #tkg.layout<"register=[], lane=[[4],[1],[2],[0],[0]], warp=[[0]]">>
  tk.return
}
