// RUN: tk-opt %s --tk-plan-layouts | FileCheck %s

// What keeps an access of f32 at its full 128 bits, and what makes it narrower (contiguity, alignment
// and constancy of masks).

#f32 = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 1}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>

#hinted = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 1},
            {name = "i", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#offsets = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "tensor", dtype = "f32", access = "in", extents = ["N"], strides = [1], align = 1},
            {name = "o", kind = "tensor", dtype = "i32", access = "in", extents = ["M"], strides = [1], align = 4}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>

// An address at 8 bytes allows 8 bytes.
// CHECK-LABEL: tk.kernel @address_known_to_half(
// CHECK:         tkg.load {{.*}}vector = 2 : i64
tk.kernel @address_known_to_half(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 8, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// Without facts an element at a time.
// CHECK-LABEL: tk.kernel @no_facts(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @no_facts(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// A vector must not cross the end of the tile: 1000 is a multiple of 8, which serves four.
// CHECK-LABEL: tk.kernel @side_1000(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @side_1000(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1000xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1000xi32> -> tensor<1000xf32>
  tk.return
}

// 1001 is odd.
// CHECK-LABEL: tk.kernel @side_1001(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @side_1001(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1001xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1001xi32> -> tensor<1001xf32>
  tk.return
}

// Lanes that begin at 2 are consecutive, but aligned to two only.
// CHECK-LABEL: tk.kernel @range_from_an_odd_start(
// CHECK:         tkg.load {{.*}}vector = 2 : i64
tk.kernel @range_from_an_odd_start(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 2 : tensor<1024xi32>
  %v = tkg.load %p[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// `lanes < N` is constant over four lanes when four divides N.
// CHECK-LABEL: tk.kernel @mask_of_a_multiple(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @mask_of_a_multiple(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"], ["divides", 4, "N"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %n = tk.extent %x, 0 : !tk.view<f32, 1, 0>
  %t = arith.trunci %n : i64 to i32
  %s = tk.splat %t : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %l, %s : tensor<1024xi32>
  %v = tkg.load %p[%l] mask %m : tensor<1024xi1> : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// When N may be odd the mask changes within a vector.
// CHECK-LABEL: tk.kernel @mask_of_any_extent(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @mask_of_any_extent(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %n = tk.extent %x, 0 : !tk.view<f32, 1, 0>
  %t = arith.trunci %n : i64 to i32
  %s = tk.splat %t : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %l, %s : tensor<1024xi32>
  %v = tkg.load %p[%l] mask %m : tensor<1024xi1> : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// `lanes <= N` changes after N, in the middle of a vector.
// CHECK-LABEL: tk.kernel @mask_up_to_and_with(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @mask_up_to_and_with(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"], ["divides", 4, "N"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %n = tk.extent %x, 0 : !tk.view<f32, 1, 0>
  %t = arith.trunci %n : i64 to i32
  %s = tk.splat %t : i32 -> tensor<1024xi32>
  %m = arith.cmpi sle, %l, %s : tensor<1024xi32>
  %v = tkg.load %p[%l] mask %m : tensor<1024xi1> : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// A start that four divides keeps the vector, any other loses it.
// CHECK-LABEL: tk.kernel @start_on_a_program(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @start_on_a_program(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %c = arith.constant 4 : i64
  %pid = tk.program_id 0
  %i = arith.muli %pid, %c : i64
  %q = tk.ptr_add %p, %i : !tk.ptr<f32, 0>, i64
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %q[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// CHECK-LABEL: tk.kernel @start_on_any_program(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @start_on_any_program(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %pid = tk.program_id 0
  %q = tk.ptr_add %p, %pid : !tk.ptr<f32, 0>, i64
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %q[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// Offsets that are not consecutive.
// CHECK-LABEL: tk.kernel @every_second_element(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @every_second_element(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<1024xi32>
  %two = arith.constant dense<2> : tensor<1024xi32>
  %o = arith.muli %l, %two : tensor<1024xi32>
  %v = tkg.load %p[%o] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// Rows at a stride that four divides, wide offsets included.
// CHECK-LABEL: tk.kernel @rows_at_a_multiple(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @rows_at_a_multiple(%x: !tk.view<f32, 1, 0>) attributes {contract = #f32, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %l = tk.arange 0 : tensor<64xi32>
  %w = arith.extsi %l : tensor<64xi32> to tensor<64xi64>
  %e = tk.expand_dims %w, 0 : tensor<64xi64> -> tensor<1x64xi64>
  %c = tk.broadcast %e : tensor<1x64xi64> -> tensor<16x64xi64>
  %r = tk.arange 0 : tensor<16xi32>
  %rw = arith.extsi %r : tensor<16xi32> to tensor<16xi64>
  %s = arith.constant dense<100> : tensor<16xi64>
  %rs = arith.muli %rw, %s : tensor<16xi64>
  %re = tk.expand_dims %rs, 1 : tensor<16xi64> -> tensor<16x1xi64>
  %rb = tk.broadcast %re : tensor<16x1xi64> -> tensor<16x64xi64>
  %o = arith.addi %rb, %c : tensor<16x64xi64>
  %v = tkg.load %p[%o] : !tk.ptr<f32, 0>, tensor<16x64xi64> -> tensor<16x64xf32>
  tk.return
}

// A promise about a scalar that nobody knows anything of: 16 bytes from a multiple of four elements.
// CHECK-LABEL: tk.kernel @promised_multiple(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @promised_multiple(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #hinted, facts = [["divides", 16, "x.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %h = tk.hint %i multiple_of [4] contiguous [1] constant [1] : i64
  %q = tk.ptr_add %p, %h : !tk.ptr<f32, 0>, i64
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %q[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// So does a condition that is assumed.
// CHECK-LABEL: tk.kernel @assumed_multiple(
// CHECK:         tkg.load {{.*}}vector = 2 : i64
tk.kernel @assumed_multiple(%x: !tk.view<f32, 1, 0>, %i: i64) attributes {contract = #hinted, facts = [["divides", 16, "x.ptr"]]} {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %r = tk.rem %i, %c2 : i64
  %even = arith.cmpi eq, %r, %c0 : i64
  tk.assume %even
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %q = tk.ptr_add %p, %i : !tk.ptr<f32, 0>, i64
  %l = tk.arange 0 : tensor<1024xi32>
  %v = tkg.load %q[%l] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// Offsets that are promised to count up in blocks of 12 do so in blocks of 4, from multiples of 4.
// CHECK-LABEL: tk.kernel @promised_blocks(
// CHECK:         tkg.load {{.*}}vector = 4 : i64{{.*}} -> tensor<768xi32>
// CHECK:         tkg.load {{.*}}vector = 4 : i64{{.*}} -> tensor<768xf32>
tk.kernel @promised_blocks(%x: !tk.view<f32, 1, 0>, %o: !tk.view<i32, 1, 1>) attributes {contract = #offsets, facts = [["divides", 16, "x.ptr"], ["divides", 16, "o.ptr"]]} {
  %p = tk.base %x : !tk.view<f32, 1, 0> -> !tk.ptr<f32, 0>
  %q = tk.base %o : !tk.view<i32, 1, 1> -> !tk.ptr<i32, 1>
  %l = tk.arange 0 : tensor<768xi32>
  %i = tkg.load %q[%l] : !tk.ptr<i32, 1>, tensor<768xi32> -> tensor<768xi32>
  %h = tk.hint %i multiple_of [8] contiguous [12] constant [1] : tensor<768xi32>
  %v = tkg.load %p[%h] : !tk.ptr<f32, 0>, tensor<768xi32> -> tensor<768xf32>
  tk.return
}
