//===- TkgOpsShared.td - buffers in shared memory -----------------------------===//
#ifndef TKG_OPS_SHARED_TD
#define TKG_OPS_SHARED_TD

include "ir/tkg/TkgDialect.td"

def Tkg_AllocOp : Tkg_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer in shared memory";
  let description = [{
    Its bytes begin at `offset` of the block's shared memory once allocated.
    ```mlir
    %b = tkg.alloc {offset = 64 : i64} : !tkg.buf<4x8xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Tkg_BufType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tkg_BufViewOp : Tkg_Op<"buf_view", [Pure]> {
  let summary = "a part of a shared buffer, or its elements in another order";
  let description = [{
    The element at index zero lies `offset`, and `index` if given, elements after that of `buffer`;
    the others where the result's strides say. The author of a view answers for its bounds.
    ```mlir
    %t = tkg.buf_view %b offset 0 : !tkg.buf<4x8xf32> -> !tkg.buf<8x4xf32, strides = 1, 8>
    ```
  }];
  let arguments = (ins Tkg_BufType:$buffer, Optional<I32>:$index, I64Attr:$offset);
  let results = (outs Tkg_BufType:$result);
  let assemblyFormat = [{
    $buffer (`[` $index^ `]`)? `offset` $offset attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tkg_RingSlotOp : Tkg_Op<"ring_slot", [Pure]> {
  let summary = "the slot of a ring that lies some slots behind another";
  let description = [{
    (slot + distance) mod slots. The ordering check knows which slots differ by it: a loop that copies
    ahead carries the number of a slot, which begins at a constant and goes on by one an iteration.
    ```mlir
    %t = tkg.ring_slot %s plus 1 of 3
    ```
  }];
  let arguments = (ins I32:$slot, I64Attr:$distance, I64Attr:$slots);
  let results = (outs I32:$result);
  let assemblyFormat = "$slot `plus` $distance `of` $slots attr-dict";
  let hasVerifier = 1;
}

def Tkg_BufStoreOp : Tkg_Op<"buf_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a tile into a shared buffer of its shape";
  let description = [{
    One thread writes each element. A scalar goes into a buffer of one element.
    ```mlir
    tkg.buf_store %v, %b : tensor<4xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">>, !tkg.buf<4xf32>
    ```
  }];
  let arguments = (ins Tk_Value:$value, Tkg_BufType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tkg_BufLoadOp : Tkg_Op<"buf_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a tile from a shared buffer of its shape";
  let description = [{
    A buffer of one element may be read as a scalar.
    ```mlir
    %v = tkg.buf_load %b : !tkg.buf<4xf32> -> tensor<4xf32, #tkg.layout<"register=[[1],[2]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]]">>
    ```
  }];
  let arguments = (ins Tkg_BufType:$buffer);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Tkg_BufGatherOp : Tkg_Op<"buf_gather", [MemoryEffects<[MemRead]>]> {
  let summary = "read elements of a shared buffer, by their indices along one axis";
  let description = [{
    As `tk.gather`: an index out of range gives zero.
    ```mlir
    %v = tkg.buf_gather %b[%i] axis 0 : !tkg.buf<4xf32>, tensor<2xi32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>
        -> tensor<2xf32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>
    ```
  }];
  let arguments = (ins Tkg_BufType:$buffer, Tk_Tile:$indices, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $indices `]` `axis` $axis attr-dict `:` type($buffer) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tkg_BufCountOp : Tkg_Op<"buf_count", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "add one to the elements of a shared buffer that a tile names";
  let description = [{
    As `tk.histogram`, into a buffer of i32 that holds the counts so far.
    ```mlir
    tkg.buf_count %x, %b : tensor<2xi32, #tkg.layout<"lane=[[1],[0],[0],[0],[0]]">>, !tkg.buf<16xi32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, Optional<Tk_Tile>:$mask, Tkg_BufType:$buffer,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $value (`mask` $mask^ `:` type($mask))? `,` $buffer (`unsigned` $is_unsigned^)? attr-dict
    `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tkg_BufSortOp : Tkg_Op<"buf_sort", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "sort the rows of a shared buffer, and of a second one with them";
  let description = [{
    `keys` is [rows, N] with N a power of two, `indices` as large, of i32; both row-major. As
    `tk.sort`; equal keys are ordered by their indices. Elements whose index is `side` or more are padding
    and come last. The threads of the block meet within.
    ```mlir
    tkg.buf_sort %k, %i side 13 : !tkg.buf<1x16xf32>, !tkg.buf<1x16xi32>
    ```
  }];
  let arguments = (ins Tkg_BufType:$keys, Tkg_BufType:$indices, I64Attr:$side, UnitAttr:$descending,
                       UnitAttr:$is_unsigned);
  let assemblyFormat = [{
    $keys `,` $indices `side` $side (`descending` $descending^)? (`unsigned` $is_unsigned^)? attr-dict
    `:` type($keys) `,` type($indices)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def Tkg_AsyncCopyOp : Tkg_Op<"async_copy", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                            AttrSizedOperandSegments]> {
  let summary = "begin to copy a tile from global memory into a shared buffer";
  let description = [{
    Reads as `tkg.load` does, zero where `mask` is false, and writes as `tkg.buf_store`. Without
    `when` nothing is read and the buffer gets zeros, if anything. What it writes may be read after a
    `tkg.async_wait` for its group and a barrier.
    ```mlir
    tkg.async_copy when %c, %p[%i] mask %m : tensor<64xi1>, %b {vector = 4 : i64}
        : !tk.ptr<f32, 0>, tensor<64xi32>, !tkg.buf<64xf32>
    ```
  }];
  let arguments = (ins Optional<I1>:$when, Tk_PtrType:$base, Tk_Tile:$offset, Optional<Tk_Tile>:$mask,
                       Tkg_BufType:$buffer, I64Attr:$vector);
  let assemblyFormat = [{
    (`when` $when^ `,`)? $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? `,` $buffer attr-dict
    `:` type($base) `,` type($offset) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tkg_AsyncCommitOp : Tkg_Op<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "end a group of asynchronous copies";
  let description = [{
    All copies that the thread began since the last commit are one group, which may be empty.
    ```mlir
    tkg.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tkg_AsyncWaitOp : Tkg_Op<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until at most some groups of asynchronous copies are under way";
  let description = [{
    The thread waits for its own copies; for those of others a barrier follows.
    ```mlir
    tkg.async_wait 1
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif // TKG_OPS_SHARED_TD
