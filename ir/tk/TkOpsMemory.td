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
    One index an axis of the view, all i64 scalars; `widths` has one entry an axis: 0 for a single
    index, which drops the axis, or W >= 1 for the W elements that begin at the index. The result
    has the widths that are not 0 as its shape, or is a scalar. An element outside any extent, or
    where `mask` is false, is `fill` (a scalar of the element type; zero when absent) and is not
    read.
    ```mlir
    %v = tk.read %x[%row, %c0] widths [0, 1024] fill %f : f32
        : !tk.view<f32, 2, 0> -> tensor<1024xf32>
    ```
  }];
  let arguments = (ins Tk_ViewType:$view, Variadic<I64>:$indices,
                       Optional<Tk_BoolLike>:$mask, Optional<Tk_Scalar>:$fill,
                       DenseI64ArrayAttr:$widths);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $view `[` $indices `]` `widths` $widths (`mask` $mask^ `:` type($mask))? (`fill` $fill^ `:` type($fill))?
    attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_WriteOp : Tk_Op<"write", [Tk_MemoryEffects, AttrSizedOperandSegments]> {
  let summary = "store a tile into a tensor, by place";
  let description = [{
    Indices and widths as in `tk.read`. `value` has exactly the place's shape. An element outside
    any extent, or where `mask` is false, is not written.
    ```mlir
    tk.write %v, %y[%row, %c0] widths [0, 1024] : tensor<1024xf32>, !tk.view<f32, 2, 1>
    ```
  }];
  let arguments = (ins Tk_Value:$value, Tk_ViewType:$view, Variadic<I64>:$indices,
                       Optional<Tk_BoolLike>:$mask, DenseI64ArrayAttr:$widths);
  let assemblyFormat = [{
    $value `,` $view `[` $indices `]` `widths` $widths (`mask` $mask^ `:` type($mask))?
    attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
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
    pointee type; zero when absent) and memory is not touched.
    ```mlir
    %v = tk.load %q mask %m : tensor<64xi1> : tensor<64x!tk.ptr<f32, 0>> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask, Optional<Tk_Scalar>:$fill);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`fill` $fill^ `:` type($fill))? attr-dict
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
  let arguments = (ins Tk_Value:$value, Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask);
  let assemblyFormat = [{
    $value `,` $pointer (`mask` $mask^ `:` type($mask))? attr-dict `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_MEMORY_TD
