// RUN: tk-opt %s | tk-opt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 4}}>

// A layout's text is canonical: the same map written twice is printed the same.
// CHECK-LABEL: tk.kernel @layouts
// CHECK-SAME{LITERAL}: linear = #tkg.layout<"register=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">
tk.kernel @layouts() attributes {contract = #contract,
    linear = #tkg.layout<"register=[[1],[2]],   lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">} {
  tk.return
}

// A layout is the encoding of a tile.
// CHECK-LABEL: tk.kernel @tiles
// CHECK{LITERAL}: to tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]], warp=[]">>
tk.kernel @tiles() attributes {contract = #contract} {
  %0 = builtin.unrealized_conversion_cast
      to tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]], warp=[]">>
  tk.return
}

// Shared buffers of one and more axes.
// CHECK-LABEL: tk.kernel @buffers
// CHECK:         to !tkg.buf<4x8xf32>
// CHECK:         to !tkg.buf<5xi1>
tk.kernel @buffers() attributes {contract = #contract} {
  %0 = builtin.unrealized_conversion_cast to !tkg.buf<4x8xf32>
  %1 = builtin.unrealized_conversion_cast to !tkg.buf<5xi1>
  tk.return
}
