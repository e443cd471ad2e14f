// RUN: tk-opt %s --split-input-file --verify-diagnostics
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{cannot make 'tensor<31xf32>' of 'tensor<4x8xf32>'}}
%0 = tk.reshape %t : tensor<4x8xf32> -> tensor<31xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{[0, 0] is no order of 2 axes}}
%0 = tk.permute %t [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{the result should have shape [8, 4], is 'tensor<4x8xf32>'}}
%0 = tk.permute %t [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{the sides along axis 1 add up to 16, the result has 12}}
%0 = tk.cat %t, %t axis 1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x12xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{operand 'tensor<4x8xf32>' does not fit the result 'tensor<8x9xf32>'}}
%0 = tk.cat %t, %t axis 0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x9xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{axis 2 is not an axis of 'tensor<4x8xf32>'}}
%0 = tk.flip %t axis 2 : tensor<4x8xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{3 elements from 4 by 2 leave axis 1 of 'tensor<4x8xf32>'}}
%0 = tk.slice %t offsets [0, 4] strides [1, 2] : tensor<4x8xf32> -> tensor<4x3xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
%p = arith.constant dense<1.0> : tensor<4x2xf16>
// expected-error @+1 {{'tensor<4x2xf16>' is no part of 'tensor<4x8xf32>'}}
%0 = tk.insert %p, %t offsets [0, 4] strides [1, 2] : tensor<4x2xf16>, tensor<4x8xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
%i = arith.constant 1 : i64
// expected-error @+1 {{'tensor<4xf32>' is not 'tensor<4x8xf32>' without axis 0}}
%0 = tk.pick %t[%i] axis 0 : tensor<4x8xf32> -> tensor<4xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4xf32>
%i = arith.constant 1 : i64
%p = arith.constant 1.0 : f16
// expected-error @+1 {{'f16' is not 'tensor<4xf32>' without axis 0}}
%0 = tk.put %p, %t[%i] axis 0 : f16, tensor<4xf32>
