// RUN: tk-opt %s --tk-relieve-registers=registers-per-thread=52 --verify-diagnostics | FileCheck %s
// RUN: tk-opt %s --tk-relieve-registers | FileCheck %s --check-prefix=ROOMY

// As the head of RelieveRegisters.cpp has it:
//   scf.for ... {
//     %x = tkg.buf_load %slot
//     %h = arith.extf %x
//     %s = tkg.reduce %h
//     %y = arith.mulf %h, %scale           // %scale is from before the loop
//   }
// becomes
//   tkg.buf_store %scale, %b
//   scf.for ... {
//     %x = tkg.buf_load %slot
//     %h = arith.extf %x
//     %s = tkg.reduce %h
//     %x2 = tkg.buf_load %slot
//     %h2 = arith.extf %x2
//     %scale2 = tkg.buf_load %b
//     %y = arith.mulf %h2, %scale2
//   }

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "x", kind = "pointer", dtype = "f16", access = "in"},
    {name = "y", kind = "pointer", dtype = "f32", access = "out"}, {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {warps = 1}}>
#A = #tkg.layout<"register=[[1],[2],[4]], lane=[[8],[16],[32],[64],[128]]">

// The scale in its narrow form, f16: what it is an extension of.
// CHECK-LABEL: tk.kernel @under_pressure(
// CHECK:         %[[W:.*]] = tkg.load
// CHECK:         %[[B:.*]] = tkg.alloc : <256xf16>
// CHECK-NEXT:    tkg.buf_store %[[W]], %[[B]]
// CHECK:         scf.for
// CHECK:           %[[VIEW:.*]] = tkg.buf_view
// CHECK-NEXT:      %[[X:.*]] = tkg.buf_load %[[VIEW]]
// CHECK-NEXT:      %[[H:.*]] = arith.extf %[[X]]
// CHECK-NEXT:      tkg.reduce %[[H]]
// CHECK:           %[[X2:.*]] = tkg.buf_load %[[VIEW]]
// CHECK-NEXT:      %[[H2:.*]] = arith.extf %[[X2]]
// CHECK-NEXT:      %[[S2:.*]] = tkg.buf_load %[[B]]
// CHECK-NEXT:      %[[SCALE:.*]] = arith.extf %[[S2]]
// CHECK-NEXT:      arith.mulf %[[H2]], %[[SCALE]]

// ROOMY-LABEL: tk.kernel @under_pressure(
// ROOMY:         scf.for
// ROOMY-COUNT-1:   tkg.buf_load
// ROOMY-NOT:       tkg.buf_load
tk.kernel @under_pressure(%x: !tk.ptr<f16, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %side = arith.constant 256 : i32
  %o = tk.arange 0 : tensor<256xi32, #A>
  %w = tkg.load %x[%o] readonly : !tk.ptr<f16, 0>, tensor<256xi32, #A> -> tensor<256xf16, #A>
  %scale = arith.extf %w : tensor<256xf16, #A> to tensor<256xf32, #A>
  %ring = tkg.alloc : !tkg.buf<2x256xf16>
  // expected-remark @+1 {{TK4107: while this loop's elements meet, tiles have 4 registers a thread: 8 more are computed again, 8 are kept in shared memory}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %ring[%p] offset 0 : !tkg.buf<2x256xf16> -> !tkg.buf<256xf16>
    %t = tkg.buf_load %v : !tkg.buf<256xf16> -> tensor<256xf16, #A>
    %h = arith.extf %t : tensor<256xf16, #A> to tensor<256xf32, #A>
    %s = tkg.reduce %h axis 0 order any : tensor<256xf32, #A> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
    }
    %m = arith.mulf %h, %scale : tensor<256xf32, #A>
    %q = tk.splat %s : f32 -> tensor<256xf32, #A>
    %u = arith.addf %m, %q : tensor<256xf32, #A>
    tkg.store %u, %y[%o] : tensor<256xf32, #A>, !tk.ptr<f32, 1>, tensor<256xi32, #A>
    %next = tkg.ring_slot %slot plus 1 of 2
    scf.yield %next : i32
  }
  tk.return
}

