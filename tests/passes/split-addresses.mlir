// RUN: tk-opt %s --tk-split-addresses | FileCheck %s

// As the head of SplitAddresses.cpp has it:
//   %i = addi (splat %s : i64), (extsi (arange 0 : tensor<1024xi32>))
//   %m = cmpi slt, %i, (splat %n : i64)
// becomes
//   %b = trunci (min (max (subi %n, %s), 0), 1024) : i32
//   %m = cmpi slt, (arange 0), (splat %b)
// Clamping the bound to what the lanes can tell apart changes no outcome; the constants say how far.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "y", kind = "pointer", dtype = "f32", access = "out", align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = ["n", 1, 1], require = [], disjoint = [["y", "x"]], options = {}}>

// `s + lanes < n` with lanes in [0, 1023]: n - s is clamped to [0, 1024].
// CHECK-LABEL: tk.kernel @below(
// CHECK-SAME:    %[[N:[^:]*]]: i64)
// CHECK:         %[[S:.*]] = arith.muli
// CHECK:         %[[LANES:.*]] = tk.arange 0
// CHECK:         %[[DIFF:.*]] = arith.subi %{{.*}}, %[[S]] : i64
// CHECK:         %[[LOW:.*]] = arith.constant 0 : i64
// CHECK:         %[[MAX:.*]] = tk.max %[[DIFF]], %[[LOW]]
// CHECK:         %[[HIGH:.*]] = arith.constant 1024 : i64
// CHECK:         %[[MIN:.*]] = tk.min %[[MAX]], %[[HIGH]]
// CHECK:         %[[NARROW:.*]] = arith.trunci %[[MIN]] : i64 to i32
// CHECK:         %[[BOUND:.*]] = tk.splat %[[NARROW]]
// CHECK:         arith.cmpi slt, %[[LANES]], %[[BOUND]] : tensor<1024xi32>
// CHECK-NOT:     arith.cmpi {{.*}}xi64>
tk.kernel @below(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c1024 = arith.constant 1024 : i64
  %pid = tk.program_id 0
  %s = arith.muli %pid, %c1024 : i64
  %lanes = tk.arange 0 : tensor<1024xi32>
  %wide = arith.extsi %lanes : tensor<1024xi32> to tensor<1024xi64>
  %start = tk.splat %s : i64 -> tensor<1024xi64>
  %i = arith.addi %start, %wide : tensor<1024xi64>
  %end = tk.splat %n : i64 -> tensor<1024xi64>
  %m = arith.cmpi slt, %i, %end : tensor<1024xi64>
  tk.return
}

// Each predicate has clamps of its own. Lanes are [5, 12] here; `sge` is the negation of `slt` and
// `sgt` that of `sle`, equality needs one value more at both ends.
// CHECK-LABEL: tk.kernel @each_predicate(
// CHECK:         arith.constant 5 : i64
// CHECK:         arith.constant 13 : i64
// CHECK:         arith.cmpi slt, {{.*}} : tensor<8xi32>
// CHECK:         arith.constant 4 : i64
// CHECK:         arith.constant 12 : i64
// CHECK:         arith.cmpi sle, {{.*}} : tensor<8xi32>
// CHECK:         arith.constant 4 : i64
// CHECK:         arith.constant 12 : i64
// CHECK:         arith.cmpi sgt, {{.*}} : tensor<8xi32>
// CHECK:         arith.constant 5 : i64
// CHECK:         arith.constant 13 : i64
// CHECK:         arith.cmpi sge, {{.*}} : tensor<8xi32>
// CHECK:         arith.constant 4 : i64
// CHECK:         arith.constant 13 : i64
// CHECK:         arith.cmpi eq, {{.*}} : tensor<8xi32>
// CHECK:         arith.constant 4 : i64
// CHECK:         arith.constant 13 : i64
// CHECK:         arith.cmpi ne, {{.*}} : tensor<8xi32>
tk.kernel @each_predicate(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %lanes = tk.arange 5 : tensor<8xi32>
  %i = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %end = tk.splat %n : i64 -> tensor<8xi64>
  %0 = arith.cmpi slt, %i, %end : tensor<8xi64>
  %1 = arith.cmpi sle, %i, %end : tensor<8xi64>
  %2 = arith.cmpi sgt, %i, %end : tensor<8xi64>
  %3 = arith.cmpi sge, %i, %end : tensor<8xi64>
  %4 = arith.cmpi eq, %i, %end : tensor<8xi64>
  %5 = arith.cmpi ne, %i, %end : tensor<8xi64>
  tk.return
}

