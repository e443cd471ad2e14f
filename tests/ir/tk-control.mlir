// RUN: tk-opt %s | tk-opt | FileCheck %s

// The three kinds of parameters, in the order of the contract.
// CHECK-LABEL: tk.kernel @parameters(%{{.*}}: !tk.view<f32, 2, 0>, %{{.*}}: !tk.ptr<f16, 1>, %{{.*}}: i32)
// CHECK:         tk.return
tk.kernel @parameters(%x: !tk.view<f32, 2, 0>, %p: !tk.ptr<f16, 1>, %n: i32) attributes {
    contract = #tk.contract<{kernel = "parameters", instance = {}, grid = [1, 1, 1], require = [],
    disjoint = [], options = {warps = 4},
    args = [{name = "x", kind = "tensor", dtype = "f32", extents = ["M", "N"], strides = ["s", 1]},
            {name = "p", kind = "pointer", dtype = "f16"},
            {name = "n", kind = "scalar", dtype = "i32"}]}>} {
  tk.return
}

// Where a program instance stands in the grid.
// CHECK-LABEL: tk.kernel @program
// CHECK-NEXT:    tk.program_id 0
// CHECK-NEXT:    tk.program_id 2
// CHECK-NEXT:    tk.num_programs 1
// CHECK-NEXT:    tk.return
tk.kernel @program() attributes {contract = #tk.contract<{kernel = "program", instance = {},
    args = [], grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 4}}>} {
  %x = tk.program_id 0
  %z = tk.program_id 2
  %n = tk.num_programs 1
  tk.return
}
