// RUN: tk-opt %s --tk-lower-places | FileCheck %s

// As the head of LowerPlaces.cpp has it:
//   %v = tk.read %x[%i] widths [1024] : !tk.view<f32, 1, 0> -> tensor<1024xf32>
// becomes
//   %b = tk.base %x, %p = tk.ptr_add %b, %i, %l = tk.arange 0
//   %n = min(max(extent - %i, 0), 1024) as i32, %m = %l < splat(%n)
//   %v = tkg.load %p[%l] mask %m

// x: f32[N] in, y: f32[N] out, z: f32[100] out; grid N.
#lines = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1], align = 4},
            {name = "z", kind = "tensor", dtype = "f32", access = "out", extents = [100], strides = [1], align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = ["N", 1, 1], require = [], disjoint = [["y", "x"]], options = {}}>

module attributes {tk.phase = "Canonical"} {

// A start of program_id times a width is not negative, so only the end is checked, in 32 bits; the
// memory of an `in` tensor is read-only.
// CHECK-LABEL: tk.kernel @mask_at_the_end(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 1, 0>,
// CHECK:         %[[I:.*]] = arith.muli
// CHECK:         %[[EXTENT:.*]] = tk.extent %[[X]], 0
// CHECK:         %[[REST:.*]] = arith.subi %[[EXTENT]], %[[I]] : i64
// CHECK:         %[[LOW:.*]] = tk.max %[[REST]], %c0{{.*}} : i64
// CHECK:         %[[BOUND:.*]] = tk.min %[[LOW]], %c1024{{.*}} : i64
// CHECK:         %[[LANES:.*]] = tk.arange 0 : tensor<1024xi32>
// CHECK:         %[[NARROW:.*]] = arith.trunci %[[BOUND]] : i64 to i32
// CHECK:         %[[SPLAT:.*]] = tk.splat %[[NARROW]]
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %[[LANES]], %[[SPLAT]] : tensor<1024xi32>
// CHECK-NOT:     arith.cmpi
// CHECK:         %[[OFFSET:.*]] = arith.muli %[[I]], %c1{{.*}} : i64
// CHECK:         %[[BASE:.*]] = tk.base %[[X]]
// CHECK:         %[[P:.*]] = tk.ptr_add %[[BASE]], %[[OFFSET]]
// CHECK:         tkg.load %[[P]][%{{.*}}] mask %[[MASK]] : tensor<1024xi1> readonly
// CHECK-NOT:     tk.read
tk.kernel @mask_at_the_end(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c1024 = arith.constant 1024 : i64
  %pid = tk.program_id 0
  %i = arith.muli %pid, %c1024 : i64
  %v = tk.read %x[%i] widths [1024] : !tk.view<f32, 1, 0> -> tensor<1024xf32>
  tk.return
}

// Views with an extent of the same name read it from the first one, so that CSE can share the mask;
// what an `out` tensor is read through would not be read-only.
// CHECK-LABEL: tk.kernel @one_extent_for_two_views(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 1, 0>, %[[Y:.*]]: !tk.view<f32, 1, 1>,
// CHECK-NOT:     tk.extent %[[Y]]
// CHECK:         tk.extent %[[X]], 0
// CHECK:         tkg.load {{.*}} readonly
// CHECK-NOT:     tk.extent %[[Y]]
// CHECK:         tk.extent %[[X]], 0
// CHECK-NOT:     readonly
// CHECK:         tkg.store
// CHECK-NOT:     tk.write
tk.kernel @one_extent_for_two_views(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c0 = arith.constant 0 : i64
  %v = tk.read %x[%c0] widths [64] : !tk.view<f32, 1, 0> -> tensor<64xf32>
  tk.write %v, %y[%c0] widths [64] : tensor<64xf32>, !tk.view<f32, 1, 1>
  tk.return
}

// A static extent that holds the slice needs no mask.
// CHECK-LABEL: tk.kernel @static_extent_holds(
// CHECK-NOT:     arith.cmpi
// CHECK-NOT:     mask
// CHECK:         tkg.store
// CHECK:         tk.return
tk.kernel @static_extent_holds(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c36 = arith.constant 36 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32>
  tk.write %v, %z[%c36] widths [64] : tensor<64xf32>, !tk.view<f32, 1, 2>
  tk.return
}

// One element more than a static extent has: the mask is there.
// CHECK-LABEL: tk.kernel @static_extent_passed_by_one(
// CHECK:         %[[MASK:.*]] = arith.cmpi slt
// CHECK:         tkg.store {{.*}} mask %[[MASK]]
tk.kernel @static_extent_passed_by_one(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c37 = arith.constant 37 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32>
  tk.write %v, %z[%c37] widths [64] : tensor<64xf32>, !tk.view<f32, 1, 2>
  tk.return
}

// A start that may be negative is checked at both ends; within 2^60 it needs no clamp before the
// subtraction from the extent.
// CHECK-LABEL: tk.kernel @negative_start(
// CHECK-NOT:     1152921504606846976
// CHECK:         %[[UPPER:.*]] = arith.cmpi slt, %{{.*}} : tensor<128xi32>
// CHECK:         tk.max %{{.*}}, %c-128{{.*}} : i64
// CHECK:         %[[LOWER:.*]] = arith.cmpi sge, %{{.*}} : tensor<128xi32>
// CHECK:         %[[MASK:.*]] = arith.andi %[[UPPER]], %[[LOWER]]
// CHECK:         tkg.load {{.*}} mask %[[MASK]]
tk.kernel @negative_start(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c1 = arith.constant 1 : i64
  %pid = tk.program_id 0
  %i = arith.subi %pid, %c1 : i64
  %v = tk.read %x[%i] widths [128] : !tk.view<f32, 1, 0> -> tensor<128xf32>
  tk.return
}

// A start of which nothing is known is clamped to 2^60 in magnitude first.
// CHECK-LABEL: tk.kernel @unbounded_start(
// CHECK-SAME:    %[[N:[^:]*]]: i64)
// CHECK:         %[[TOP:.*]] = arith.constant 1152921504606846976 : i64
// CHECK:         %[[BELOW:.*]] = tk.min %[[N]], %[[TOP]]
// CHECK:         %[[BOTTOM:.*]] = arith.constant -1152921504606846976 : i64
// CHECK:         %[[SAFE:.*]] = tk.max %[[BELOW]], %[[BOTTOM]]
// CHECK:         arith.subi %{{.*}}, %[[SAFE]]
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi sge
tk.kernel @unbounded_start(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %v = tk.read %x[%n] widths [128] : !tk.view<f32, 1, 0> -> tensor<128xf32>
  tk.return
}

// The user's mask and the bounds hold together, and `fill` goes along.
// CHECK-LABEL: tk.kernel @mask_of_the_user(
// CHECK:         %[[OWN:.*]] = arith.constant dense<true>
// CHECK:         %[[BOUNDS:.*]] = arith.cmpi slt
// CHECK:         %[[BOTH:.*]] = arith.andi %[[OWN]], %[[BOUNDS]]
// CHECK:         tkg.load {{.*}} mask %[[BOTH]] : tensor<128xi1> fill %{{.*}} : f32
tk.kernel @mask_of_the_user(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %c0 = arith.constant 0 : i64
  %f = arith.constant 0xFF800000 : f32
  %m = arith.constant dense<true> : tensor<128xi1>
  %v = tk.read %x[%c0] widths [128] mask %m : tensor<128xi1> fill %f : f32 : !tk.view<f32, 1, 0> -> tensor<128xf32>
  tk.return
}

// A scalar place whose index the grid bounds is a plain load; any other index is checked as a scalar.
// CHECK-LABEL: tk.kernel @scalar_place(
// CHECK-SAME:    %[[N:[^:]*]]: i64)
// CHECK-NOT:     arith.cmpi
// CHECK:         tk.load %{{.*}} : !tk.ptr<f32, 0> -> f32
// CHECK:         %[[FIRST:.*]] = arith.cmpi sge, %[[N]]
// CHECK:         %[[LAST:.*]] = arith.cmpi slt, %[[N]]
// CHECK:         %[[IN:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK:         tk.store %{{.*}}, %{{.*}} mask %[[IN]] : i1
tk.kernel @scalar_place(%x: !tk.view<f32, 1, 0>, %y: !tk.view<f32, 1, 1>, %z: !tk.view<f32, 1, 2>, %n: i64)
    attributes {contract = #lines} {
  %pid = tk.program_id 0
  %v = tk.read %x[%pid] widths [0] : !tk.view<f32, 1, 0> -> f32
  tk.write %v, %y[%n] widths [0] : f32, !tk.view<f32, 1, 1>
  tk.return
}
}