// What narrows stays narrow: of the two, the smaller one is kept.
// CHECK-LABEL: tk.kernel @narrowed_before_the_loop(
// ROOMY-LABEL: tk.kernel @narrowed_before_the_loop(
// CHECK:         %[[W:.*]] = tk.cast
// CHECK:         %[[B:.*]] = tkg.alloc : <512xf16>
// CHECK-NEXT:    tkg.buf_store %[[W]], %[[B]]
// CHECK:         scf.for
// CHECK:           tkg.reduce
// CHECK-NOT:       tk.cast
// CHECK:           %[[SCALE:.*]] = tkg.buf_load %[[B]]
// CHECK-NEXT:      arith.mulf %{{.*}}, %[[SCALE]]
#B = #tkg.layout<"register=[[1],[2],[4],[8]], lane=[[16],[32],[64],[128],[256]]">
tk.kernel @narrowed_before_the_loop(%x: !tk.ptr<f16, 0>, %y: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %s0 = arith.constant 0 : i32
  %side = arith.constant 512 : i32
  %o = tk.arange 0 : tensor<512xi32, #B>
  %w = arith.sitofp %o : tensor<512xi32, #B> to tensor<512xf32, #B>
  %scale = tk.cast %w : tensor<512xf32, #B> -> tensor<512xf16, #B>
  %ring = tkg.alloc : !tkg.buf<2x512xf16>
  // expected-remark @+1 {{TK4107: while this loop's elements meet, tiles have 4 registers a thread: 8 more are computed again, 8 are kept in shared memory}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %s0) -> (i32) : i64 {
    %p = arith.muli %slot, %side : i32
    %v = tkg.buf_view %ring[%p] offset 0 : !tkg.buf<2x512xf16> -> !tkg.buf<512xf16>
    %t = tkg.buf_load %v : !tkg.buf<512xf16> -> tensor<512xf16, #B>
    %s = tkg.reduce %t axis 0 order any : tensor<512xf16, #B> -> f16 {
    ^bb0(%a: f16, %b: f16):
      %c = arith.addf %a, %b : f16
      tkg.yield %c : f16
    }
    %m = arith.mulf %t, %scale : tensor<512xf16, #B>
    %q = tk.splat %s : f16 -> tensor<512xf16, #B>
    %u = arith.addf %m, %q : tensor<512xf16, #B>
    tkg.store %u, %y[%o] : tensor<512xf16, #B>, !tk.ptr<f16, 1>, tensor<512xi32, #B>
    %next = tkg.ring_slot %slot plus 1 of 2
    scf.yield %next : i32
  }
  tk.return
}

// What the iteration writes itself, in no slot of a ring, may be another by then: it is not read again.
// CHECK-LABEL: tk.kernel @written_in_between(
// ROOMY-LABEL: tk.kernel @written_in_between(
// CHECK:         scf.for
// CHECK-COUNT-1:   tkg.buf_load
// CHECK-NOT:       tkg.buf_load
tk.kernel @written_in_between(%x: !tk.ptr<f16, 0>, %y: !tk.ptr<f16, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1.0 : f16
  %o = tk.arange 0 : tensor<512xi32, #B>
  %ones = tk.splat %one : f16 -> tensor<512xf16, #B>
  %b = tkg.alloc : !tkg.buf<2x512xf16>
  %v = tkg.buf_view %b offset 0 : !tkg.buf<2x512xf16> -> !tkg.buf<512xf16>
  scf.for %i = %c0 to %n step %c1 : i64 {
    %w = tkg.buf_view %b offset 0 : !tkg.buf<2x512xf16> -> !tkg.buf<512xf16>
    %t = tkg.buf_load %w : !tkg.buf<512xf16> -> tensor<512xf16, #B>
    %s = tkg.reduce %t axis 0 order any : tensor<512xf16, #B> -> f16 {
    ^bb0(%a: f16, %c: f16):
      %d = arith.addf %a, %c : f16
      tkg.yield %d : f16
    }
    tkg.buf_store %ones, %v : tensor<512xf16, #B>, !tkg.buf<512xf16>
    %q = tk.splat %s : f16 -> tensor<512xf16, #B>
    %u = arith.addf %t, %q : tensor<512xf16, #B>
    tkg.store %u, %y[%o] : tensor<512xf16, #B>, !tk.ptr<f16, 1>, tensor<512xi32, #B>
  }
  tk.return
}

// A load that is used only behind the reduction begins behind it.
// CHECK-LABEL: tk.kernel @loaded_too_early(
// CHECK:         tkg.reduce
// CHECK:         %[[L:.*]] = tkg.load %{{.*}}[%{{.*}}] readonly
// CHECK-NEXT:    arith.addf %{{.*}}, %[[L]]
// ROOMY-LABEL: tk.kernel @loaded_too_early(
// ROOMY:         scf.for
// ROOMY:         %[[L:.*]] = tkg.load
// ROOMY:         tkg.reduce
// ROOMY:         arith.addf %{{.*}}, %[[L]]
tk.kernel @loaded_too_early(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %o = tk.arange 0 : tensor<256xi32, #A>
  %zero = arith.constant dense<0.0> : tensor<256xf32, #A>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<256xf32, #A>) : i64 {
    %p = tk.ptr_add %x, %i : !tk.ptr<f32, 0>, i64
    %l = tkg.load %p[%o] readonly : !tk.ptr<f32, 0>, tensor<256xi32, #A> -> tensor<256xf32, #A>
    %s = tkg.reduce %sum axis 0 order any : tensor<256xf32, #A> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
    }
    %t = tk.splat %s : f32 -> tensor<256xf32, #A>
    %m = arith.addf %t, %l : tensor<256xf32, #A>
    scf.yield %m : tensor<256xf32, #A>
  }
  tkg.store %r, %y[%o] : tensor<256xf32, #A>, !tk.ptr<f32, 1>, tensor<256xi32, #A>
  tk.return
}
