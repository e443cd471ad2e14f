// RUN: tk-opt %s --tk-refuse-unbuilt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "tensor", dtype = "f32", access = "in",
    extents = ["N"], strides = [1], align = 4}], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>
// What has machine code passes unchanged.
// CHECK-LABEL: tk.kernel @plain(
// CHECK:         tk.read
// CHECK-NEXT:    tk.unary exp
// CHECK-NEXT:    tk.return
module attributes {tk.phase = "Emitted"} {
  tk.kernel @plain(%x: !tk.view<f32, 1, 0>) attributes {contract = #contract} {
    %c0 = arith.constant 0 : i64
    %0 = tk.read %x[%c0] widths [64] : !tk.view<f32, 1, 0> -> tensor<64xf32>
    %1 = tk.unary exp %0 : tensor<64xf32>
    tk.return
  }
}
