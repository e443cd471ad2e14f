// RUN: tk-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{result 'tensor<4x4xi32>' does not have rank 1}}
%0 = tk.arange 0 : tensor<4x4xi32>

// -----
// expected-error @+1 {{the range from 2147483640 does not fit i32}}
%0 = tk.arange 2147483640 : tensor<8xi32>

// -----
%f = arith.constant 1.0 : f32
// expected-error @+1 {{value 'f32' is not the element of 'tensor<8xf16>'}}
%0 = tk.splat %f : f32 -> tensor<8xf16>

// -----
%t = tk.arange 0 : tensor<8xi32>
// expected-error @+1 {{axis 2 is not within 0 to 1}}
%0 = tk.expand_dims %t, 2 : tensor<8xi32> -> tensor<8x1xi32>

// -----
%t = tk.arange 0 : tensor<8xi32>
// expected-error @+1 {{the result should have shape [8, 1], is 'tensor<1x8xi32>'}}
%0 = tk.expand_dims %t, 1 : tensor<8xi32> -> tensor<1x8xi32>

// -----
%t = tk.arange 0 : tensor<8xi32>
// expected-error @+1 {{cannot broadcast 'tensor<8xi32>' to 'tensor<4x8xi32>'}}
%0 = tk.broadcast %t : tensor<8xi32> -> tensor<4x8xi32>

// -----
%t = arith.constant dense<1.0> : tensor<8x2xf32>
// expected-error @+1 {{axis 1 has side 2, which is neither 1 nor 4}}
%0 = tk.broadcast %t : tensor<8x2xf32> -> tensor<8x4xf32>

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{must be an integer scalar or statically shaped tensor of an integer scalar values}}
%0 = tk.rem %t, %t : tensor<8xf32>

// -----
%i = arith.constant 1 : i32
// expected-error @+1 {{exp takes floats, not 'i32'}}
%0 = tk.unary exp %i : i32

// -----
%i = arith.constant 1 : i32
// expected-error @+1 {{must be a float scalar or statically shaped tensor of a float scalar values}}
%0 = tk.fma %i, %i, %i : i32

// -----
%f = arith.constant 1.0 : f32
// expected-error @+1 {{converts 'f32' to itself}}
%0 = tk.cast %f : f32 -> f32

// -----
%i = arith.constant 1 : i32
// expected-error @+1 {{from 'i32' to 'i8': integers convert by arith.extsi, extui and trunci}}
%0 = tk.cast %i : i32 -> i8

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{'tk.cast' op}}
%0 = tk.cast %t : tensor<8xf32> -> tensor<4xf16>

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{axis 1 is not an axis of 'tensor<8xf32>'}}
%0 = tk.reduce %t axis 1 order any : tensor<8xf32> -> f32 {
^bb0(%a: f32, %b: f32):
  tk.yield %a : f32
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{the region has 1 arguments, needs 2}}
%0 = tk.reduce %t axis 0 order any : tensor<8xf32> -> f32 {
^bb0(%a: f32):
  tk.yield %a : f32
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{the region must yield one value an operand}}
%0 = tk.reduce %t axis 0 order any : tensor<8xf32> -> f32 {
^bb0(%a: f32, %b: f32):
  tk.yield
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
%u = arith.constant dense<1.0> : tensor<4xf32>
// expected-error @+1 {{operands differ in shape: 'tensor<8xf32>' and 'tensor<4xf32>'}}
%0:2 = tk.reduce %t, %u axis 0 order any : tensor<8xf32>, tensor<4xf32> -> f32, f32 {
^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
  tk.yield %a, %b : f32, f32
}

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{result 0 should have shape [4] and element 'f32', is 'tensor<8xf32>'}}
%0 = tk.reduce %t axis 1 order any : tensor<4x8xf32> -> tensor<8xf32> {
^bb0(%a: f32, %b: f32):
  tk.yield %a : f32
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{the region's types differ from element 'f32'}}
%0 = tk.reduce %t axis 0 order any : tensor<8xf32> -> f32 {
^bb0(%a: f32, %b: f16):
  tk.yield %a : f32
}

// -----
// expected-error @+1 {{expects parent op to be one of 'tk.reduce, tk.scan, tk.map, tk.asm, tk.extern'}}
tk.yield
