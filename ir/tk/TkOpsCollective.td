//===- TkOpsCollective.td - operations in which elements meet ------------ ===//
#ifndef TK_OPS_COLLECTIVE_TD
#define TK_OPS_COLLECTIVE_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tk_ReduceOp : Tk_Op<"reduce", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let summary = "combine the elements of one axis";
  let description = [{
    The region has two scalars an operand, (left..., right...), and yields one an operand. The
    elements with the lower index are always on the left. There is no identity: an axis of side 1
    gives its element. `order any` says that the combine is associative and commutative up to
    rounding, `order indexed` that only the association may change. `order tree` says that nothing may:
    n elements are split after the largest power of two below n, both parts are combined so, and then
    with each other. The interpreter always does that. All operands have one shape; results lack the
    axis, and are scalars when the operand has rank 1.
    ```mlir
    %s = tk.reduce %x axis 1 order any : tensor<4x64xf32> -> tensor<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tk.yield %c : f32
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

def Tk_ScanOp : Tk_Op<"scan", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let summary = "combine each element of an axis with all before it";
  let description = [{
    Element i of a result is the combination of elements 0 to i, `reverse`: of i to the last; the
    region and `order` are those of `tk.reduce`, the lower index always on the left. Shapes stay.
    The interpreter combines one element after the other, but under `order tree`: there element i is
    what `tk.reduce` gives of elements 0 to i; `reverse`, in each part of its tree the elements of the
    left half are combined with what the right half gives.
    ```mlir
    %s = tk.scan %x axis 0 order any : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tk.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$operands, I64Attr:$axis, UnitAttr:$reverse,
                       Tk_ReduceOrder:$order);
  let results = (outs Variadic<Tk_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $operands `axis` $axis (`reverse` $reverse^)? `order` $order attr-dict
    `:` type($operands) `->` type($results) $combine
  }];
  let hasVerifier = 1;
}

def Tk_SortOp : Tk_Op<"sort", [Pure]> {
  let summary = "the elements of an axis in order, with their indices";
  let description = [{
    Gives the sorted elements and, as i32, where they stood. The side along `axis` of the results
    says how many of the first ones are wanted. Equal elements keep their order, `descending` too.
    -0 is below +0 and NaN above all numbers. An i1 is 0 or 1.
    ```mlir
    %v, %i = tk.sort %x axis 1 descending : tensor<4x64xf32> -> tensor<4x8xf32>, tensor<4x8xi32>
    ```
  }];
  let arguments = (ins Tk_TileOf<Tk_Number>:$value, I64Attr:$axis, UnitAttr:$descending,
                       UnitAttr:$is_unsigned);
  let results = (outs Tk_TileOf<Tk_Number>:$sorted, Tk_TileOf<I32>:$indices);
  let assemblyFormat = [{
    $value `axis` $axis (`descending` $descending^)? (`unsigned` $is_unsigned^)? attr-dict
    `:` type($value) `->` type($sorted) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def Tk_HistogramOp : Tk_Op<"histogram", [Pure]> {
  let summary = "how often each of the numbers 0, 1, ... occurs";
  let description = [{
    Elements outside 0 to N - 1, and those where `mask` is false, count nowhere. N is the result's
    side. An i1 is 0 or 1.
    ```mlir
    %h = tk.histogram %x : tensor<512xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins Tk_TileOf<Tk_Int>:$value, Optional<Tk_TileOf<I1>>:$mask,
                       UnitAttr:$is_unsigned);
  let results = (outs Tk_TileOf<I32>:$result);
  let assemblyFormat = [{
    $value (`mask` $mask^ `:` type($mask))? (`unsigned` $is_unsigned^)? attr-dict
    `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_GatherOp : Tk_Op<"gather", [Pure]> {
  let summary = "elements of a tile, by their indices along one axis";
  let description = [{
    `result[.., i, ..] = value[.., indices[.., i, ..], ..]`; the other sides of `indices` are those
    of `value`. An index out of range gives zero, which the interpreter reports.
    ```mlir
    %g = tk.gather %x[%i] axis 1 : tensor<4x64xf32>, tensor<4x8xi32> -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$value, Tk_TileOf<AnyTypeOf<[I32, I64]>>:$indices, I64Attr:$axis);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $value `[` $indices `]` `axis` $axis attr-dict
    `:` type($value) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_DotInput : I32EnumAttr<"DotInput", "how the operands of an f32 product are prepared", [
    I32EnumAttrCase<"exact", 0>, I32EnumAttrCase<"tf32", 1>, I32EnumAttrCase<"tf32x3", 2>,
    I32EnumAttrCase<"bf16x3", 3>, I32EnumAttrCase<"bf16x6", 4>]> {
  let cppNamespace = "::tk";
}

def Tk_DotOp : Tk_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a @ b";
  let description = [{
    `a` is [.., M, K], `b` [.., K, N], `acc` [.., M, N]; axes before the last two are equal. All
    operand types but i1, i4, i16, i32, i64, fp4 and e8m0; both have one type, or both are fp8. The
    accumulator is f32 (f64 of f64, i32 of i8, f16 of f16 on request). Products are exact; the
    order of the sum over K is unspecified, and its error is bounded by docs/language.md. `input`
    is about f32 operands: `exact` gives the accuracy of f32. `promote`: with fp8, the number of
    products after which partial sums are added in f32 where the matrix unit keeps fewer bits; 0:
    never.
    ```mlir
    %d = tk.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x16xf16>, tensor<64x16xf32>
    ```
  }];
  let arguments = (ins Tk_Tile:$a, Tk_Tile:$b, Tk_Tile:$acc,
                       DefaultValuedAttr<Tk_DotInput, "::tk::DotInput::exact">:$input,
                       DefaultValuedAttr<I64Attr, "128">:$promote, UnitAttr:$a_unsigned,
                       UnitAttr:$b_unsigned);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`input` $input^)? (`promote` $promote^)? (`a_unsigned` $a_unsigned^)?
    (`b_unsigned` $b_unsigned^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tk_DotScaledOp : Tk_Op<"dot_scaled", [Pure, AllTypesMatch<["acc", "result"]>,
                                          AttrSizedOperandSegments]> {
  let summary = "acc + (a * a_scale) @ (b * b_scale), with one scale a block along K";
  let description = [{
    `a` is [.., M, K], `b` [.., K, N], each of fp4, fp8, f16 or bf16. A scale, of e8m0 or
    f8E4M3FN, has the shape of its operand with K divided by the block, which is 16 or 32. The
    scaled products are exact; the sum is that of `tk.dot`. A NaN scale makes its products NaN.
    ```mlir
    %d = tk.dot_scaled %a scale %sa : tensor<64x2xf8E8M0FNU>, %b scale %sb : tensor<2x32xf8E8M0FNU>,
        %c : tensor<64x64xf4E2M1FN>, tensor<64x32xf8E4M3FN>, tensor<64x32xf32>
    ```
  }];
  // What may be absent stands last: the inference of the result's type counts operands to `acc`.
  let arguments = (ins Tk_Tile:$a, Tk_Tile:$b, Tk_Tile:$acc, Optional<Tk_Tile>:$a_scale,
                       Optional<Tk_Tile>:$b_scale);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $a (`scale` $a_scale^ `:` type($a_scale))? `,` $b (`scale` $b_scale^ `:` type($b_scale))? `,`
    $acc attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_COLLECTIVE_TD
