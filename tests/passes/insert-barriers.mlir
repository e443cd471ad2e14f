// RUN: tk-opt %s --tk-insert-barriers --tk-verify-phase | FileCheck %s

// As the head of InsertBarriers.cpp has it:
//   tkg.buf_store %p, %b
//   %q = tkg.buf_load %b
// becomes
//   tkg.buf_store %p, %b
//   tkg.barrier
//   %q = tkg.buf_load %b

#contract = #tk.contract<{kernel = "k", instance = {},
    args = [{name = "x", kind = "pointer", dtype = "f32", access = "inout", align = 4},
            {name = "y", kind = "pointer", dtype = "f32", access = "inout", align = 4},
            {name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [["x", "y"]], options = {warps = 2}}>
#A = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]]">
#E = #tkg.layout<"register=[], lane=[[2],[4],[8],[16],[32]], warp=[[1]]">
#D = #tkg.layout<"register=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]]">

module {
// CHECK: module attributes {tk.phase = "Ordered"}

// A write before a read, a read before a write, a write before a write: each of one buffer.
// CHECK-LABEL: tk.kernel @shared_buffer(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
// CHECK-NEXT:    tkg.buf_load
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_store
// CHECK:         tkg.barrier
// CHECK-NEXT:    tkg.buf_store
// CHECK-NOT:     tkg.barrier
// CHECK:         tk.return
tk.kernel @shared_buffer(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  %1 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %w = arith.constant dense<1.0> : tensor<64xf32, #E>
  tkg.buf_store %w, %b : tensor<64xf32, #E>, !tkg.buf<64xf32>
  tk.return
}

// Each thread reads what it wrote itself; where lanes hold the same elements, one of them wrote.
// CHECK-LABEL: tk.kernel @own_elements(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.buf_load
// CHECK-NEXT:    tkg.buf_store
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @own_elements(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #A>
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %w = arith.constant dense<1.0> : tensor<32xf32, #D>
  %c = tkg.alloc {offset = 256 : i64} : !tkg.buf<32xf32>
  tkg.buf_store %w, %c : tensor<32xf32, #D>, !tkg.buf<32xf32>
  %1 = tkg.buf_load %c : !tkg.buf<32xf32> -> tensor<32xf32, #D>
  tk.return
}

// One barrier serves all that is pending before it.
// CHECK-LABEL: tk.kernel @two_buffers_one_barrier(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    tkg.buf_store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
// CHECK-NEXT:    tkg.buf_load
tk.kernel @two_buffers_one_barrier(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  %c = tkg.alloc {offset = 256 : i64} : !tkg.buf<64xf32>
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  tkg.buf_store %v, %c : tensor<64xf32, #A>, !tkg.buf<64xf32>
  %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  %1 = tkg.buf_load %c : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  tk.return
}

// In a loop the next iteration's store must wait for this one's load.
// CHECK-LABEL: tk.kernel @loop_carried(
// CHECK:         scf.for
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tkg.buf_store
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tkg.buf_load
// CHECK-NEXT:    }
tk.kernel @loop_carried(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  scf.for %i = %c0 to %n step %c1 : i64 {
    tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
    %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  }
  tk.return
}

// What one branch may have written is ordered after the branches join; a barrier in one of them is none
// for the way through the other.
// CHECK-LABEL: tk.kernel @branches(
// CHECK:         tkg.buf_store
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tkg.buf_load
// CHECK-NEXT:    } else {
// CHECK-NEXT:    }
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.buf_load
tk.kernel @branches(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %b = tkg.alloc {offset = 0 : i64} : !tkg.buf<64xf32>
  %c = arith.cmpi sgt, %n, %c0 : i64
  tkg.buf_store %v, %b : tensor<64xf32, #A>, !tkg.buf<64xf32>
  scf.if %c {
    %0 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  } else {
  }
  %1 = tkg.buf_load %b : !tkg.buf<64xf32> -> tensor<64xf32, #E>
  tk.return
}

// Global memory of one alias class at other offsets: the threads differ. Of another class: never.
// CHECK-LABEL: tk.kernel @alias_classes(
// CHECK:         tkg.store {{.*}}<f32, 0>
// CHECK-NEXT:    tkg.load {{.*}}<f32, 1>
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.load {{.*}}<f32, 0>
tk.kernel @alias_classes(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %v = arith.constant dense<1.0> : tensor<64xf32, #A>
  %l = tk.arange 0 : tensor<64xi32, #A>
  %m = tk.arange 1 : tensor<64xi32, #A>
  tkg.store %v, %x[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  %0 = tkg.load %y[%m] : !tk.ptr<f32, 1>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  %1 = tkg.load %x[%m] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tk.return
}

// In place, each element is read and written by its own thread: no barrier. With duplicates in other
// warps one thread writes what another reads. Read-only memory is written by nobody.
// CHECK-LABEL: tk.kernel @in_place(
// CHECK:         tkg.load
// CHECK-NEXT:    tkg.store
// CHECK-NEXT:    tkg.load {{.*}} readonly
// CHECK-NEXT:    tkg.store
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.load
// CHECK-NEXT:    tkg.barrier
// CHECK-NEXT:    tkg.store
tk.kernel @in_place(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %l = tk.arange 0 : tensor<64xi32, #A>
  %d = tk.arange 0 : tensor<32xi32, #D>
  %0 = tkg.load %x[%l] : !tk.ptr<f32, 0>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tkg.store %0, %x[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 0>, tensor<64xi32, #A>
  %1 = tkg.load %y[%l] readonly : !tk.ptr<f32, 1>, tensor<64xi32, #A> -> tensor<64xf32, #A>
  tkg.store %1, %y[%l] : tensor<64xf32, #A>, !tk.ptr<f32, 1>, tensor<64xi32, #A>
  %2 = tkg.load %y[%d] : !tk.ptr<f32, 1>, tensor<32xi32, #D> -> tensor<32xf32, #D>
  tkg.store %2, %y[%d] : tensor<32xf32, #D>, !tk.ptr<f32, 1>, tensor<32xi32, #D>
  tk.return
}

// A scalar is read by all threads and written by one, in this iteration and the next.
// CHECK-LABEL: tk.kernel @scalar_in_a_loop(
// CHECK:         scf.for
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tk.load
// CHECK-NEXT:      tkg.barrier
// CHECK-NEXT:      tk.store
tk.kernel @scalar_in_a_loop(%x: !tk.ptr<f32, 0>, %y: !tk.ptr<f32, 1>, %n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %0 = tk.load %x : !tk.ptr<f32, 0> -> f32
    tk.store %0, %x : f32, !tk.ptr<f32, 0>
  }
  tk.return
}
}
