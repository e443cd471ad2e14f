// RUN: tk-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{a buffer has rank 1 or more}}
%0 = builtin.unrealized_conversion_cast to !tkg.buf<f32>

// -----
// expected-error @+1 {{a buffer's side is 0}}
%0 = builtin.unrealized_conversion_cast to !tkg.buf<4x0xf32>

// -----
// expected-error @+1 {{element 'index' is not an element that memory holds}}
%0 = builtin.unrealized_conversion_cast to !tkg.buf<4xindex>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f16, 0>
%i = tk.arange 0 : tensor<64xi32>
// expected-error @+1 {{base '!tk.ptr<f16, 0>' and offset 'tensor<64xi32>' do not fit the tile 'tensor<64xf32>'}}
%0 = tkg.load %p[%i] : !tk.ptr<f16, 0>, tensor<64xi32> -> tensor<64xf32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%i = arith.constant dense<0> : tensor<64xi16>
// expected-error @+1 {{offset 'tensor<64xi16>' is neither i32 nor i64}}
%0 = tkg.load %p[%i] : !tk.ptr<f32, 0>, tensor<64xi16> -> tensor<64xf32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%i = tk.arange 0 : tensor<64xi32>
%m = arith.constant dense<true> : tensor<32xi1>
// expected-error @+1 {{mask 'tensor<32xi1>' does not fit the tile 'tensor<64xf32>'}}
%0 = tkg.load %p[%i] mask %m : tensor<32xi1> : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%i = tk.arange 0 : tensor<64xi32>
// expected-error @+1 {{vector of 3 is not a power of two}}
%0 = tkg.load %p[%i] {vector = 3 : i64} : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%i = tk.arange 0 : tensor<64xi32>
%f = arith.constant 1.0 : f64
// expected-error @+1 {{fill is 'f64'}}
%0 = tkg.load %p[%i] fill %f : f64 : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>

// -----
%p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
%i = tk.arange 0 : tensor<2xi32>
%v = builtin.unrealized_conversion_cast to tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>
// expected-error @+1 {{offset, mask and tile differ in layout}}
tkg.store %v, %p[%i] : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>, !tk.ptr<f32, 0>, tensor<2xi32>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{needs a layout on both sides}}
%0 = tkg.convert %v how "registers" : tensor<2xf32> -> tensor<2xf32>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{changes 'tensor<2xf32>' into 'tensor<2xf16>'}}
%0 = tkg.convert %v how "registers" : tensor<2xf32> -> tensor<2xf16>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>
// expected-error @+1 {{is no renaming of registers: which one a thread needs depends on the thread}}
%0 = tkg.convert %v how "registers" : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">> -> tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1]]">>
// expected-error @+1 {{is not possible by shuffles: warps need what others have}}
%0 = tkg.convert %v how "shuffle" : tensor<2xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1]]">> -> tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]], warp=[[0]]">>

// -----
// expected-error @+1 {{the order of a buffer names no offsets}}
%0 = tkg.alloc : !tkg.buf<2xf32, order = #tkg.layout<"lane=[[1]]">>

// -----
// expected-error @+1 {{the order of a buffer is of another shape}}
%0 = tkg.alloc : !tkg.buf<2xf32, order = #tkg.layout<"offset=[[1],[2]]">>

// -----
%b = tkg.alloc : !tkg.buf<2xf32, order = #tkg.layout<"offset=[[1]]">>
// expected-error @+1 {{is a view of a buffer that has an order}}
%0 = tkg.buf_view %b offset 0 : !tkg.buf<2xf32, order = #tkg.layout<"offset=[[1]]">> -> !tkg.buf<2xf32>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>
// expected-error @+1 {{has no way `magic`}}
%0 = tkg.convert %v how "magic" : tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">> -> tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>

// -----
%v = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{axis 1 is not an axis of 'tensor<2xf32>'}}
%0 = tkg.reduce %v axis 1 order any : tensor<2xf32> -> f32 {
^bb0(%x: f32, %y: f32):
  tkg.yield %x : f32
}

// -----
%v = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{the region must take two values and yield one for each operand}}
%0 = tkg.reduce %v axis 0 order any : tensor<2xf32> -> f32 {
^bb0(%x: f32):
  tkg.yield %x : f32
}

// -----
// expected-error @+1 {{expects parent op to be one of 'tkg.reduce, tkg.scan, tkg.scan_carry'}}
tkg.yield

// -----
%b = tkg.alloc : !tkg.buf<4xf32>
%v = arith.constant dense<0.0> : tensor<2xf32>
// expected-error @+1 {{tile 'tensor<2xf32>' does not fit the buffer '!tkg.buf<4xf32>'}}
tkg.buf_store %v, %b : tensor<2xf32>, !tkg.buf<4xf32>

// -----
%b = tkg.alloc : !tkg.buf<4xf32>
// expected-error @+1 {{tile 'tensor<4xf16>' does not fit the buffer '!tkg.buf<4xf32>'}}
%0 = tkg.buf_load %b : !tkg.buf<4xf32> -> tensor<4xf16>

// -----
llvm.func @five_words(%p: !llvm.ptr<1>, %c: i1, %a: i32) {
  // expected-error @+1 {{needs one to four words}}
  tkg.ptx.store %p if %c (%a, %a, %a, %a, %a) : !llvm.ptr<1>, i32, i32, i32, i32, i32
  llvm.return
}

// -----
llvm.func @fill_of_another_type(%p: !llvm.ptr<1>, %c: i1, %a: i32) {
  // expected-error @+1 {{needs one to four words, and a fill of the same type for each}}
  %0 = tkg.ptx.load %p if %c fills(%a) : !llvm.ptr<1>, i32 -> i16
  llvm.return
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
tk.kernel @k(%x: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<64xf32>
  %l = tk.arange 0 : tensor<64xi32>
  // expected-error @+1 {{of a vector adds floats}}
  tkg.atomic_rmw max %v, %x[%l] scope gpu {vector = 4 : i64} : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
  tk.return
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "i8", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
tk.kernel @k(%x: !tk.ptr<i8, 0>) attributes {contract = #contract} {
  %v = arith.constant dense<1> : tensor<64xi8>
  %l = tk.arange 0 : tensor<64xi32>
  // expected-error @+1 {{changes no elements of 8 bits}}
  tkg.atomic_rmw add %v, %x[%l] scope gpu : tensor<64xi8>, !tk.ptr<i8, 0>, tensor<64xi32>
  tk.return
}