// The uniform side may stand on the left: `n > lanes` is `lanes < n`, with the clamps of `slt`.
// CHECK-LABEL: tk.kernel @uniform_on_the_left(
// CHECK:         %[[LANES:.*]] = tk.arange 0
// CHECK:         arith.constant 0 : i64
// CHECK:         arith.constant 8 : i64
// CHECK:         arith.cmpi slt, %[[LANES]], %{{.*}} : tensor<8xi32>
// CHECK:         arith.constant -1 : i64
// CHECK:         arith.constant 7 : i64
// CHECK:         arith.cmpi sgt, %[[LANES]], %{{.*}} : tensor<8xi32>
tk.kernel @uniform_on_the_left(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %lanes = tk.arange 0 : tensor<8xi32>
  %i = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %end = tk.splat %n : i64 -> tensor<8xi64>
  %0 = arith.cmpi sgt, %end, %i : tensor<8xi64>
  %1 = arith.cmpi slt, %end, %i : tensor<8xi64>
  tk.return
}

// Lanes on both sides: their difference is compared.
// CHECK-LABEL: tk.kernel @lanes_on_both_sides(
// CHECK:         %[[A:.*]] = tk.arange 0
// CHECK:         %[[B:.*]] = tk.arange 4
// CHECK:         %[[DIFF:.*]] = arith.subi %[[A]], %[[B]] : tensor<8xi32>
// CHECK:         arith.cmpi slt, %[[DIFF]], %{{.*}} : tensor<8xi32>
tk.kernel @lanes_on_both_sides(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %0 = tk.arange 0 : tensor<8xi32>
  %1 = tk.arange 4 : tensor<8xi32>
  %a = arith.extsi %0 : tensor<8xi32> to tensor<8xi64>
  %b = arith.extsi %1 : tensor<8xi32> to tensor<8xi64>
  %m = arith.cmpi slt, %a, %b : tensor<8xi64>
  tk.return
}

// `n + lanes` may wrap in 64 bits when nothing is known of n: then the comparison stays as it is,
// on either side. Unsigned comparisons do not shift at all.
// CHECK-LABEL: tk.kernel @what_may_wrap_stays(
// CHECK:         arith.cmpi slt, {{.*}} : tensor<8xi64>
// CHECK:         arith.cmpi slt, {{.*}} : tensor<8xi64>
// CHECK:         arith.cmpi ult, {{.*}} : tensor<8xi64>
// CHECK:         tk.return
tk.kernel @what_may_wrap_stays(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %lanes = tk.arange 0 : tensor<8xi32>
  %i = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %start = tk.splat %n : i64 -> tensor<8xi64>
  %sum = arith.addi %start, %i : tensor<8xi64>
  %0 = arith.cmpi slt, %sum, %start : tensor<8xi64>
  %1 = arith.cmpi slt, %i, %sum : tensor<8xi64>
  %2 = arith.cmpi ult, %i, %start : tensor<8xi64>
  tk.return
}

// A change of relaxed order whose result nobody wants gets a base and offsets; of another order, or with a result, none.
// CHECK-LABEL: tk.kernel @changes(
// CHECK:         tkg.atomic_rmw add %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} : tensor<1024xi1> scope sys :
// CHECK-NEXT:    tkg.atomic_rmw max %{{.*}}, %{{.*}}[%{{.*}}] unsigned scope gpu :
// CHECK:         tk.atomic_rmw add {{.*}} order acq_rel
// CHECK:         %[[OLD:.*]] = tk.atomic_rmw add {{.*}} order relaxed
// CHECK:         tkg.store %[[OLD]]
tk.kernel @changes(%x: !tk.ptr<i32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %lanes = tk.arange 0 : tensor<1024xi32>
  %v = arith.constant dense<1.0> : tensor<1024xf32>
  %m = arith.constant dense<true> : tensor<1024xi1>
  %s = tk.splat %y : !tk.ptr<f32, 1> -> tensor<1024x!tk.ptr<f32, 1>>
  %p = tk.ptr_add %s, %lanes : tensor<1024x!tk.ptr<f32, 1>>, tensor<1024xi32>
  %t = tk.splat %x : !tk.ptr<i32, 0> -> tensor<1024x!tk.ptr<i32, 0>>
  %q = tk.ptr_add %t, %lanes : tensor<1024x!tk.ptr<i32, 0>>, tensor<1024xi32>
  %0 = tk.atomic_rmw add %v, %p mask %m : tensor<1024xi1> order relaxed scope sys : tensor<1024xf32>, tensor<1024x!tk.ptr<f32, 1>>
  %1 = tk.atomic_rmw max %lanes, %q unsigned order relaxed scope gpu : tensor<1024xi32>, tensor<1024x!tk.ptr<i32, 0>>
  %2 = tk.atomic_rmw add %v, %p order acq_rel scope gpu : tensor<1024xf32>, tensor<1024x!tk.ptr<f32, 1>>
  %3 = tk.atomic_rmw add %v, %p order relaxed scope gpu : tensor<1024xf32>, tensor<1024x!tk.ptr<f32, 1>>
  tk.store %3, %p : tensor<1024xf32>, tensor<1024x!tk.ptr<f32, 1>>
  tk.return
}
