// RUN: tk-opt %s --canonicalize --cse | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 4}}>

// A range stays one operation: its elements are never listed.
// CHECK-LABEL: tk.kernel @range
// CHECK:         tk.arange 0 : tensor<8xi32>
// CHECK-NOT:     dense<
tk.kernel @range() attributes {contract = #contract} {
  %q = builtin.unrealized_conversion_cast to tensor<8x!tk.ptr<i32, 0>>
  %t = tk.arange 0 : tensor<8xi32>
  tk.store %t, %q : tensor<8xi32>, tensor<8x!tk.ptr<i32, 0>>
  tk.return
}

// Two reads are one when nothing is written between them, and two when something is.
// CHECK-LABEL: tk.kernel @reads
// CHECK:         %[[A:.*]] = tk.read
// CHECK-NEXT:    tk.write %[[A]]
// CHECK-NEXT:    %[[C:.*]] = tk.read
// CHECK-NEXT:    tk.write %[[C]]
tk.kernel @reads() attributes {contract = #contract} {
  %x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
  %i = arith.constant 0 : i64
  %a = tk.read %x[%i] widths [8] : !tk.view<f32, 1, 0> -> tensor<8xf32>
  %b = tk.read %x[%i] widths [8] : !tk.view<f32, 1, 0> -> tensor<8xf32>
  tk.write %b, %x[%i] widths [8] : tensor<8xf32>, !tk.view<f32, 1, 0>
  %c = tk.read %x[%i] widths [8] : !tk.view<f32, 1, 0> -> tensor<8xf32>
  tk.write %c, %x[%i] widths [8] : tensor<8xf32>, !tk.view<f32, 1, 0>
  tk.return
}

// A loop whose trip count is not known is not deleted, its stores stay.
// CHECK-LABEL: tk.kernel @loop
// CHECK:         scf.for
// CHECK:           tk.write
tk.kernel @loop() attributes {contract = #contract} {
  %x = builtin.unrealized_conversion_cast to !tk.view<f32, 1, 0>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %f = arith.constant 2.0 : f32
  %n = tk.extent %x, 0 : !tk.view<f32, 1, 0>
  scf.for %i = %zero to %n step %one : i64 {
    tk.write %f, %x[%i] widths [0] : f32, !tk.view<f32, 1, 0>
  }
  tk.return
}
