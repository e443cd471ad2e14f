//===- TkgOps.td - accesses, conversions, reductions, shared memory ----------===//
#ifndef TKG_OPS_TD
#define TKG_OPS_TD

include "ir/tkg/TkgDialect.td"

def Tkg_MemoryEffects : DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

def Tkg_LoadOp : Tkg_Op<"load", [Tkg_MemoryEffects, AttrSizedOperandSegments]> {
  let summary = "read a tile from global memory: uniform base, lane offsets";
  let description = [{
    Element e is read from `base` plus `offset[e]` elements, or is `fill` (zero when absent) where
    `mask` is false. The offset is i32, or i64 where its range is not known to fit. `readonly`
    says that nothing writes this memory while the kernel runs. `vector` is the number of
    consecutive elements that one thread reads at once; planning sets it.
    ```mlir
    %v = tkg.load %p[%i] mask %m : tensor<64xi1> {vector = 4 : i64}
        : !tk.ptr<f32, 0>, tensor<64xi32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tk_PtrType:$base, Tk_Tile:$offset, Optional<Tk_Tile>:$mask,
                       Optional<Tk_Scalar>:$fill, UnitAttr:$readonly,
                       DefaultValuedAttr<I64Attr, "1">:$vector);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? (`fill` $fill^ `:` type($fill))?
    (`readonly` $readonly^)? attr-dict `:` type($base) `,` type($offset) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tkg_StoreOp : Tkg_Op<"store", [Tkg_MemoryEffects]> {
  let summary = "write a tile to global memory: uniform base, lane offsets";
  let description = [{
    As `tkg.load`. Where several threads hold an element, one of them writes it.
    ```mlir
    tkg.store %v, %p[%i] mask %m : tensor<64xi1> {vector = 4 : i64}
        : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, Tk_PtrType:$base, Tk_Tile:$offset, Optional<Tk_Tile>:$mask,
                       DefaultValuedAttr<I64Attr, "1">:$vector);
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? attr-dict
    `:` type($value) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

def Tkg_ConvertOp : Tkg_Op<"convert", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    `how` is the cheapest means the algebra proves possible: `registers`, when each register of the
    result is one register of the operand in every thread alike, else `shared`.
    ```mlir
    %b = tkg.convert %a how "registers"
        : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>
       -> tensor<2xf32, #tkg.layout<"register=[[1],[0]], lane=[[0],[0],[0],[0],[0]]">>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, StrAttr:$how);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value `how` $how attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tkg_ReduceOp : Tkg_Op<"reduce", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let summary = "combine what each warp holds of one axis";
  let description = [{
    As `tk.reduce`, but only within a thread's registers and a warp's lanes; all lanes get the
    result. The result's side along `axis` is the number of warps over which the axis is spread
    (one value a warp), or the axis is gone when it lies within warps.
    ```mlir
    %m = tkg.reduce %x axis 0 order any
        : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$operands, I64Attr:$axis, Tk_ReduceOrder:$order);
  let results = (outs Variadic<Tk_Value>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $operands `axis` $axis `order` $order attr-dict `:` type($operands) `->` type($results) $combine
  }];
  let hasVerifier = 1;
}

def Tkg_YieldOp : Tkg_Op<"yield", [Pure, Terminator, ParentOneOf<["::tkg::ReduceOp"]>]> {
  let summary = "the results of a combine region";
  let description = [{
    ```mlir
    tkg.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<Tk_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

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
}

def Tkg_BufStoreOp : Tkg_Op<"buf_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a tile into a shared buffer of its shape";
  let description = [{
    One thread writes each element.
    ```mlir
    tkg.buf_store %v, %b : tensor<4xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1],[2]]">>, !tkg.buf<4xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, Tkg_BufType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tkg_BufLoadOp : Tkg_Op<"buf_load", [MemoryEffects<[MemRead]>]> {
  let summary = "read a tile from a shared buffer of its shape";
  let description = [{
    ```mlir
    %v = tkg.buf_load %b : !tkg.buf<4xf32> -> tensor<4xf32, #tkg.layout<"register=[[1],[2]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]]">>
    ```
  }];
  let arguments = (ins Tkg_BufType:$buffer);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Tkg_BarrierOp : Tkg_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all threads of the block meet; what each did before is seen by all after";
  let description = [{
    ```mlir
    tkg.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Machine operations that NVVM lacks: one PTX instruction each
//===----------------------------------------------------------------------===//

def Tkg_PtxLoadOp : Tkg_Op<"ptx.load", [MemoryEffects<[MemRead]>]> {
  let summary = "ld.global of one to four words under a predicate";
  let description = [{
    Words are i16, i32 or i64. Where `predicate` is false the words are `fills`. One byte is read
    into an i16, zero-extended, when `byte` is set.
    ```mlir
    %w:2 = tkg.ptx.load %p if %c fills (%f, %f) readonly : !llvm.ptr<1>, i32, i32 -> i32, i32
    ```
  }];
  let arguments = (ins AnyType:$pointer, I1:$predicate, Variadic<AnySignlessInteger>:$fills,
                       UnitAttr:$readonly, UnitAttr:$byte);
  let results = (outs Variadic<AnySignlessInteger>:$results);
  let assemblyFormat = [{
    $pointer `if` $predicate `fills` `(` $fills `)` (`readonly` $readonly^)? (`byte` $byte^)? attr-dict
    `:` type($pointer) `,` type($fills) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tkg_PtxStoreOp : Tkg_Op<"ptx.store", [MemoryEffects<[MemWrite]>]> {
  let summary = "st.global of one to four words under a predicate";
  let description = [{
    ```mlir
    tkg.ptx.store %p if %c (%a, %b) : !llvm.ptr<1>, i32, i32
    ```
  }];
  let arguments = (ins AnyType:$pointer, I1:$predicate, Variadic<AnySignlessInteger>:$words,
                       UnitAttr:$byte);
  let assemblyFormat = [{
    $pointer `if` $predicate `(` $words `)` (`byte` $byte^)? attr-dict
    `:` type($pointer) `,` type($words)
  }];
  let hasVerifier = 1;
}

#endif // TKG_OPS_TD
