// RUN: tk-opt %s --tk-lower-to-machine=target=sm_90a --tk-verify-phase | FileCheck %s

// Which registers the shuffles of a conversion read, and which threads take which.

#one = #tk.contract<{kernel = "p", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "i32", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#two = #tk.contract<{kernel = "p", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "i32", access = "inout", align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64]]">
#B = #tkg.layout<"register=[[2]], lane=[[1],[4],[8],[16],[32]], warp=[[65]]">
#C = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], repeats=[[0,3]]">
#D = #tkg.layout<"register=[[2]], lane=[[1],[4],[8],[16],[32]], repeats=[[0,3]]">

module attributes {tk.phase = "Ordered"} {
// The register that a thread sends: by its lowest lane bit and by its warp, of which one or both may be set.
// CHECK-LABEL: llvm.func @by_lane_and_warp(
// CHECK:         %[[BOTH:.*]] = llvm.or %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    %[[COUNT:.*]] = llvm.intr.ctpop(%[[BOTH]])
// CHECK-NEXT:    %[[ODD:.*]] = llvm.and %[[COUNT]], %{{.*}}
// CHECK-NEXT:    %[[IS_ODD:.*]] = llvm.icmp "ne" %[[ODD]]
// CHECK-NEXT:    llvm.select %[[IS_ODD]]
tk.kernel @by_lane_and_warp(%x: !tk.ptr<i32, 0>) attributes {contract = #two, shared_bytes = 0 : i64} {
  %l = tk.arange 0 : tensor<128xi32, #A>
  %v = tkg.load %x[%l] : !tk.ptr<i32, 0>, tensor<128xi32, #A> -> tensor<128xi32, #A>
  %c = tkg.convert %v how "shuffle" : tensor<128xi32, #A> -> tensor<128xi32, #B>
  %o = tk.arange 0 : tensor<128xi32, #B>
  tkg.store %c, %x[%o] : tensor<128xi32, #B>, !tk.ptr<i32, 0>, tensor<128xi32, #B>
  tk.return
}

// Three repeats, each of them out of its own two registers.
// CHECK-LABEL: llvm.func @each_repeat(
// CHECK:         %[[L0:.*]] = llvm.load
// CHECK:         %[[L1:.*]] = llvm.load
// CHECK:         %[[L2:.*]] = llvm.load
// CHECK:         %[[L3:.*]] = llvm.load
// CHECK:         %[[L4:.*]] = llvm.load
// CHECK:         %[[L5:.*]] = llvm.load
// CHECK:         %[[S0:.*]] = llvm.select %{{.*}}, %[[L0]], %[[L1]]
// CHECK-NEXT:    nvvm.shfl.sync  bfly %{{.*}}, %[[S0]]
// CHECK:         %[[S1:.*]] = llvm.select %{{.*}}, %[[L2]], %[[L3]]
// CHECK-NEXT:    nvvm.shfl.sync  bfly %{{.*}}, %[[S1]]
// CHECK:         %[[S2:.*]] = llvm.select %{{.*}}, %[[L4]], %[[L5]]
// CHECK-NEXT:    nvvm.shfl.sync  bfly %{{.*}}, %[[S2]]
tk.kernel @each_repeat(%x: !tk.ptr<i32, 0>) attributes {contract = #one, shared_bytes = 0 : i64} {
  %l = tk.arange 0 : tensor<192xi32, #C>
  %v = tkg.load %x[%l] : !tk.ptr<i32, 0>, tensor<192xi32, #C> -> tensor<192xi32, #C>
  %c = tkg.convert %v how "shuffle" : tensor<192xi32, #C> -> tensor<192xi32, #D>
  %o = tk.arange 0 : tensor<192xi32, #D>
  tkg.store %c, %x[%o] : tensor<192xi32, #D>, !tk.ptr<i32, 0>, tensor<192xi32, #D>
  tk.return
}
}
