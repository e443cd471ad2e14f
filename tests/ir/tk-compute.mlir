// RUN: tk-opt %s | tk-opt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 4}}>

// Ranges, splats and shapes.
// CHECK-LABEL: tk.kernel @shapes
// CHECK:         tk.arange 0 : tensor<1024xi32>
// CHECK-NEXT:    tk.arange -8 : tensor<3xi32>
// CHECK:         tk.splat %{{.*}} : f32 -> tensor<4x8xf32>
// CHECK:         tk.splat %{{.*}} : !tk.ptr<f32, 0> -> tensor<4x!tk.ptr<f32, 0>>
// CHECK:         tk.expand_dims %{{.*}}, 1 : tensor<3xi32> -> tensor<3x1xi32>
// CHECK-NEXT:    tk.broadcast %{{.*}} : tensor<3x1xi32> -> tensor<3x64xi32>
tk.kernel @shapes() attributes {contract = #contract} {
  %i = tk.arange 0 : tensor<1024xi32>
  %j = tk.arange -8 : tensor<3xi32>
  %f = arith.constant 1.0 : f32
  %t = tk.splat %f : f32 -> tensor<4x8xf32>
  %p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
  %q = tk.splat %p : !tk.ptr<f32, 0> -> tensor<4x!tk.ptr<f32, 0>>
  %c = tk.expand_dims %j, 1 : tensor<3xi32> -> tensor<3x1xi32>
  %b = tk.broadcast %c : tensor<3x1xi32> -> tensor<3x64xi32>
  tk.return
}

// Operations of two numbers, on scalars and tiles, signed unless they say otherwise.
// CHECK-LABEL: tk.kernel @binary
// CHECK:         tk.div %{{.*}}, %{{.*}} : tensor<8xf32>
// CHECK-NEXT:    tk.div %{{.*}}, %{{.*}} unsigned : i32
// CHECK-NEXT:    tk.rem %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    tk.shl %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    tk.shr %{{.*}}, %{{.*}} unsigned : i32
// CHECK-NEXT:    tk.min %{{.*}}, %{{.*}} num <nan = number> : tensor<8xf32>
// CHECK-NEXT:    tk.max %{{.*}}, %{{.*}} : i32
tk.kernel @binary() attributes {contract = #contract} {
  %t = arith.constant dense<2.0> : tensor<8xf32>
  %i = arith.constant 7 : i32
  %0 = tk.div %t, %t : tensor<8xf32>
  %1 = tk.div %i, %i unsigned : i32
  %2 = tk.rem %i, %i : i32
  %3 = tk.shl %i, %i : i32
  %4 = tk.shr %i, %i unsigned : i32
  %5 = tk.min %t, %t num <nan = number> : tensor<8xf32>
  %6 = tk.max %i, %i : i32
  tk.return
}

// Every function of one number.
// CHECK-LABEL: tk.kernel @unary
// CHECK:         tk.unary abs %{{.*}} : i32
// CHECK-NEXT:    tk.unary abs %{{.*}} : tensor<8xf32>
// CHECK-NEXT:    tk.unary exp %{{.*}} num <ulp = 1> : tensor<8xf32>
// CHECK-NEXT:    tk.unary exp2
// CHECK-NEXT:    tk.unary log
// CHECK-NEXT:    tk.unary log2
// CHECK-NEXT:    tk.unary sqrt
// CHECK-NEXT:    tk.unary rsqrt
// CHECK-NEXT:    tk.unary sin
// CHECK-NEXT:    tk.unary cos
// CHECK-NEXT:    tk.unary tanh
// CHECK-NEXT:    tk.unary erf
// CHECK-NEXT:    tk.unary floor
// CHECK-NEXT:    tk.unary ceil
// CHECK-NEXT:    tk.unary sigmoid
// CHECK-NEXT:    tk.fma %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>
tk.kernel @unary() attributes {contract = #contract} {
  %t = arith.constant dense<2.0> : tensor<8xf32>
  %i = arith.constant 7 : i32
  %0 = tk.unary abs %i : i32
  %1 = tk.unary abs %t : tensor<8xf32>
  %2 = tk.unary exp %t num <ulp = 1> : tensor<8xf32>
  %3 = tk.unary exp2 %t : tensor<8xf32>
  %4 = tk.unary log %t : tensor<8xf32>
  %5 = tk.unary log2 %t : tensor<8xf32>
  %6 = tk.unary sqrt %t : tensor<8xf32>
  %7 = tk.unary rsqrt %t : tensor<8xf32>
  %8 = tk.unary sin %t : tensor<8xf32>
  %9 = tk.unary cos %t : tensor<8xf32>
  %10 = tk.unary tanh %t : tensor<8xf32>
  %11 = tk.unary erf %t : tensor<8xf32>
  %12 = tk.unary floor %t : tensor<8xf32>
  %13 = tk.unary ceil %t : tensor<8xf32>
  %14 = tk.unary sigmoid %t : tensor<8xf32>
  %15 = tk.fma %t, %t, %t : tensor<8xf32>
  tk.return
}

// Conversions that may round or saturate.
// CHECK-LABEL: tk.kernel @casts
// CHECK:         tk.cast %{{.*}} : tensor<8xf32> -> tensor<8xbf16>
// CHECK-NEXT:    tk.cast %{{.*}} to_unsigned num <overflow = ieee> : tensor<8xf32> -> tensor<8xi32>
// CHECK-NEXT:    tk.cast %{{.*}} from_unsigned : i32 -> f16
tk.kernel @casts() attributes {contract = #contract} {
  %t = arith.constant dense<2.0> : tensor<8xf32>
  %i = arith.constant 7 : i32
  %0 = tk.cast %t : tensor<8xf32> -> tensor<8xbf16>
  %1 = tk.cast %t to_unsigned num <overflow = ieee> : tensor<8xf32> -> tensor<8xi32>
  %2 = tk.cast %i from_unsigned : i32 -> f16
  tk.return
}

// One operand, and two that are combined together.
// CHECK-LABEL: tk.kernel @reductions
// CHECK:         tk.reduce %{{.*}} axis 1 order any : tensor<4x64xf32> -> tensor<4xf32> {
// CHECK:           tk.yield %{{.*}} : f32
// CHECK:         %{{.*}}:2 = tk.reduce %{{.*}}, %{{.*}} axis 0 order indexed : tensor<8xf32>, tensor<8xi32> -> f32, i32 {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[I:.*]]: i32, %[[B:.*]]: f32, %[[J:.*]]: i32):
// CHECK:           tk.yield %{{.*}}, %{{.*}} : f32, i32
tk.kernel @reductions() attributes {contract = #contract} {
  %x = arith.constant dense<2.0> : tensor<4x64xf32>
  %v = arith.constant dense<2.0> : tensor<8xf32>
  %l = tk.arange 0 : tensor<8xi32>
  %s = tk.reduce %x axis 1 order any : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  %m:2 = tk.reduce %v, %l axis 0 order indexed : tensor<8xf32>, tensor<8xi32> -> f32, i32 {
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %less = arith.cmpf olt, %a, %b : f32
    %c = arith.select %less, %b, %a : f32
    %k = arith.select %less, %j, %i : i32
    tk.yield %c, %k : f32, i32
  }
  tk.return
}
