// RUN: tk-opt %s --split-input-file --tk-verify-phase | FileCheck %s
// Each module holds what its phase, and not every other, admits.

// Block-level operations, counted loops, splat constants; tiles have no layout.
// CHECK: tk.phase = "Emitted"
module attributes {tk.phase = "Emitted"} {
  tk.kernel @k(%x: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{kernel = "k",
      instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", extents = ["N"],
      strides = [1]}], grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %start = arith.constant dense<0.0> : tensor<8xf32>
    %trips = tk.num_programs 0
    %sum = scf.for %i = %zero to %trips step %one iter_args(%acc = %start) -> (tensor<8xf32>) : i64 {
      %v = tk.read %x[%i] widths [8] : !tk.view<f32, 1, 0> -> tensor<8xf32>
      %next = arith.addf %acc, %v : tensor<8xf32>
      scf.yield %next : tensor<8xf32>
    }
    tk.write %sum, %x[%zero] widths [8] : tensor<8xf32>, !tk.view<f32, 1, 0>
    tk.return
  }
}

// -----
// Places are gone, accesses have addresses; layouts are still attributes.
// CHECK: tk.phase = "Planned"
module attributes {tk.phase = "Planned"} {
  tk.kernel @k(%p: !tk.ptr<f32, 0>) attributes {contract = #tk.contract<{kernel = "k",
      instance = {}, args = [{name = "p", kind = "pointer", dtype = "f32"}], grid = [1, 1, 1],
      require = [], disjoint = [], options = {}}>} {
    %i = tk.arange 0 : tensor<64xi32>
    %v = tkg.load %p[%i] : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>
    tkg.store %v, %p[%i] : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
    tk.return
  }
}

// -----
// Every tile has a layout; whole reductions and conversions are still there.
// CHECK: tk.phase = "LaidOut"
#all = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
#lanes = #tkg.layout<"register=[], lane=[[1],[0],[0],[0],[0]]">
module attributes {tk.phase = "LaidOut"} {
  tk.kernel @k() attributes {contract = #tk.contract<{kernel = "k", instance = {}, args = [],
      grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
    %f = arith.constant 1.0 : f32
    %t = tk.splat %f : f32 -> tensor<2xf32, #all>
    %u = tkg.convert %t how "shared" : tensor<2xf32, #all> -> tensor<2xf32, #lanes>
    %s = tk.reduce %u axis 0 order any : tensor<2xf32, #lanes> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tk.yield %c : f32
    }
    tk.return
  }
}

// -----
// Shared memory is explicit, and has no offsets yet.
// CHECK: tk.phase = "Expanded"
#all = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
module attributes {tk.phase = "Expanded"} {
  tk.kernel @k() attributes {contract = #tk.contract<{kernel = "k", instance = {}, args = [],
      grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
    %b = tkg.alloc : !tkg.buf<2xf32>
    %v = tkg.buf_load %b : !tkg.buf<2xf32> -> tensor<2xf32, #all>
    tk.return
  }
}

// -----
// Every buffer has its offset.
// CHECK: tk.phase = "Ordered"
module attributes {tk.phase = "Ordered"} {
  tk.kernel @k() attributes {contract = #tk.contract<{kernel = "k", instance = {}, args = [],
      grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
    %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<2xf32>
    tkg.barrier
    tk.return
  }
}

// -----
// One thread's code: LLVM, NVVM and the machine operations.
// CHECK: tk.phase = "Machine"
module attributes {tk.phase = "Machine"} {
  llvm.func @k(%p: !llvm.ptr<1>, %c: i1) {
    %lane = nvvm.read.ptx.sreg.tid.x : i32
    tkg.ptx.store %p if %c (%lane) : !llvm.ptr<1>, i32
    llvm.return
  }
}
