// RUN: tk-opt %s --tk-lower-places | FileCheck %s

// x: f32[N, 64] in, y: f32[N] out, p: *f32 in.
#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N", 64], strides = ["x.s0", 1], align = 4},
            {name = "y", kind = "tensor", dtype = "f32", access = "out", extents = ["N"], strides = [1], align = 4},
            {name = "p", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "lo", kind = "scalar", dtype = "i64"}, {name = "hi", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["y", "x"]], options = {}}>

module attributes {tk.phase = "Canonical"} {

// A part begins at the lower bound, as far as the tensor has it, and has extents of its own; an axis
// that it keeps whole needs no mask. Its memory is the tensor's, which nobody writes.
// CHECK-LABEL: tk.kernel @part(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 2, 0>, %{{.*}}: !tk.view<f32, 1, 1>, %{{.*}}: !tk.ptr<f32, 2>, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK:         %[[N:.*]] = tk.extent %[[X]], 0
// CHECK:         %[[ABOVE:.*]] = tk.max %[[LO]], %c0{{.*}} : i64
// CHECK:         %[[BEGIN:.*]] = tk.min %[[ABOVE]], %[[N]] : i64
// CHECK:         %[[BELOW:.*]] = tk.min %[[HI]], %[[N]] : i64
// CHECK:         %[[END:.*]] = tk.max %[[BELOW]], %[[BEGIN]] : i64
// CHECK:         %[[M:.*]] = arith.subi %[[END]], %[[BEGIN]] : i64
// CHECK:         %[[S:.*]] = tk.stride %[[X]], 0
// CHECK:         %[[FIRST:.*]] = arith.muli %[[BEGIN]], %[[S]] : i64
// CHECK:         arith.subi %[[M]], %{{.*}} : i64
// CHECK:         arith.cmpi slt, {{.*}} : tensor<4xi32>
// CHECK-NOT:     arith.cmpi {{.*}} : tensor<64xi32>
// CHECK:         arith.addi %[[FIRST]], %{{.*}} : i64
// CHECK:         tkg.load {{.*}} readonly
// CHECK:         arith.addi %[[M]], %[[LO]]
// CHECK-NOT:     tk.subview
tk.kernel @part(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %s = tk.subview %x low [%lo, %c0] high [%hi, %c64] drop [false, false] : !tk.view<f32, 2, 0> -> !tk.view<f32, 2, 0>
  %v = tk.read %s[%c0, %c0] widths [4, 64] : !tk.view<f32, 2, 0> -> tensor<4x64xf32>
  %m = tk.extent %s, 0 : !tk.view<f32, 2, 0>
  %sum = arith.addi %m, %lo : i64
  tk.return
}

// A part of one element exists or not; what is outside of it is not read.
// CHECK-LABEL: tk.kernel @element(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 2, 0>, {{.*}}, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK:         %[[BELOW:.*]] = arith.cmpi slt, %[[LO]], %{{.*}} : i64
// CHECK:         %[[ABOVE:.*]] = arith.cmpi sge, %[[LO]], %{{.*}} : i64
// CHECK:         %[[ROW:.*]] = arith.andi %[[BELOW]], %[[ABOVE]] : i1
// CHECK:         %[[COLUMN:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
// CHECK:         %[[BOTH:.*]] = arith.andi %[[ROW]], %[[COLUMN]] : i1
// CHECK:         tk.load %{{.*}} mask %[[BOTH]] : i1
tk.kernel @element(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %s = tk.subview %x low [%lo, %hi] high [%lo, %hi] drop [true, true] : !tk.view<f32, 2, 0> -> !tk.view<f32, 0, 0>
  %v = tk.read %s[] widths [] : !tk.view<f32, 0, 0> -> f32
  tk.return
}

// A tensor at an address: extents below zero count as zero, strides of run time give lanes of 64 bits.
// CHECK-LABEL: tk.kernel @address(
// CHECK-SAME:    %[[P:.*]]: !tk.ptr<f32, 2>, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK:         %[[ROWS:.*]] = tk.max %[[LO]], %c0{{.*}} : i64
// CHECK:         %[[STEP:.*]] = tk.splat %[[HI]] : i64 -> tensor<4xi64>
// CHECK:         arith.muli %{{.*}}, %[[STEP]] : tensor<4xi64>
// CHECK:         tkg.load {{.*}} tensor<4xi64> -> tensor<4xf32>
// CHECK:         arith.addi %[[ROWS]], %[[HI]]
// CHECK-NOT:     tk.make_view
tk.kernel @address(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %s = tk.make_view %p extents [%lo] strides [%hi] : !tk.ptr<f32, 2> -> !tk.view<f32, 1, 2>
  %v = tk.read %s[%c0] widths [4] : !tk.view<f32, 1, 2> -> tensor<4xf32>
  %n = tk.extent %s, 0 : !tk.view<f32, 1, 2>
  %t = tk.stride %s, 0 : !tk.view<f32, 1, 2>
  %sum = arith.addi %n, %t : i64
  tk.return
}

// The base of a part is that of the tensor and what lies before the part.
// CHECK-LABEL: tk.kernel @base_of_part(
// CHECK:         %[[ROW:.*]] = arith.muli
// CHECK:         %[[OFFSET:.*]] = arith.addi %[[ROW]]
// CHECK:         %[[BASE:.*]] = tk.base
// CHECK:         %[[P:.*]] = tk.ptr_add %[[BASE]], %[[OFFSET]]
// CHECK:         tk.load %[[P]]
tk.kernel @base_of_part(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %s = tk.subview %x low [%lo, %hi] high [%lo, %hi] drop [true, true] : !tk.view<f32, 2, 0> -> !tk.view<f32, 0, 0>
  %b = tk.base %s : !tk.view<f32, 0, 0> -> !tk.ptr<f32, 0>
  %v = tk.load %b : !tk.ptr<f32, 0> -> f32
  tk.store %v, %p : f32, !tk.ptr<f32, 2>
  tk.return
}

// A tile of indices: each lies within the extent, by one comparison without sign, and makes a pointer.
// CHECK-LABEL: tk.kernel @gather(
// CHECK-SAME:    %[[X:.*]]: !tk.view<f32, 2, 0>
// CHECK:         %[[R:.*]] = tk.cast
// CHECK:         arith.cmpi ult, %[[R]], %{{.*}} : tensor<16xi32>
// CHECK:         %[[WIDE:.*]] = arith.extsi %[[R]] : tensor<16xi32> to tensor<16xi64>
// CHECK:         arith.muli %[[WIDE]], %{{.*}} : tensor<16xi64>
// CHECK:         %[[Q:.*]] = tk.ptr_add {{.*}} : tensor<16x8x!tk.ptr<f32, 0>>, tensor<16x8xi64>
// CHECK:         tk.load %[[Q]] mask %{{.*}} : tensor<16x8xi1>
tk.kernel @gather(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %f = arith.constant dense<3.0> : tensor<16xf32>
  %r = tk.cast %f : tensor<16xf32> -> tensor<16xi32>
  %v = tk.read %x[%r : tensor<16xi32>, %c0] widths [-1, 8] : !tk.view<f32, 2, 0> -> tensor<16x8xf32>
  tk.return
}

// tk.locate gives addresses and which of them there are.
// CHECK-LABEL: tk.kernel @located(
// CHECK:         %[[M:.*]] = arith.cmpi slt, %{{.*}} : tensor<8xi32>
// CHECK:         %[[Q:.*]] = tk.ptr_add {{.*}} : tensor<8x!tk.ptr<f32, 1>>, tensor<8xi64>
// CHECK:         tk.store %{{.*}}, %[[Q]] mask %[[M]]
tk.kernel @located(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %f = arith.constant dense<3.0> : tensor<8xf32>
  %q, %m = tk.locate %y[%c0] widths [8] : !tk.view<f32, 1, 1> -> tensor<8x!tk.ptr<f32, 1>>, tensor<8xi1>
  tk.store %f, %q mask %m : tensor<8xi1> : tensor<8xf32>, tensor<8x!tk.ptr<f32, 1>>
  tk.return
}

// Places of changes that nobody waits for have lane offsets of 32 bits, for which the launch checks the stride; places whose
// pointers go elsewhere have not.
// CHECK-LABEL: tk.kernel @changed(
// CHECK-SAME:    ["le", "x.s0", {{[0-9]+}}], ["ge", "x.s0", -{{[0-9]+}}]
// CHECK:         tk.ptr_add {{.*}}, tensor<8x4xi32>
// CHECK:         tk.atomic_rmw add {{.*}} order relaxed
// CHECK:         tk.ptr_add {{.*}}, tensor<8x4xi64>
// CHECK:         tk.atomic_rmw add {{.*}} order acq_rel
tk.kernel @changed(%x: !tk.view<f32, 2, 0>, %y: !tk.view<f32, 1, 1>, %p: !tk.ptr<f32, 2>, %lo: i64, %hi: i64)
    attributes {contract = #contract, facts = []} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<8x4xf32>
  %q, %m = tk.locate %x[%c0, %c0] widths [8, 4] : !tk.view<f32, 2, 0> -> tensor<8x4x!tk.ptr<f32, 0>>, tensor<8x4xi1>
  %0 = tk.atomic_rmw add %v, %q mask %m : tensor<8x4xi1> order relaxed scope gpu : tensor<8x4xf32>, tensor<8x4x!tk.ptr<f32, 0>>
  %r, %n = tk.locate %x[%c0, %c0] widths [8, 4] : !tk.view<f32, 2, 0> -> tensor<8x4x!tk.ptr<f32, 0>>, tensor<8x4xi1>
  %1 = tk.atomic_rmw add %v, %r mask %n : tensor<8x4xi1> order acq_rel scope gpu : tensor<8x4xf32>, tensor<8x4x!tk.ptr<f32, 0>>
  tk.return
}
}
