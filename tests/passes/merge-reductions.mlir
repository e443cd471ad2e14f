// RUN: tk-opt %s --tk-merge-reductions | FileCheck %s

// As the head of MergeReductions.cpp has it:
//   %s = tk.reduce %x axis 0 order any {...}
//   %y = arith.mulf %x, %x
//   %t = tk.reduce %y axis 0 order any {...}
// becomes
//   %y = arith.mulf %x, %x
//   %s, %t = tk.reduce %x, %y axis 0 order any {...}

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "scalar", dtype = "f32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>

// CHECK-LABEL: tk.kernel @independent(
// CHECK:       %[[X:.*]] = tk.splat
// CHECK-NEXT:  %[[Y:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:  %[[R:.*]]:2 = tk.reduce %[[X]], %[[Y]] axis 0 order any
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32, %[[D:.*]]: f32):
// CHECK-NEXT:    %[[E:.*]] = arith.addf %[[A]], %[[C]]
// CHECK-NEXT:    %[[F:.*]] = tk.max %[[B]], %[[D]]
// CHECK-NEXT:    tk.yield %[[E]], %[[F]]
// CHECK:       arith.addf %[[R]]#0, %[[R]]#1
tk.kernel @independent(%x: f32) attributes {contract = #contract} {
  %v = tk.splat %x : f32 -> tensor<64xf32>
  %s = tk.reduce %v axis 0 order any : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %w = arith.mulf %v, %v : tensor<64xf32>
  %t = tk.reduce %w axis 0 order any : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = tk.max %a, %b {num = #tk.num<>} : f32
    tk.yield %c : f32
  }
  %u = arith.addf %s, %t : f32
  %q = tk.splat %u : f32 -> tensor<64xf32>
  tk.return
}

// The second needs the first, has another shape, or another order.
// CHECK-LABEL: tk.kernel @apart(
// CHECK-COUNT-4: = tk.reduce %{{[^,]*}} axis
tk.kernel @apart(%x: f32) attributes {contract = #contract} {
  %v = tk.splat %x : f32 -> tensor<64xf32>
  %s = tk.reduce %v axis 0 order any : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %m = tk.splat %s : f32 -> tensor<64xf32>
  %w = arith.subf %v, %m : tensor<64xf32>
  %t = tk.reduce %w axis 0 order any : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %o = tk.splat %x : f32 -> tensor<32xf32>
  %p = tk.reduce %o axis 0 order any : tensor<32xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %q = tk.reduce %v axis 0 order indexed : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}
