//===- TkOpsShape.td - tiles from nothing, and tiles of another shape ---- ===//
#ifndef TK_OPS_SHAPE_TD
#define TK_OPS_SHAPE_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tk_ArangeOp : Tk_Op<"arange", [Pure]> {
  let summary = "the numbers start, start + 1, ... as a tile of rank 1";
  let description = [{
    The result's side is the number of elements; `start + side` fits i32. Never folds.
    ```mlir
    %i = tk.arange 0 : tensor<1024xi32>
    ```
  }];
  let arguments = (ins I64Attr:$start);
  let results = (outs Tk_TileOf<I32>:$result);
  let assemblyFormat = "$start attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tk_SplatOp : Tk_Op<"splat", [Pure]> {
  let summary = "a scalar in every element of a tile";
  let description = [{
    ```mlir
    %t = tk.splat %x : f32 -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tk_Scalar:$value);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tk_ExpandDimsOp : Tk_Op<"expand_dims", [Pure]> {
  let summary = "a tile with one more axis, of side 1";
  let description = [{
    ```mlir
    %c = tk.expand_dims %v, 1 : tensor<8xf32> -> tensor<8x1xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value `,` $axis attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_BroadcastOp : Tk_Op<"broadcast", [Pure]> {
  let summary = "a tile repeated along its axes of side 1";
  let description = [{
    Ranks are equal; each side of `value` equals the result's or is 1.
    ```mlir
    %t = tk.broadcast %c : tensor<8x1xf32> -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_ReshapeOp : Tk_Op<"reshape", [Pure]> {
  let summary = "the same elements, in row-major order, under another shape";
  let description = [{
    ```mlir
    %m = tk.reshape %v : tensor<64xf32> -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_PermuteOp : Tk_Op<"permute", [Pure]> {
  let summary = "a tile with its axes in another order";
  let description = [{
    Axis i of the result is axis `order[i]` of `value`.
    ```mlir
    %t = tk.permute %m [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, DenseI64ArrayAttr:$order);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value $order attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_CatOp : Tk_Op<"cat", [Pure]> {
  let summary = "tiles one after the other along an axis";
  let description = [{
    The operands differ at most in their side along `axis`.
    ```mlir
    %c = tk.cat %a, %b axis 0 : tensor<4xf32>, tensor<2xf32> -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$operands, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$operands `axis` $axis attr-dict `:` type($operands) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_FlipOp : Tk_Op<"flip", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tile with one axis in reverse order";
  let description = [{
    ```mlir
    %f = tk.flip %m axis 1 : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = "$value `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tk_SliceOp : Tk_Op<"slice", [Pure]> {
  let summary = "a part of a tile, at a place known at compile time";
  let description = [{
    One offset, size and stride an axis; strides are 1 or more, all elements lie within `value`.
    ```mlir
    %s = tk.slice %m offsets [0, 4] strides [1, 2] : tensor<4x8xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $value `offsets` $offsets `strides` $strides attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_InsertOp : Tk_Op<"insert", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tile with one part replaced, at a place known at compile time";
  let description = [{
    Offsets and strides as in `tk.slice`; the sizes are those of `part`.
    ```mlir
    %n = tk.insert %s, %m offsets [0, 4] strides [1, 2] : tensor<4x2xf32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$part, Tk_Tile:$value, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$strides);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $part `,` $value `offsets` $offsets `strides` $strides attr-dict `:` type($part) `,` type($value)
  }];
  let hasVerifier = 1;
}

def Tk_PickOp : Tk_Op<"pick", [Pure]> {
  let summary = "the elements at one index along an axis, the index known at run time";
  let description = [{
    The result lacks the axis, and is a scalar when `value` has rank 1. An index out of range
    gives zeros, which the interpreter reports.
    ```mlir
    %row = tk.pick %m[%i] axis 0 : tensor<4x8xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, I64:$index, I64Attr:$axis);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $value `[` $index `]` `axis` $axis attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_PutOp : Tk_Op<"put", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tile with the elements at one run-time index along an axis replaced";
  let description = [{
    `part` lacks the axis, or is a scalar when `value` has rank 1. An index out of range replaces
    nothing, which the interpreter reports.
    ```mlir
    %n = tk.put %row, %m[%i] axis 0 : tensor<8xf32>, tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tk_Value:$part, Tk_Tile:$value, I64:$index, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $part `,` $value `[` $index `]` `axis` $axis attr-dict `:` type($part) `,` type($value)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_SHAPE_TD
