// RUN: tk-opt %s | tk-opt | FileCheck %s
#contract = #tk.contract<{kernel = "k", instance = {}, args = [], grid = [1, 1, 1], require = [],
                          disjoint = [], options = {warps = 1}}>
#one = #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">
#two = #tkg.layout<"register=[[1],[0]], lane=[[0],[0],[0],[0],[0]]">

// Accesses: a uniform base, i32 or i64 offsets, an optional mask and fill.
// CHECK-LABEL: tk.kernel @accesses
// CHECK:         tkg.load %[[P:.*]][%[[I:.*]]] mask %[[M:.*]] : tensor<64xi1> fill %{{.*}} : f32 readonly {vector = 4 : i64} : <f32, 0>, tensor<64xi32> -> tensor<64xf32>
// CHECK-NEXT:    tkg.load %[[P]][%{{.*}}] cache cg evict first : <f32, 0>, tensor<64xi64> -> tensor<64xf32>
// CHECK-NEXT:    tkg.store %{{.*}}, %[[P]][%[[I]]] mask %[[M]] : tensor<64xi1> {vector = 4 : i64} : tensor<64xf32>, <f32, 0>, tensor<64xi32>
// CHECK-NEXT:    tkg.store %{{.*}}, %[[P]][%[[I]]] : tensor<64xf32>, <f32, 0>, tensor<64xi32>
tk.kernel @accesses() attributes {contract = #contract} {
  %p = builtin.unrealized_conversion_cast to !tk.ptr<f32, 0>
  %i = tk.arange 0 : tensor<64xi32>
  %w = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %m = arith.constant dense<true> : tensor<64xi1>
  %f = arith.constant 1.0 : f32
  %0 = tkg.load %p[%i] mask %m : tensor<64xi1> fill %f : f32 readonly {vector = 4 : i64} : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>
  %1 = tkg.load %p[%w] cache cg evict first : !tk.ptr<f32, 0>, tensor<64xi64> -> tensor<64xf32>
  tkg.store %0, %p[%i] mask %m : tensor<64xi1> {vector = 4 : i64} : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
  tkg.store %1, %p[%i] : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
  tk.return
}

// Conversions and reductions within warps.
// CHECK-LABEL: tk.kernel @registers
// CHECK:         tkg.convert %[[A:.*]] how "registers" : tensor<2xf32, #tkg.layout<"register={{\[\[1\]\]}}, {{.*}}">> -> tensor<2xf32, #tkg.layout<"register={{\[\[1\],\[0\]\]}}, {{.*}}">>
// CHECK-NEXT:    tkg.convert %[[A]] how "shuffle" why "it must" : tensor<2xf32,
// CHECK-NEXT:    tkg.reduce %[[A]] axis 0 order any : tensor<2xf32, {{.*}}> -> f32 {
// CHECK:           tkg.yield %{{.*}} : f32
tk.kernel @registers() attributes {contract = #contract} {
  %a = builtin.unrealized_conversion_cast to tensor<2xf32, #one>
  %b = tkg.convert %a how "registers" : tensor<2xf32, #one> -> tensor<2xf32, #two>
  %l = tkg.convert %a how "shuffle" why "it must" : tensor<2xf32, #one> -> tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>
  %m = tkg.reduce %a axis 0 order any : tensor<2xf32, #one> -> f32 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.addf %x, %y : f32
    tkg.yield %c : f32
  }
  tk.return
}

// Shared memory, with and without a place.
// CHECK-LABEL: tk.kernel @shared
// CHECK:         %[[B:.*]] = tkg.alloc : <2xf32>
// CHECK-NEXT:    tkg.alloc {offset = 64 : i64} : <4x8xf32>
// CHECK-NEXT:    tkg.buf_store %{{.*}}, %[[B]] : tensor<2xf32, {{.*}}>, <2xf32>
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load %[[B]] : <2xf32> -> tensor<2xf32, {{.*}}>
tk.kernel @shared() attributes {contract = #contract} {
  %a = builtin.unrealized_conversion_cast to tensor<2xf32, #one>
  %b = tkg.alloc : !tkg.buf<2xf32>
  %c = tkg.alloc {offset = 64 : i64} : !tkg.buf<4x8xf32>
  tkg.buf_store %a, %b : tensor<2xf32, #one>, !tkg.buf<2xf32>
  tkg.barrier
  %d = tkg.buf_load %b : !tkg.buf<2xf32> -> tensor<2xf32, #two>
  tk.return
}

// Machine operations of one to four words.
// CHECK-LABEL: llvm.func @machine
// CHECK:         tkg.ptx.load %[[P:.*]] if %[[C:.*]] fills(%{{.*}}, %{{.*}}) readonly : !llvm.ptr<1>, i32, i32 -> i32, i32
// CHECK-NEXT:    tkg.ptx.load %[[P]] if %[[C]] fills(%{{.*}}) byte : !llvm.ptr<1>, i16 -> i16
// CHECK-NEXT:    tkg.ptx.load %[[P]] fills(%{{.*}}) volatile : !llvm.ptr<1>, i32 -> i32
// CHECK-NEXT:    tkg.ptx.load %[[P]] if %[[C]] fills(%{{.*}}) cache cg evict first : !llvm.ptr<1>, i32 -> i32
// CHECK-NEXT:    tkg.ptx.prefetch %[[P]] if %[[C]] evict last : !llvm.ptr<1>
// CHECK-NEXT:    tkg.ptx.atom "cas.b32" %[[P]] if %[[C]]{{.*}} order acq_rel scope gpu : !llvm.ptr<1>, i32, i32 -> i32
// CHECK-NEXT:    tkg.ptx.atom "st.b32" %[[P]]{{.*}} order release scope cta : !llvm.ptr<1>, i32
// CHECK-NEXT:    tkg.ptx.store %[[P]] if %[[C]](%{{.*}}, %{{.*}}) : !llvm.ptr<1>, i32, i32
// CHECK-NEXT:    tkg.ptx.store %[[P]] if %[[C]](%{{.*}}) byte : !llvm.ptr<1>, i16
llvm.func @machine(%p: !llvm.ptr<1>, %c: i1, %a: i32, %b: i16) {
  %0:2 = tkg.ptx.load %p if %c fills(%a, %a) readonly : !llvm.ptr<1>, i32, i32 -> i32, i32
  %1 = tkg.ptx.load %p if %c fills(%b) byte : !llvm.ptr<1>, i16 -> i16
  %2 = tkg.ptx.load %p fills(%a) volatile : !llvm.ptr<1>, i32 -> i32
  %3 = tkg.ptx.load %p if %c fills(%a) cache cg evict first : !llvm.ptr<1>, i32 -> i32
  tkg.ptx.prefetch %p if %c evict last : !llvm.ptr<1>
  %4 = tkg.ptx.atom "cas.b32" %p if %c (%a, %a) order acq_rel scope gpu : !llvm.ptr<1>, i32, i32 -> i32
  tkg.ptx.atom "st.b32" %p (%a) order release scope cta : !llvm.ptr<1>, i32
  tkg.ptx.store %p if %c (%0#0, %0#1) : !llvm.ptr<1>, i32, i32
  tkg.ptx.store %p if %c (%1) byte : !llvm.ptr<1>, i16
  llvm.return
}
