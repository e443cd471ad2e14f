//===- TkgOps.td - accesses, conversions, barriers, machine operations --------===//
#ifndef TKG_OPS_TD
#define TKG_OPS_TD

include "ir/tkg/TkgDialect.td"

include "ir/tkg/TkgOpsCollective.td"
include "ir/tkg/TkgOpsShared.td"

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
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict,
                       DefaultValuedAttr<I64Attr, "1">:$vector);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? (`fill` $fill^ `:` type($fill))?
    (`readonly` $readonly^)? (`cache` $cache^)? (`evict` $evict^)? attr-dict
    `:` type($base) `,` type($offset) `->` type($result)
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
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict,
                       DefaultValuedAttr<I64Attr, "1">:$vector);
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? (`evict` $evict^)? attr-dict
    `:` type($value) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

def Tkg_AtomicRmwOp : Tkg_Op<"atomic_rmw", [Tkg_MemoryEffects]> {
  let summary = "change global memory, nobody asking what it held: uniform base, lane offsets";
  let description = [{
    As `tk.atomic_rmw` of relaxed order, with the addresses of `tkg.store`: each element is combined with memory once.
    `vector` elements side by side go in one instruction; each of them is a change of its own still.
    ```mlir
    tkg.atomic_rmw add %v, %p[%i] mask %m : tensor<64xi1> scope gpu {vector = 4 : i64}
        : tensor<64xf32>, !tk.ptr<f32, 0>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tk_AtomicKind:$kind, Tk_Tile:$value, Tk_PtrType:$base, Tk_Tile:$offset, Optional<Tk_Tile>:$mask,
                       UnitAttr:$is_unsigned, Tk_MemScope:$scope, DefaultValuedAttr<I64Attr, "1">:$vector);
  let assemblyFormat = [{
    $kind $value `,` $base `[` $offset `]` (`mask` $mask^ `:` type($mask))? (`unsigned` $is_unsigned^)?
    `scope` $scope attr-dict `:` type($value) `,` type($base) `,` type($offset)
  }];
  let hasVerifier = 1;
}

def Tkg_ConvertOp : Tkg_Op<"convert", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    `how` is the means: `registers`, when each register of the result is one register of the operand
    in every thread alike; `shuffle`, when each warp has all it needs; else `shared`, through memory.
    `why` says who wants the other layout.
    ```mlir
    %b = tkg.convert %a how "registers"
        : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>
       -> tensor<2xf32, #tkg.layout<"register=[[1],[0]], lane=[[0],[0],[0],[0],[0]]">>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, StrAttr:$how, OptionalAttr<StrAttr>:$why);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value `how` $how (`why` $why^)? attr-dict `:` type($value) `->` type($result)";
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

def Tkg_PtxLoadOp : Tkg_Op<"ptx.load", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "ld.global of one to four words under a predicate";
  let description = [{
    Words are i16, i32 or i64. Where `predicate` is false the words are `fills`. One byte is read
    into an i16, zero-extended, when `byte` is set. Of two hints `evict` counts; a `volatile` load
    takes none.
    ```mlir
    %w:2 = tkg.ptx.load %p if %c fills (%f, %f) readonly : !llvm.ptr<1>, i32, i32 -> i32, i32
    ```
  }];
  let arguments = (ins AnyType:$pointer, Optional<I1>:$predicate,
                       Variadic<AnySignlessInteger>:$fills, UnitAttr:$readonly, UnitAttr:$byte,
                       UnitAttr:$is_volatile, OptionalAttr<Tk_CacheHint>:$cache,
                       OptionalAttr<Tk_EvictHint>:$evict);
  let results = (outs Variadic<AnySignlessInteger>:$results);
  let assemblyFormat = [{
    $pointer (`if` $predicate^)? `fills` `(` $fills `)` (`readonly` $readonly^)? (`byte` $byte^)?
    (`volatile` $is_volatile^)? (`cache` $cache^)? (`evict` $evict^)? attr-dict
    `:` type($pointer) `,` type($fills) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tkg_PtxStoreOp : Tkg_Op<"ptx.store", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "st.global of one to four words under a predicate";
  let description = [{
    Of two hints `evict` counts.
    ```mlir
    tkg.ptx.store %p if %c (%a, %b) : !llvm.ptr<1>, i32, i32
    ```
  }];
  let arguments = (ins AnyType:$pointer, Optional<I1>:$predicate,
                       Variadic<AnySignlessInteger>:$words, UnitAttr:$byte,
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict);
  let assemblyFormat = [{
    $pointer (`if` $predicate^)? `(` $words `)` (`byte` $byte^)? (`cache` $cache^)?
    (`evict` $evict^)? attr-dict `:` type($pointer) `,` type($words)
  }];
  let hasVerifier = 1;
}

def Tkg_PtxPrefetchOp : Tkg_Op<"ptx.prefetch", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "prefetch.global.L2 under a predicate";
  let description = [{
    ```mlir
    tkg.ptx.prefetch %p if %c evict last : !llvm.ptr<1>
    ```
  }];
  let arguments = (ins AnyType:$pointer, Optional<I1>:$predicate,
                       OptionalAttr<Tk_EvictHint>:$evict);
  let assemblyFormat = [{
    $pointer (`if` $predicate^)? (`evict` $evict^)? attr-dict `:` type($pointer)
  }];
}

def Tkg_PtxAtomOp : Tkg_Op<"ptx.atom", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "atom, red, ld or st with an order and a scope, under a predicate";
  let description = [{
    `action` is the instruction's operation and type: `add.u32`, `cas.b16`, `exch.b64`, `ld.b32`,
    `st.b32`, `add.v4.f32`. Values and result are words of that width, one for each element of a vector. Where `predicate`
    is false nothing happens and the result is zero. Without a result it is a `red` where there is one.
    ```mlir
    %old = tkg.ptx.atom "add.u32" %p if %c (%v) order acq_rel scope gpu : !llvm.ptr<1>, i32 -> i32
    ```
  }];
  let arguments = (ins StrAttr:$action, AnyType:$pointer, Optional<I1>:$predicate,
                       Variadic<AnySignlessInteger>:$values, Tk_MemOrder:$order, Tk_MemScope:$scope);
  let results = (outs Optional<AnySignlessInteger>:$result);
  let assemblyFormat = [{
    $action $pointer (`if` $predicate^)? (`(` $values^ `)`)? `order` $order `scope` $scope attr-dict
    `:` type($pointer) (`,` type($values)^)? (`->` type($result)^)?
  }];
}

#endif // TKG_OPS_TD
