// RUN: tk-opt %s --tk-expand-collectives | FileCheck %s

// As the head of ExpandCollectives.cpp has it:
//   %g = tk.gather %x[%i] axis 0 : tensor<64xf32, #A>, tensor<8xi32, #B> -> tensor<8xf32, #B>
// becomes
//   %b = tkg.alloc : !tkg.buf<64xf32>
//   tkg.buf_store %x, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
//   %g = tkg.buf_gather %b[%i] axis 0 : !tkg.buf<64xf32>, tensor<8xi32, #B> -> tensor<8xf32, #B>

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#B = #tkg.layout<"register=[], lane=[[1],[2],[4],[0],[0]], warp=[[0]]">
#one = #tkg.layout<"register=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">
#natural = #tkg.layout<"register=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[0]]">

// CHECK-LABEL: tk.kernel @gather(
// CHECK: %[[B:.*]] = tkg.alloc : <64xf32>
// CHECK: tkg.buf_store %[[X:.*]], %[[B]]
// CHECK: tkg.buf_gather %[[B]][%{{.*}}] axis 0
tk.kernel @gather(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #A>
  %i = arith.constant dense<3> : tensor<8xi32, #B>
  %g = tk.gather %x[%i] axis 0 : tensor<64xf32, #A>, tensor<8xi32, #B> -> tensor<8xf32, #B>
  tk.return
}

// Two warps: each scans its part, and adds the totals of those before.
// CHECK-LABEL: tk.kernel @scan_of_warps(
// CHECK: %[[S:.*]], %[[T:.*]] = tkg.scan %{{.*}} axis 0
// CHECK: %[[M:.*]] = tkg.alloc : <2xf32>
// CHECK: tkg.buf_store %[[T]], %[[M]]
// CHECK: %[[W:.*]] = tkg.buf_load %[[M]]
// CHECK: tkg.scan_carry %[[S]] totals %[[W]] axis 0
tk.kernel @scan_of_warps(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #A>
  %s = tk.scan %x axis 0 order any : tensor<64xf32, #A> -> tensor<64xf32, #A> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Along a tree.
// CHECK-LABEL: tk.kernel @scan_of_a_tree(
// CHECK: tkg.scan %{{.*}} axis 0 reverse tree
// CHECK: tkg.scan_carry %{{.*}} totals %{{.*}} axis 0 reverse tree
tk.kernel @scan_of_a_tree(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #A>
  %s = tk.scan %x axis 0 reverse order tree : tensor<64xf32, #A> -> tensor<64xf32, #A> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// One warp, but neighbours are not in one thread: into natural order and back.
// CHECK-LABEL: tk.kernel @scan_in_order(
// CHECK: tkg.convert %{{.*}} how "shuffle" {{.*}} -> tensor<64xf32, #tkg.layout<"register={{\[\[}}1]], lane={{\[\[}}2],[4],[8],[16],[32]], warp={{\[\[}}0]]">>
// CHECK: %[[R:.*]] = tkg.scan %{{.*}} axis 0 reverse
// CHECK: tkg.convert %[[R]] how "shuffle" {{.*}} -> tensor<64xf32, #tkg.layout<"register={{\[\[}}32]],
tk.kernel @scan_in_order(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #one>
  %s = tk.scan %x axis 0 reverse order any : tensor<64xf32, #one> -> tensor<64xf32, #one> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tk.yield %c : f32
  }
  tk.return
}

// Rows of a power of two, of which the first are read.
// CHECK-LABEL: tk.kernel @sort(
// CHECK: %[[K:.*]] = tkg.alloc : <1x64xf32>
// CHECK: %[[I:.*]] = tkg.alloc : <1x64xi32>
// CHECK: tkg.buf_sort %[[K]], %[[I]] side 64 descending
// CHECK: tkg.buf_view %[[K]] offset 0 : <1x64xf32> -> <8xf32>
// CHECK: tkg.buf_view %[[I]] offset 0 : <1x64xi32> -> <8xi32>
tk.kernel @sort(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1.0> : tensor<64xf32, #A>
  %v, %i = tk.sort %x axis 0 descending : tensor<64xf32, #A> -> tensor<8xf32, #B>, tensor<8xi32, #B>
  tk.return
}

// CHECK-LABEL: tk.kernel @histogram(
// CHECK: %[[C:.*]] = tkg.alloc : <8xi32>
// CHECK: tkg.buf_store %{{.*}}, %[[C]]
// CHECK: tkg.buf_count %{{.*}}, %[[C]]
// CHECK: tkg.buf_load %[[C]]
tk.kernel @histogram(%n: i64) attributes {contract = #contract} {
  %x = arith.constant dense<1> : tensor<64xi32, #A>
  %h = tk.histogram %x : tensor<64xi32, #A> -> tensor<8xi32, #B>
  tk.return
}
