// RUN: tk-opt %s --tk-split-addresses | FileCheck %s
// RUN: tk-opt %s --tk-split-addresses --verify-diagnostics -o /dev/null

// Accesses through tiles of pointers.

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "in", align = 4},
            {name = "y", kind = "pointer", dtype = "f32", access = "out", align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = ["n", 1, 1], require = [], disjoint = [["y", "x"]], options = {}}>

// A base plus a uniform part is the base, the lanes are the offset; `in` memory is read-only.
// CHECK-LABEL: tk.kernel @base_and_lanes(
// CHECK-SAME:    %[[X:.*]]: !tk.ptr<f32, 0>, %[[Y:.*]]: !tk.ptr<f32, 1>,
// CHECK:         %[[S:.*]] = arith.muli
// CHECK:         %[[LANES:.*]] = tk.arange 0
// CHECK:         %[[FROM:.*]] = tk.ptr_add %[[X]], %[[S]] : !tk.ptr<f32, 0>, i64
// CHECK:         tkg.load %[[FROM]][%[[LANES]]] readonly
// CHECK:         %[[TO:.*]] = tk.ptr_add %[[Y]], %[[S]] : !tk.ptr<f32, 1>, i64
// CHECK:         tkg.store %{{.*}}, %[[TO]][%[[LANES]]]
// CHECK-NOT:     {{tk.load|tk.store}}
tk.kernel @base_and_lanes(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c8 = arith.constant 8 : i64
  %pid = tk.program_id 0
  %s = arith.muli %pid, %c8 : i64
  %lanes = tk.arange 0 : tensor<8xi32>
  %wide = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %start = tk.splat %s : i64 -> tensor<8xi64>
  %i = arith.addi %start, %wide : tensor<8xi64>
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  %px = tk.ptr_add %xs, %i : tensor<8x!tk.ptr<f32, 0>>, tensor<8xi64>
  %v = tk.load %px : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  %ys = tk.splat %y : !tk.ptr<f32, 1> -> tensor<8x!tk.ptr<f32, 1>>
  %py = tk.ptr_add %ys, %i : tensor<8x!tk.ptr<f32, 1>>, tensor<8xi64>
  tk.store %v, %py : tensor<8xf32>, tensor<8x!tk.ptr<f32, 1>>
  tk.return
}

// A column of pointers: the product of a small known factor and lanes is a 32-bit product.
// CHECK-LABEL: tk.kernel @product_with_a_constant(
// CHECK:         %[[LANES:.*]] = tk.arange 0
// CHECK:         %[[OFFSET:.*]] = arith.muli %[[LANES]], %{{.*}} : tensor<8xi32>
// CHECK:         tkg.load %{{.*}}[%[[OFFSET]]]
tk.kernel @product_with_a_constant(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %lanes = tk.arange 0 : tensor<8xi32>
  %wide = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %c = arith.constant dense<100> : tensor<8xi64>
  %i = arith.muli %wide, %c : tensor<8xi64>
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  %px = tk.ptr_add %xs, %i : tensor<8x!tk.ptr<f32, 0>>, tensor<8xi64>
  %v = tk.load %px : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  tk.return
}

// One address for all lanes: the offset is zero.
// CHECK-LABEL: tk.kernel @the_same_address(
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0> : tensor<8xi32>
// CHECK:         tkg.load %{{.*}}[%[[ZERO]]] readonly
tk.kernel @the_same_address(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  %v = tk.load %xs : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  tk.return
}

// Indices read from memory do not split: 64 bits in every lane, and a remark.
// CHECK-LABEL: tk.kernel @indices_from_memory(
// CHECK:         %[[I:.*]] = arith.constant dense<7> : tensor<8xi64>
// CHECK:         tkg.load %{{.*}}[%{{.*}}] readonly : <f32, 0>, tensor<8xi64>
tk.kernel @indices_from_memory(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c = arith.constant dense<7> : tensor<8xi64>
  %lanes = tk.arange 0 : tensor<8xi32>
  %wide = arith.extsi %lanes : tensor<8xi32> to tensor<8xi64>
  %i = arith.xori %wide, %c : tensor<8xi64>
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  // expected-remark @+1 {{TK4101: offsets stay 64-bit in every lane}}
  %px = tk.ptr_add %xs, %i : tensor<8x!tk.ptr<f32, 0>>, tensor<8xi64>
  %v = tk.load %px : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  tk.return
}

// A 32-bit index of which nothing is known may wrap at 2^31, so it is extended, not split.
// CHECK-LABEL: tk.kernel @index_that_may_wrap(
// CHECK:         %[[WIDE:.*]] = arith.extsi %{{.*}} : tensor<8xi32> to tensor<8xi64>
// CHECK:         tkg.load %{{.*}}[%[[WIDE]]]
tk.kernel @index_that_may_wrap(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %s = arith.trunci %n : i64 to i32
  %start = tk.splat %s : i32 -> tensor<8xi32>
  %lanes = tk.arange 0 : tensor<8xi32>
  %i = arith.addi %start, %lanes : tensor<8xi32>
  %xs = tk.splat %x : !tk.ptr<f32, 0> -> tensor<8x!tk.ptr<f32, 0>>
  // expected-remark @+1 {{TK4101: offsets stay 64-bit in every lane}}
  %px = tk.ptr_add %xs, %i : tensor<8x!tk.ptr<f32, 0>>, tensor<8xi32>
  %v = tk.load %px : tensor<8x!tk.ptr<f32, 0>> -> tensor<8xf32>
  tk.return
}

// A scalar access needs no splitting.
// CHECK-LABEL: tk.kernel @scalar_access(
// CHECK:         tk.load %{{.*}} : !tk.ptr<f32, 0> -> f32
tk.kernel @scalar_access(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %v = tk.load %x : !tk.ptr<f32, 0> -> f32
  tk.return
}
