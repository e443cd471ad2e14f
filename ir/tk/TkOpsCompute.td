//===- TkOpsCompute.td - tiles, partial and approximate arithmetic, reductions --===//
#ifndef TK_OPS_COMPUTE_TD
#define TK_OPS_COMPUTE_TD

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

class Tk_BinaryOp<string mnemonic, string what, string rule, string example, Type type>
    : Tk_Op<mnemonic, [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = what;
  let description = rule # "\n```mlir\n" # example # "\n```\n";
  let arguments = (ins type:$lhs, type:$rhs, UnitAttr:$is_unsigned, OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs (`unsigned` $is_unsigned^)? (`num` $num^)? attr-dict `:` type($result)";
}

def Tk_DivOp : Tk_BinaryOp<"div", "quotient",
    [{Floats: IEEE division, rounded to nearest even. Integers truncate toward zero; x / 0 = 0 and
      MIN / -1 = MIN.}],
    "%q = tk.div %a, %b unsigned : tensor<8xi32>", Tk_NumberLike>;
def Tk_RemOp : Tk_BinaryOp<"rem", "remainder of the truncated integer quotient",
    [{x % 0 = x, MIN % -1 = 0; the sign is the dividend's. Integers only.}],
    "%r = tk.rem %a, %b : i64", Tk_IntLike>;
def Tk_ShlOp : Tk_BinaryOp<"shl", "shift left",
    [{The count is read as unsigned; a count of the width or more gives 0.}],
    "%r = tk.shl %a, %b : i32", Tk_IntLike>;
def Tk_ShrOp : Tk_BinaryOp<"shr", "shift right, arithmetic unless `unsigned`",
    [{The count is read as unsigned; a count of the width or more gives the sign, or 0 when
      `unsigned`.}],
    "%r = tk.shr %a, %b unsigned : i32", Tk_IntLike>;
def Tk_MinOp : Tk_BinaryOp<"min", "smaller of two numbers",
    [{Floats: -0 is smaller than +0; NaN in either operand gives NaN, or with `nan = number` the
      other operand.}],
    "%r = tk.min %a, %b : tensor<8xf32>", Tk_NumberLike>;
def Tk_MaxOp : Tk_BinaryOp<"max", "larger of two numbers",
    [{Floats: +0 is larger than -0; NaN in either operand gives NaN, or with `nan = number` the
      other operand.}],
    "%r = tk.max %a, %b : tensor<8xf32>", Tk_NumberLike>;

def Tk_UnaryFn : I32EnumAttr<"UnaryFn", "function of one number", [
    I32EnumAttrCase<"abs", 0>, I32EnumAttrCase<"exp", 1>, I32EnumAttrCase<"exp2", 2>,
    I32EnumAttrCase<"log", 3>, I32EnumAttrCase<"log2", 4>, I32EnumAttrCase<"sqrt", 5>,
    I32EnumAttrCase<"rsqrt", 6>, I32EnumAttrCase<"sin", 7>, I32EnumAttrCase<"cos", 8>,
    I32EnumAttrCase<"tanh", 9>, I32EnumAttrCase<"erf", 10>, I32EnumAttrCase<"floor", 11>,
    I32EnumAttrCase<"ceil", 12>, I32EnumAttrCase<"sigmoid", 13>]> {
  let cppNamespace = "::tk";
}

def Tk_UnaryOp : Tk_Op<"unary", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "elementwise function of one number";
  let description = [{
    `abs` takes floats and signed integers (abs(MIN) = MIN); all others take floats. f16 and bf16
    are computed in f32 and rounded once. The errors allowed stand in docs/language.md.
    ```mlir
    %e = tk.unary exp %x : tensor<1024xf32>
    ```
  }];
  let arguments = (ins Tk_UnaryFn:$fn, Tk_NumberLike:$value, OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = "$fn $value (`num` $num^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tk_FmaOp : Tk_Op<"fma", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "a * b + c, rounded once";
  let description = [{
    ```mlir
    %r = tk.fma %a, %b, %c : tensor<8xf32>
    ```
  }];
  let arguments = (ins Tk_FloatLike:$a, Tk_FloatLike:$b, Tk_FloatLike:$c);
  let results = (outs Tk_FloatLike:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

def Tk_CastOp : Tk_Op<"cast", [Pure, Elementwise, SameOperandsAndResultShape]> {
  let summary = "numeric conversion that may round or saturate";
  let description = [{
    Float to a narrower float, float to integer, integer to float. Float to integer truncates,
    saturates, and NaN gives 0 (`#tk.num` says otherwise). `from_unsigned` and `to_unsigned` name
    integers that are unsigned. f16 to bf16 and back is rounded once. Conversions that are exact
    by width alone are `arith.extf`, `extsi`, `extui`, `trunci`.
    ```mlir
    %h = tk.cast %x : tensor<8xf32> -> tensor<8xbf16>
    ```
  }];
  let arguments = (ins Tk_NumberLike:$value, UnitAttr:$from_unsigned, UnitAttr:$to_unsigned,
                       OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = [{
    $value (`from_unsigned` $from_unsigned^)? (`to_unsigned` $to_unsigned^)? (`num` $num^)?
    attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_ReduceOp : Tk_Op<"reduce", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let summary = "combine the elements of one axis";
  let description = [{
    The region has two scalars an operand, (left..., right...), and yields one an operand. The
    elements with the lower index are always on the left. There is no identity: an axis of side 1
    gives its element. `order any` says that the combine is associative and commutative up to
    rounding, `order indexed` that only the association may change. The interpreter uses the balanced
    tree that splits n elements after the largest power of two below n. All operands have one shape; results
    lack the axis, and are scalars when the operand has rank 1.
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

#endif // TK_OPS_COMPUTE_TD
