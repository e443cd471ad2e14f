// RUN: tk-opt %s --tk-allocate-shared-memory --tk-verify-phase | FileCheck %s
// CHECK: module attributes {tk.phase = "SmemAllocated"}

#contract = #tk.contract<{kernel = "k", instance = {}, args = [{name = "n", kind = "scalar", dtype = "i64"}],
    grid = [1, 1, 1], require = [], disjoint = [], options = {}}>
module {

// As the head of AllocateSharedMemory.cpp has it:
//   %a = tkg.alloc : !tkg.buf<5xf32>
//   %b = tkg.alloc : !tkg.buf<4xf32>
// becomes
//   %a = tkg.alloc {offset = 0 : i64} : !tkg.buf<5xf32>
//   %b = tkg.alloc {offset = 32 : i64} : !tkg.buf<4xf32>
// Buffers follow one another, each at a multiple of 16 bytes: 5 floats end at 20, so the next is at 32.
// CHECK-LABEL: tk.kernel @two_buffers(
// CHECK-SAME:    shared_bytes = 48 : i64
// CHECK:         tkg.alloc {offset = 0 : i64} : <5xf32>
// CHECK:         tkg.alloc {offset = 32 : i64} : <4xf32>
tk.kernel @two_buffers(%n: i64) attributes {contract = #contract} {
  %a = tkg.alloc : !tkg.buf<5xf32>
  %b = tkg.alloc : !tkg.buf<4xf32>
  tk.return
}

// A boolean takes a byte, a half two, a double eight.
// CHECK-LABEL: tk.kernel @bytes_of_each_type(
// CHECK-SAME:    shared_bytes = 80 : i64
// CHECK:         tkg.alloc {offset = 0 : i64} : <17xi1>
// CHECK:         tkg.alloc {offset = 32 : i64} : <3x3xbf16>
// CHECK:         tkg.alloc {offset = 64 : i64} : <2xf64>
tk.kernel @bytes_of_each_type(%n: i64) attributes {contract = #contract} {
  %a = tkg.alloc : !tkg.buf<17xi1>
  %b = tkg.alloc : !tkg.buf<3x3xbf16>
  %c = tkg.alloc : !tkg.buf<2xf64>
  tk.return
}

// Buffers in a loop and in a branch have one place each, for all iterations.
// CHECK-LABEL: tk.kernel @in_control_flow(
// CHECK-SAME:    shared_bytes = 32 : i64
// CHECK:         scf.for
// CHECK:           tkg.alloc {offset = 0 : i64}
// CHECK:         scf.if
// CHECK:           tkg.alloc {offset = 16 : i64}
tk.kernel @in_control_flow(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 : i64 {
    %a = tkg.alloc : !tkg.buf<1xf32>
  }
  %c = arith.cmpi sgt, %n, %c0 : i64
  scf.if %c {
    %b = tkg.alloc : !tkg.buf<4xf32>
  }
  tk.return
}

// Beyond 8 KB buffers share bytes, but for those that hold something at the same time: the second one
// begins while the first is still read and outlives it; the third takes the place of the first. What a
// loop reads lives as long as the loop, and a view keeps its buffer alive.
// CHECK-LABEL: tk.kernel @sharing(
// CHECK-SAME:    shared_bytes = 16384 : i64
// CHECK:         tkg.alloc {offset = 0 : i64} : <2048xf32>
// CHECK:         tkg.alloc {offset = 8192 : i64} : <1024xf32>
// CHECK:         tkg.alloc {offset = 0 : i64} : <2048xf32>
// CHECK:         scf.for
// CHECK:           tkg.alloc {offset = 12288 : i64} : <1024xf32>
// CHECK:         tkg.alloc {offset = 0 : i64} : <512xf32>
tk.kernel @sharing(%n: i64) attributes {contract = #contract} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = tkg.alloc : !tkg.buf<2048xf32>
  %va = tkg.buf_view %a offset 8 : !tkg.buf<2048xf32> -> !tkg.buf<8xf32>
  %b = tkg.alloc : !tkg.buf<1024xf32>
  %wa = tkg.buf_view %va offset 4 : !tkg.buf<8xf32> -> !tkg.buf<4xf32>
  %c = tkg.alloc : !tkg.buf<2048xf32>
  scf.for %i = %c0 to %n step %c1 : i64 {
    %vc = tkg.buf_view %c offset 0 : !tkg.buf<2048xf32> -> !tkg.buf<4xf32>
    %d = tkg.alloc : !tkg.buf<1024xf32>
  }
  %vb = tkg.buf_view %b offset 0 : !tkg.buf<1024xf32> -> !tkg.buf<4xf32>
  %e = tkg.alloc : !tkg.buf<512xf32>
  tk.return
}

// Each kernel begins at zero, and one without buffers needs nothing.
// CHECK-LABEL: tk.kernel @no_buffer(
// CHECK-SAME:    shared_bytes = 0 : i64
tk.kernel @no_buffer(%n: i64) attributes {contract = #contract} {
  tk.return
}
}
