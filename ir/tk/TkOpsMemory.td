//===- TkOpsMemory.td - places of tensors, pointers, loads and stores ------===//
#ifndef TK_OPS_MEMORY_TD
#define TK_OPS_MEMORY_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Memory is one resource an alias class; `getEffects` in TkOps.cpp names it by the operand's type.
def Tk_MemoryEffects : DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;

def Tk_ExtentOp : Tk_Op<"extent", [Pure]> {
  let summary = "number of elements of a view along one axis";
  let description = [{
    ```mlir
    %n = tk.extent %x, 1 : !tk.view<f32, 2, 0>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, I64Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view)";
  let hasVerifier = 1;
}

def Tk_StrideOp : Tk_Op<"stride", [Pure]> {
  let summary = "distance, in elements, between neighbours of a view along one axis";
  let description = [{
    ```mlir
    %s = tk.stride %x, 0 : !tk.view<f32, 2, 0>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, I64Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view)";
  let hasVerifier = 1;
}

def Tk_BaseOp : Tk_Op<"base", [Pure]> {
  let summary = "address of a view's element at index zero";
  let description = [{
    ```mlir
    %p = tk.base %x : !tk.view<f32, 2, 0> -> !tk.ptr<f32, 0>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view);
  let results = (outs Tk_PtrType:$result);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_ReadOp : Tk_Op<"read", [Tk_MemoryEffects, AttrSizedOperandSegments]> {
  let summary = "tile of a tensor, by place";
  let description = [{
    One index an axis of the view; `widths` has one entry an axis: 0 for a single i64 index, which
    drops the axis, W >= 1 for the W elements that begin at an i64 index, -1 for a tile of i32 or
    i64 indices. All tiles of indices have one shape, which stands in the result where the first
    of them does. The result has that shape and the widths above 0 as its sides, or is a scalar.
    An element outside any extent, or where `mask` is false, is `fill` (a scalar of the element
    type; zero when absent) and is not read.
    ```mlir
    %v = tk.read %x[%row, %c0] widths [0, 1024] fill %f : f32
        : !tk.view<f32, 2, 0> -> tensor<1024xf32>
    %g = tk.read %x[%rows : tensor<16xi32>, %c0] widths [-1, 64] evict first
        : !tk.view<f32, 2, 0> -> tensor<16x64xf32>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, Variadic<Tk_Index>:$indices,
                       Optional<Tk_BoolLike>:$mask, Optional<Tk_Scalar>:$fill,
                       DenseI64ArrayAttr:$widths, OptionalAttr<Tk_CacheHint>:$cache,
                       OptionalAttr<Tk_EvictHint>:$evict);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $view `` custom<PlaceIndices>($indices, type($indices)) `widths` $widths (`mask` $mask^ `:` type($mask))?
    (`fill` $fill^ `:` type($fill))? (`cache` $cache^)? (`evict` $evict^)?
    attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_WriteOp : Tk_Op<"write", [Tk_MemoryEffects, AttrSizedOperandSegments]> {
  let summary = "store a tile into a tensor, by place";
  let description = [{
    Indices and widths as in `tk.read`. `value` has exactly the place's shape. An element outside
    any extent, or where `mask` is false, is not written. When two
    elements have one address, one of the two values stays.
    ```mlir
    tk.write %v, %y[%row, %c0] widths [0, 1024] : tensor<1024xf32>, !tk.view<f32, 2, 1>
    ```
  }];
  let arguments = (ins Tk_Value:$value, Tk_ViewType:$view, Variadic<Tk_Index>:$indices,
                       Optional<Tk_BoolLike>:$mask, DenseI64ArrayAttr:$widths,
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict);
  let assemblyFormat = [{
    $value `,` $view `` custom<PlaceIndices>($indices, type($indices)) `widths` $widths
    (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? (`evict` $evict^)? attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tk_LocateOp : Tk_Op<"locate", [Pure]> {
  let summary = "addresses of the elements of a place, and which of them exist";
  let description = [{
    Indices and widths as in `tk.read`. `exists` is false for elements outside any extent, where
    the address is not to be used. The view's element has 8 bits or more.
    ```mlir
    %p, %m = tk.locate %x[%row, %c0] widths [0, 64]
        : !tk.view<f32, 2, 0> -> tensor<64x!tk.ptr<f32, 0>>, tensor<64xi1>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, Variadic<Tk_Index>:$indices, DenseI64ArrayAttr:$widths);
  let results = (outs Tk_PtrLike:$pointer, Tk_BoolLike:$exists);
  let assemblyFormat = [{
    $view `` custom<PlaceIndices>($indices, type($indices)) `widths` $widths attr-dict
    `:` type($view) `->` type($pointer) `,` type($exists)
  }];
  let hasVerifier = 1;
}

def Tk_MakeViewOp : Tk_Op<"make_view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a view from an address, extents and strides";
  let description = [{
    Extents below 0 count as 0. Strides count elements.
    ```mlir
    %v = tk.make_view %p extents [%m, %n] strides [%n, %one] : !tk.ptr<f32, 0> -> !tk.view<f32, 2, 0>
    ```
  }];
  let arguments = (ins Tk_PtrType:$pointer, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Tk_ViewType:$result);
  let assemblyFormat = [{
    $pointer `extents` `[` $extents `]` `strides` `[` $strides `]` attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_SubviewOp : Tk_Op<"subview", [Pure, AttrSizedOperandSegments]> {
  let summary = "a part of a view, with extents of its own";
  let description = [{
    Along each axis the elements from `low` to before `high`, as far as the view has them; they
    count from 0 in the result. An axis of which `drop` is true is left out of the result, at
    index `low`; when that index lies outside, the result has no elements.
    ```mlir
    %e = tk.subview %x low [%lo, %zero] high [%hi, %n] drop [false, false]
        : !tk.view<f32, 2, 0> -> !tk.view<f32, 2, 0>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, Variadic<I64>:$low, Variadic<I64>:$high,
                       DenseBoolArrayAttr:$drop);
  let results = (outs Tk_ViewType:$result);
  let assemblyFormat = [{
    $view `low` `[` $low `]` `high` `[` $high `]` `drop` $drop attr-dict
    `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_PresentOp : Tk_Op<"present", [Pure]> {
  let summary = "whether the host gave an optional argument";
  let description = [{
    ```mlir
    %b = tk.present %bias : !tk.view<f32, 1, 2>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tk_ViewType, Tk_PtrType]>:$argument);
  let results = (outs I1:$result);
  let assemblyFormat = "$argument attr-dict `:` type($argument)";
}

def Tk_PtrAddOp : Tk_Op<"ptr_add", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "address moved by a number of elements";
  let description = [{
    `pointer` and `offset` have the same shape; the offset (i32 or i64, signed) counts elements.
    A scalar pointer is splatted first.
    ```mlir
    %q = tk.ptr_add %p, %i : tensor<64x!tk.ptr<f32, 0>>, tensor<64xi64>
    ```
  }];
  let arguments = (ins Tk_PtrLike:$pointer, Tk_ScalarOrTile<AnyTypeOf<[I32, I64]>>:$offset);
  let results = (outs Tk_PtrLike:$result);
  let assemblyFormat = "$pointer `,` $offset attr-dict `:` type($pointer) `,` type($offset)";
  let hasVerifier = 1;
}

def Tk_LoadOp : Tk_Op<"load", [Tk_MemoryEffects, AttrSizedOperandSegments]> {
  let summary = "read through a pointer or a tile of pointers";
  let description = [{
    Where `mask` (same shape as the pointer) is false the element is `fill` (a scalar of the
    pointee type; zero when absent) and memory is not touched. A `volatile` load is never moved,
    joined or left out.
    ```mlir
    %v = tk.load %q mask %m : tensor<64xi1> : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask, Optional<Tk_Scalar>:$fill,
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict,
                       UnitAttr:$is_volatile);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`fill` $fill^ `:` type($fill))? (`cache` $cache^)?
    (`evict` $evict^)? (`volatile` $is_volatile^)? attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_StoreOp : Tk_Op<"store", [Tk_MemoryEffects]> {
  let summary = "write through a pointer or a tile of pointers";
  let description = [{
    Where `mask` is false nothing is written. When two elements of the tile have one address, one
    of the two values stays.
    ```mlir
    tk.store %v, %q mask %m : tensor<64xi1> : tensor<64xf32>, tensor<64x!tk.ptr<f32, 0>>
    ```
  }];
  let arguments = (ins Tk_Value:$value, Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask,
                       OptionalAttr<Tk_CacheHint>:$cache, OptionalAttr<Tk_EvictHint>:$evict);
  let assemblyFormat = [{
    $value `,` $pointer (`mask` $mask^ `:` type($mask))? (`cache` $cache^)? (`evict` $evict^)?
    attr-dict `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def Tk_PrefetchOp : Tk_Op<"prefetch", [MemoryEffects<[MemRead, MemWrite]>]> { // else it is dead code
  let summary = "bring memory near that will be read soon";
  let description = [{
    Addresses where `mask` is false are left alone. No result depends on it.
    ```mlir
    tk.prefetch %q mask %m : tensor<64xi1> : tensor<64x!tk.ptr<f32, 0>>
    ```
  }];
  let arguments = (ins Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask,
                       OptionalAttr<Tk_EvictHint>:$evict);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`evict` $evict^)? attr-dict `:` type($pointer)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_MEMORY_TD
