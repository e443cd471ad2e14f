// RUN: tk-opt %s --split-input-file --verify-diagnostics --tk-verify-phase
// expected-error @+1 {{the module's `tk.phase` is missing or no phase}}
module {}

// -----
// expected-error @+1 {{the module's `tk.phase` is missing or no phase}}
module attributes {tk.phase = "Cooked"} {}

// -----
module attributes {tk.phase = "Emitted"} {
  // expected-error @+1 {{TK9002: phase `Emitted` does not hold after `tk-opt`: operation `llvm.mlir.zero` is not of the block level}}
  %p = llvm.mlir.zero : !llvm.ptr
}

// -----
module attributes {tk.phase = "Emitted"} {
  %i = arith.constant 1 : i32
  // expected-error @+1 {{operation `arith.divsi` is not of the block level}}
  %q = arith.divsi %i, %i : i32
}

// -----
module attributes {tk.phase = "Emitted"} {
  // expected-error @+1 {{operation `tkg.alloc` came too early}}
  %b = tkg.alloc : !tkg.buf<2xf32>
}

// -----
module attributes {tk.phase = "Canonical"} {
  %one = arith.constant 1 : i64
  // expected-error @+1 {{a loop does not count from 0 by 1 in i64}}
  scf.for %i = %one to %one step %one : i64 {
  }
}

// -----
module attributes {tk.phase = "Canonical"} {
  %zero = arith.constant 0 : i64
  %two = arith.constant 2 : i64
  // expected-error @+1 {{a loop does not count from 0 by 1 in i64}}
  scf.for %i = %zero to %two step %two : i64 {
  }
}

// -----
module attributes {tk.phase = "Canonical"} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error @+1 {{a loop does not count from 0 by 1 in i64}}
  scf.for %i = %zero to %one step %one : i32 {
  }
}

// -----
module attributes {tk.phase = "Expanded"} {
  %c = arith.constant true
  %a = tkg.alloc : !tkg.buf<2xf32>
  %b = tkg.alloc : !tkg.buf<2xf32>
  // expected-error @+1 {{a shared buffer is the result of control flow}}
  %s = arith.select %c, %a, %b : !tkg.buf<2xf32>
}

// -----
module attributes {tk.phase = "Emitted"} {
  // expected-error @+1 {{a constant tile is not a splat}}
  %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
}

// -----
#all = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
module attributes {tk.phase = "Planned"} {
  // expected-error @+1 {{a tile has a layout already}}
  %t = arith.constant dense<1.0> : tensor<2xf32, #all>
}

// -----
module attributes {tk.phase = "LaidOut"} {
  // expected-error @+1 {{a tile has no layout}}
  %t = arith.constant dense<1.0> : tensor<2xf32>
}

// -----
module attributes {tk.phase = "Resident"} {
  tk.kernel @k(%x: !tk.view<f32, 1, 0>) attributes {contract = #tk.contract<{kernel = "k",
      instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", extents = ["N"],
      strides = [1]}], grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
    %i = arith.constant 0 : i64
    // expected-error @+1 {{place access `tk.read` is left}}
    %v = tk.read %x[%i] widths [0] : !tk.view<f32, 1, 0> -> f32
    tk.return
  }
}

// -----
#all = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
module attributes {tk.phase = "Expanded"} {
  %t = arith.constant dense<1.0> : tensor<2xf32, #all>
  // expected-error @+1 {{operation `tk.reduce` is left}}
  %s = tk.reduce %t axis 0 order any : tensor<2xf32, #all> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tk.yield %a : f32
  }
}

// -----
#all = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
#lanes = #tkg.layout<"register=[], lane=[[1],[0],[0],[0],[0]]">
module attributes {tk.phase = "Expanded"} {
  %t = arith.constant dense<1.0> : tensor<2xf32, #all>
  // expected-error @+1 {{a conversion through shared memory is left}}
  %u = tkg.convert %t how "shared" : tensor<2xf32, #all> -> tensor<2xf32, #lanes>
}

// -----
module attributes {tk.phase = "SmemAllocated"} {
  // expected-error @+1 {{a shared buffer has no offset}}
  %b = tkg.alloc : !tkg.buf<2xf32>
}

// -----
module attributes {tk.phase = "Machine"} {
  // expected-error @+1 {{operation `arith.constant` is not of the machine level}}
  %i = arith.constant 1 : i32
}
