// RUN: tk-opt %s --tk-verify-phase --split-input-file --verify-diagnostics

// The rules of each phase (ir/Phases.cpp), each broken once.

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Emitted"} {
tk.kernel @operation_of_the_gpu_too_early(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{TK9002: phase `Emitted` does not hold after `tk-opt`: operation `tkg.barrier` came too early}}
  tkg.barrier
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Emitted"} {
tk.kernel @partial_operation_of_arith(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{operation `arith.divsi` is not of the block level}}
  %0 = arith.divsi %n, %n : i64
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Resident"} {
tk.kernel @loop_from_one(%n: i64) attributes {contract = #contract} {
  %c1 = arith.constant 1 : i64
  // expected-error @+1 {{a loop does not count from 0 by 1 in i64}}
  scf.for %i = %c1 to %n step %c1 : i64 {
  }
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Canonical"} {
tk.kernel @constant_that_is_no_splat(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{a constant tile is not a splat}}
  %0 = arith.constant dense<[1, 2]> : tensor<2xi32>
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Resident"} {
tk.kernel @place_left(%x: !tk.view<f32, 1, 0>) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  // expected-error @+1 {{place access `tk.read` is left}}
  %v = tk.read %x[%c0] widths [0] : !tk.view<f32, 1, 0> -> f32
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "LaidOut"} {
tk.kernel @tile_without_layout(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{a tile has no layout}}
  %0 = tk.arange 0 : tensor<64xi32>
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "Planned"} {
tk.kernel @layout_before_its_phase(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{a tile has a layout already}}
  %0 = tk.arange 0 : tensor<32xi32, #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]]">>
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">
module attributes {tk.phase = "Expanded"} {
tk.kernel @conversion_left(%n: i64) attributes {contract = #contract} {
  %a = arith.constant dense<1.0> : tensor<64xf32, #A>
  // expected-error @+1 {{a conversion through shared memory is left}}
  %b = tkg.convert %a how "shared" : tensor<64xf32, #A> -> tensor<64xf32, #B>
  tk.return
}
}

// -----

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module attributes {tk.phase = "SmemAllocated"} {
tk.kernel @buffer_without_offset(%n: i64) attributes {contract = #contract} {
  // expected-error @+1 {{a shared buffer has no offset}}
  %b = tkg.alloc : !tkg.buf<4xf32>
  tk.return
}
}

// -----

module attributes {tk.phase = "Machine"} {
tk.kernel @kernel_left() attributes {contract = #tk.contract<{kernel = "k", instance = {}, args = [],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>} {
  // expected-error @+1 {{operation `tk.return` is not of the machine level}}
  tk.return
}
}
