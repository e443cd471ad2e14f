// RUN: tk-opt %s --tk-plan-layouts | FileCheck %s

// Which lanes are consecutive, and where their runs begin.

#pointer = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 16}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>

// Lanes that fall are not consecutive.
// CHECK-LABEL: tk.kernel @falling(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @falling(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, facts = [["divides", 16, "x.ptr"]]} {
  %l = tk.arange 0 : tensor<1024xi32>
  %c = arith.constant dense<1024> : tensor<1024xi32>
  %i = arith.subi %c, %l : tensor<1024xi32>
  %v = tkg.load %x[%i] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// The same sum of rising lanes is.
// CHECK-LABEL: tk.kernel @rising(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @rising(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, facts = [["divides", 16, "x.ptr"]]} {
  %l = tk.arange 0 : tensor<1024xi32>
  %c = arith.constant dense<1024> : tensor<1024xi32>
  %i = arith.addi %c, %l : tensor<1024xi32>
  %v = tkg.load %x[%i] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}

// Rows that begin one after the other: each is a run, and begins anywhere.
// CHECK-LABEL: tk.kernel @rows_at_every_element(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @rows_at_every_element(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, facts = [["divides", 16, "x.ptr"]]} {
  %l = tk.arange 0 : tensor<16xi32>
  %r = tk.expand_dims %l, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %rows = tk.broadcast %r : tensor<16x1xi32> -> tensor<16x16xi32>
  %c = tk.expand_dims %l, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tk.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %i = arith.addi %rows, %columns : tensor<16x16xi32>
  %v = tkg.load %x[%i] : !tk.ptr<f32, 0>, tensor<16x16xi32> -> tensor<16x16xf32>
  tk.return
}

// Rows that begin at multiples of 16: vectors of four.
// CHECK-LABEL: tk.kernel @rows_at_multiples(
// CHECK:         tkg.load {{.*}}vector = 4 : i64
tk.kernel @rows_at_multiples(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, facts = [["divides", 16, "x.ptr"]]} {
  %l = tk.arange 0 : tensor<16xi32>
  %side = arith.constant dense<16> : tensor<16xi32>
  %s = arith.muli %l, %side : tensor<16xi32>
  %r = tk.expand_dims %s, 1 : tensor<16xi32> -> tensor<16x1xi32>
  %rows = tk.broadcast %r : tensor<16x1xi32> -> tensor<16x16xi32>
  %c = tk.expand_dims %l, 0 : tensor<16xi32> -> tensor<1x16xi32>
  %columns = tk.broadcast %c : tensor<1x16xi32> -> tensor<16x16xi32>
  %i = arith.addi %rows, %columns : tensor<16x16xi32>
  %v = tkg.load %x[%i] : !tk.ptr<f32, 0>, tensor<16x16xi32> -> tensor<16x16xf32>
  tk.return
}

// Neither are lanes twice over: they rise by two.
// CHECK-LABEL: tk.kernel @doubled(
// CHECK:         tkg.load
// CHECK-NOT:     vector =
tk.kernel @doubled(%x: !tk.ptr<f32, 0>) attributes {contract = #pointer, facts = [["divides", 16, "x.ptr"]]} {
  %l = tk.arange 0 : tensor<1024xi32>
  %k = tk.arange 4 : tensor<1024xi32>
  %i = arith.addi %l, %k : tensor<1024xi32>
  %v = tkg.load %x[%i] : !tk.ptr<f32, 0>, tensor<1024xi32> -> tensor<1024xf32>
  tk.return
}
