// RUN: tk-opt %s --split-input-file --verify-diagnostics
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
// expected-error @+1 {{axis 2 is not an axis of a view of rank 2}}
%0 = tk.extent %x, 2 : !tk.view<f32, 2, 0>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
// expected-error @+1 {{axis -1 is not an axis of a view of rank 2}}
%0 = tk.stride %x, -1 : !tk.view<f32, 2, 0>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
// expected-error @+1 {{result '!tk.ptr<f32, 1>' does not fit the view '!tk.view<f32, 2, 0>'}}
%0 = tk.base %x : !tk.view<f32, 2, 0> -> !tk.ptr<f32, 1>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
// expected-error @+1 {{result '!tk.ptr<f16, 0>' does not fit the view '!tk.view<f32, 2, 0>'}}
%0 = tk.base %x : !tk.view<f32, 2, 0> -> !tk.ptr<f16, 0>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
%i = arith.constant 0 : i64
// expected-error @+1 {{has 1 indices and 2 widths, the view has rank 2}}
%0 = tk.read %x[%i] widths [0, 4] : !tk.view<f32, 2, 0> -> tensor<4xf32>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
%i = arith.constant 0 : i64
// expected-error @+1 {{width -4 is none}}
%0 = tk.read %x[%i, %i] widths [0, -4] : !tk.view<f32, 2, 0> -> tensor<4xf32>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 2, 0>
%i = arith.constant 0 : i64
// expected-error @+1 {{the place has shape [2, 4], the tile is 'tensor<4x2xf32>'}}
%0 = tk.read %x[%i, %i] widths [2, 4] : !tk.view<f32, 2, 0> -> tensor<4x2xf32>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
%i = arith.constant 0 : i64
// expected-error @+1 {{the view's element is 'f32', the tile is 'tensor<4xf16>'}}
%0 = tk.read %x[%i] widths [4] : !tk.view<f32, 1, 0> -> tensor<4xf16>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
%i = arith.constant 0 : i64
%m = arith.constant dense<true> : tensor<8xi1>
// expected-error @+1 {{the place has shape [4], the mask is 'tensor<8xi1>'}}
%0 = tk.read %x[%i] widths [4] mask %m : tensor<8xi1> : !tk.view<f32, 1, 0> -> tensor<4xf32>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
%i = arith.constant 0 : i64
// expected-error @+1 {{fill is 'i64', the element is 'f32'}}
%0 = tk.read %x[%i] widths [4] fill %i : i64 : !tk.view<f32, 1, 0> -> tensor<4xf32>

// -----
%x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
%i = arith.constant 0 : i64
%v = arith.constant dense<0.0> : tensor<8xf32>
// expected-error @+1 {{the place has shape [4], the tile is 'tensor<8xf32>'}}
tk.write %v, %x[%i] widths [4] : tensor<8xf32>, !tk.view<f32, 1, 0>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%l = tk.arange 0 : tensor<8xi32>
// expected-error @+1 {{pointer '!tk.ptr<f32, 0>' and offset 'tensor<8xi32>' differ in shape}}
%0 = tk.ptr_add %p, %l : !tk.ptr<f32, 0>, tensor<8xi32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
// expected-error-re @+1 {{'tk.load' op {{.*}}'!tk.ptr<f32, 0>'{{.*}}'f16'}}
%0 = tk.load %p : !tk.ptr<f32, 0> -> f16

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%v = arith.constant 0.0 : f64
// expected-error-re @+1 {{'tk.store' op {{.*}}'!tk.ptr<f32, 0>'{{.*}}'f64'}}
tk.store %v, %p : f64, !tk.ptr<f32, 0>
