// RUN: tk-opt %s --split-input-file --verify-diagnostics
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{result 0 should have shape [4, 8] and element 'f32', is 'tensor<4xf32>'}}
%0 = tk.scan %t axis 1 order any : tensor<4x8xf32> -> tensor<4xf32> {
^bb0(%a: f32, %b: f32):
  tk.yield %a : f32
}

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{do not fit the operand 'tensor<4x8xf32>'}}
%v, %i = tk.sort %t axis 1 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi32>

// -----
%t = arith.constant dense<1> : tensor<8xi32>
// expected-error @+1 {{result 'tensor<2x2xi32>' does not have rank 1}}
%0 = tk.histogram %t : tensor<8xi32> -> tensor<2x2xi32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
%i = arith.constant dense<1> : tensor<3x2xi32>
// expected-error @+1 {{indices 'tensor<3x2xi32>' do not fit the operand 'tensor<4x8xf32>' along axis 1}}
%0 = tk.gather %t[%i] axis 1 : tensor<4x8xf32>, tensor<3x2xi32> -> tensor<3x2xf32>

// -----
%a = arith.constant dense<1.0> : tensor<4x8xf16>
%b = arith.constant dense<1.0> : tensor<16x4xf16>
%c = arith.constant dense<1.0> : tensor<4x4xf32>
// expected-error @+1 {{inner sides differ: `a` has K = 8, `b` has K = 16}}
%0 = tk.dot %a, %b, %c : tensor<4x8xf16>, tensor<16x4xf16>, tensor<4x4xf32>

// -----
%a = arith.constant dense<1.0> : tensor<4x8xf16>
%b = arith.constant dense<1.0> : tensor<8x4xbf16>
%c = arith.constant dense<1.0> : tensor<4x4xf32>
// expected-error @+1 {{no product of 'f16' and 'bf16' gives 'f32'}}
%0 = tk.dot %a, %b, %c : tensor<4x8xf16>, tensor<8x4xbf16>, tensor<4x4xf32>

// -----
%a = arith.constant dense<1.0> : tensor<4x8xf16>
%b = arith.constant dense<1.0> : tensor<8x4xf16>
%c = arith.constant dense<1.0> : tensor<4x4xf32>
// expected-error @+1 {{`input` is about f32 operands, not 'f16'}}
%0 = tk.dot %a, %b, %c input tf32 : tensor<4x8xf16>, tensor<8x4xf16>, tensor<4x4xf32>

// -----
%a = arith.constant dense<1.0> : tensor<4x64xf16>
%s = arith.constant dense<1.0> : tensor<4x3xf8E8M0FNU>
%b = arith.constant dense<1.0> : tensor<64x4xf16>
%c = arith.constant dense<1.0> : tensor<4x4xf32>
// expected-error @+1 {{scale 'tensor<4x3xf8E8M0FNU>' does not fit 'tensor<4x64xf16>' in blocks of 16 or 32}}
%0 = tk.dot_scaled %a scale %s : tensor<4x3xf8E8M0FNU>, %b, %c : tensor<4x64xf16>, tensor<64x4xf16>, tensor<4x4xf32>

// -----
%t = arith.constant dense<1.0> : tensor<4x8xf32>
// expected-error @+1 {{the region yields 'f32', the element of 'tensor<4x8xi32>' is wanted}}
%0 = tk.map %t : tensor<4x8xf32> -> tensor<4x8xi32> {
^bb0(%a: f32):
  tk.yield %a : f32
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{packs 3 elements, can pack 1, 2, 4 or 8}}
%0 = tk.asm "" constraints "=f,f" pack 3 (%t) : (tensor<8xf32>) -> tensor<8xf32> reference {
}

// -----
%t = arith.constant dense<1.0> : tensor<8xf32>
// expected-error @+1 {{from 'tensor<8xf32>' to 'tensor<16xf16>' needs an axis of the tile}}
%0 = tk.bitcast %t : tensor<8xf32> -> tensor<16xf16>

// -----
%t = arith.constant dense<1> : tensor<7xi8>
// expected-error @+1 {{the side 7 of axis 0 is not a multiple of 4}}
%0 = tk.bitcast %t axis 0 : tensor<7xi8> -> tensor<1xi32>

// -----
%t = arith.constant dense<1> : tensor<7xi8>
// expected-error @+1 {{pow takes floats, not 'tensor<7xi8>'}}
%0 = tk.binary pow %t, %t : tensor<7xi8>

// -----
%f = arith.constant 1.0 : f32
// expected-error @+1 {{is about integers and pointers, not 'f32'}}
%0 = tk.hint %f multiple_of [16] contiguous [1] constant [1] : f32

// -----
%i = arith.constant 1 : i32
// expected-error @+1 {{has 2 numbers for 1 axes}}
%0 = tk.hint %i multiple_of [16, 1] contiguous [1] constant [1] : i32
