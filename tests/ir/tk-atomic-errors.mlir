// RUN: tk-opt %s --split-input-file --verify-diagnostics
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "p", kind = "pointer", dtype = "f32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @bits_of_floats(%p: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{and is not for floats}}
  %0 = tk.atomic_rmw and %f, %p order relaxed scope gpu : f32, !tk.ptr<f32, 0>
  tk.return
}

// -----
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "p", kind = "pointer", dtype = "f32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @releasing_load(%p: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  // expected-error @+1 {{a load cannot be release}}
  %0 = tk.atomic_load %p order release scope gpu : !tk.ptr<f32, 0> -> f32
  tk.return
}

// -----
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "p", kind = "pointer", dtype = "f32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @acquiring_store(%p: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %f = arith.constant 1.0 : f32
  // expected-error @+1 {{a store cannot be acq_rel}}
  tk.atomic_store %f, %p order acq_rel scope gpu : f32, !tk.ptr<f32, 0>
  tk.return
}

// -----
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "p", kind = "pointer", dtype = "f32"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @another_type(%p: !tk.ptr<f32, 0>) attributes {contract = #contract} {
  %i = arith.constant 1 : i32
  // expected-error @+1 {{pointer '!tk.ptr<f32, 0>' does not fit the value 'i32'}}
  %0 = tk.atomic_rmw add %i, %p order relaxed scope gpu : i32, !tk.ptr<f32, 0>
  tk.return
}

// -----
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", access = "in",
    extents = ["N"], strides = [1], align = 4}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @tiles_of_indices(%x: !tk.view<f32, 1, 0>) attributes {contract = #contract} {
  %i = arith.constant 1 : i64
  // expected-error @+1 {{an index of width -1 is a tile, not 'i64'}}
  %p, %m = tk.locate %x[%i] widths [-1] : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>, i1
  tk.return
}

// -----
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", access = "in",
    extents = ["N"], strides = [1], align = 4}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
tk.kernel @dropped_axis(%x: !tk.view<f32, 1, 0>) attributes {contract = #contract} {
  %i = arith.constant 1 : i64
  // expected-error @+1 {{result '!tk.view<f32, 1, 0>' does not fit the view '!tk.view<f32, 1, 0>'}}
  %s = tk.subview %x low [%i] high [%i] drop [true] : !tk.view<f32, 1, 0> -> !tk.view<f32, 1, 0>
  tk.return
}
