// RUN: tk-opt %s --tk-pipeline-loops=limit-bytes=600 --verify-diagnostics

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f32", access = "in"},
    {name = "n", kind = "scalar", dtype = "i64"}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">

// Nobody said how many stages: as many as fit, at most three.
tk.kernel @fewer(%x: !tk.ptr<f32, 0>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %o = tk.arange 0 : tensor<64xi32, #A>
  // expected-remark @+2 {{TK4105: the loop has 2 stages instead of 3: its buffers take 256 bytes a stage}}
  // expected-remark @+1 {{TK4104: 1 loads of this loop are copied 1 iterations ahead: 512 bytes of shared memory}}
  scf.for %i = %c0 to %n step %c1 : i64 {
    %v = tkg.load %x[%o] readonly : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
    %b = tkg.alloc : !tkg.buf<64xf32>
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
    %w = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #B>
  }
  tk.return
}
