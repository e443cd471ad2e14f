//===- TkOpsCompute.td - elementwise: partial and approximate arithmetic ------===//
#ifndef TK_OPS_COMPUTE_TD
#define TK_OPS_COMPUTE_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

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
    I32EnumAttrCase<"ceil", 12>, I32EnumAttrCase<"sigmoid", 13>, I32EnumAttrCase<"exp10", 14>,
    I32EnumAttrCase<"expm1", 15>, I32EnumAttrCase<"log10", 16>, I32EnumAttrCase<"log1p", 17>,
    I32EnumAttrCase<"round", 18>, I32EnumAttrCase<"trunc", 19>, I32EnumAttrCase<"tan", 20>,
    I32EnumAttrCase<"sinh", 21>, I32EnumAttrCase<"cosh", 22>, I32EnumAttrCase<"asin", 23>,
    I32EnumAttrCase<"acos", 24>, I32EnumAttrCase<"atan", 25>, I32EnumAttrCase<"asinh", 26>,
    I32EnumAttrCase<"acosh", 27>, I32EnumAttrCase<"atanh", 28>, I32EnumAttrCase<"erfc", 29>,
    I32EnumAttrCase<"erfinv", 30>, I32EnumAttrCase<"lgamma", 31>, I32EnumAttrCase<"cbrt", 32>]> {
  let cppNamespace = "::tk";
}

def Tk_UnaryOp : Tk_Op<"unary", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "elementwise function of one number";
  let description = [{
    `abs` takes floats and signed integers (abs(MIN) = MIN); all others take floats. f16 and bf16
    are computed in f32 and rounded once. `round` takes ties to the even number. The errors
    allowed stand in docs/language.md.
    ```mlir
    %e = tk.unary exp %x : tensor<1024xf32>
    ```
  }];
  let arguments = (ins Tk_UnaryFn:$fn, Tk_NumberLike:$value, OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = "$fn $value (`num` $num^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tk_BinaryFn : I32EnumAttr<"BinaryFn", "function of two numbers", [
    I32EnumAttrCase<"pow", 0>, I32EnumAttrCase<"atan2", 1>, I32EnumAttrCase<"hypot", 2>,
    I32EnumAttrCase<"fmod", 3>, I32EnumAttrCase<"copysign", 4>, I32EnumAttrCase<"mulhi", 5>]> {
  let cppNamespace = "::tk";
}

def Tk_BinaryFnOp : Tk_Op<"binary", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "elementwise function of two numbers";
  let description = [{
    `mulhi` is the upper half of the product of two integers; all others take floats. `fmod` is
    exact and has the sign of `lhs`. f16 and bf16 are computed in f32 and rounded once. The errors
    allowed stand in docs/language.md.
    ```mlir
    %p = tk.binary pow %x, %y : tensor<8xf32>
    %h = tk.binary mulhi %a, %b unsigned : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tk_BinaryFn:$fn, Tk_NumberLike:$lhs, Tk_NumberLike:$rhs,
                       UnitAttr:$is_unsigned, OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = [{
    $fn $lhs `,` $rhs (`unsigned` $is_unsigned^)? (`num` $num^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_BitsFn : I32EnumAttr<"BitsFn", "function of the bits of an integer", [
    I32EnumAttrCase<"popcount", 0>, I32EnumAttrCase<"clz", 1>, I32EnumAttrCase<"ctz", 2>,
    I32EnumAttrCase<"brev", 3>]> {
  let cppNamespace = "::tk";
}

def Tk_BitsOp : Tk_Op<"bits", [Pure, Elementwise, SameOperandsAndResultType]> {
  let summary = "elementwise function of the bits of an integer";
  let description = [{
    `popcount`: bits that are 1. `clz`, `ctz`: zeros above the highest and below the lowest bit
    that is 1; the width for 0. `brev`: the bits in reverse order.
    ```mlir
    %c = tk.bits popcount %x : tensor<8xi32>
    ```
  }];
  let arguments = (ins Tk_BitsFn:$fn, Tk_IntLike:$value);
  let results = (outs Tk_IntLike:$result);
  let assemblyFormat = "$fn $value attr-dict `:` type($result)";
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
    Float to a narrower float, float to integer, integer to float, and everything from and to the
    storage types (i4, fp8, fp4, e8m0). Float to integer truncates, saturates, and NaN gives 0;
    all else rounds to nearest even (`#tk.num` says otherwise). `from_unsigned` and `to_unsigned`
    name integers that are unsigned. Every conversion is rounded once. To e8m0 the sign is
    dropped, and zero gives the smallest scale 2^-127. Conversions between the other types that
    are exact by width alone are `arith.extf`, `extsi`, `extui`, `trunci`.
    ```mlir
    %h = tk.cast %x : tensor<8xf32> -> tensor<8xbf16>
    %q = tk.cast %x num <round = rtz, overflow = ieee> : tensor<8xf32> -> tensor<8xf8E5M2>
    ```
  }];
  let arguments = (ins Tk_AnyNumberLike:$value, UnitAttr:$from_unsigned, UnitAttr:$to_unsigned,
                       OptionalAttr<Tk_NumAttr>:$num);
  let results = (outs Tk_AnyNumberLike:$result);
  let assemblyFormat = [{
    $value (`from_unsigned` $from_unsigned^)? (`to_unsigned` $to_unsigned^)? (`num` $num^)?
    attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_BitcastOp : Tk_Op<"bitcast", [Pure]> {
  let summary = "the same bits, read as elements of another type";
  let description = [{
    Between types of one width the shape stays. Otherwise `axis` names the axis whose elements are
    split into narrower ones or joined into wider ones, lowest bits first; its side is multiplied
    or divided by the ratio of the widths. i1 has no bits to cast.
    ```mlir
    %b = tk.bitcast %x : tensor<8xf32> -> tensor<8xi32>
    %q = tk.bitcast %b axis 0 : tensor<8xi32> -> tensor<64xi4>
    ```
  }];
  let arguments = (ins Tk_AnyNumberLike:$value, OptionalAttr<I64Attr>:$axis);
  let results = (outs Tk_AnyNumberLike:$result);
  let assemblyFormat = "$value (`axis` $axis^)? attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tk_MapOp : Tk_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a function of scalars, element by element, with control flow of its own";
  let description = [{
    The region has one scalar an operand and yields one a result; elements take branches and leave
    loops on their own. All operands and results have one shape. Nothing in it touches memory.
    ```mlir
    %r = tk.map %x : tensor<8xi32> -> tensor<8xi32> {
    ^bb0(%e: i32):
      %zero = arith.constant 0 : i32
      %negative = arith.cmpi slt, %e, %zero : i32
      %c = scf.if %negative -> i32 {
        scf.yield %zero : i32
      } else {
        scf.yield %e : i32
      }
      tk.yield %c : i32
    }
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$operands);
  let results = (outs Variadic<Tk_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $operands attr-dict `:` type($operands) `->` type($results) $body
  }];
  let hasVerifier = 1;
}

def Tk_AsmOp : Tk_Op<"asm", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "assembly of the target, element by element";
  let description = [{
    `code` is PTX or GCN text with LLVM's placeholders and `constraints`; one execution handles
    `pack` neighbouring elements, narrow ones packed into registers of 32 bits. Operands and
    results have one shape (or are scalars). `pure`: the text has no effect but its results. The
    region, when there is one, computes the same from scalars: it is what the interpreter runs.
    ```mlir
    %r = tk.asm "ex2.approx.f32 $0, $1;" constraints "=f,f" pack 1 pure (%x)
        : (tensor<8xf32>) -> tensor<8xf32> reference {
    ^bb0(%e: f32):
      %y = tk.unary exp2 %e : f32
      tk.yield %y : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$code, StrAttr:$constraints, I64Attr:$pack, UnitAttr:$pure,
                       Variadic<Tk_Value>:$operands);
  let results = (outs Variadic<Tk_Value>:$results);
  let regions = (region AnyRegion:$reference);
  let assemblyFormat = [{
    $code `constraints` $constraints `pack` $pack (`pure` $pure^)? `(` $operands `)` attr-dict
    `:` functional-type($operands, $results) `reference` $reference
  }];
  let hasVerifier = 1;
}

def Tk_ExternOp : Tk_Op<"extern", [Pure]> {
  let summary = "a function of the target's device library, element by element";
  let description = [{
    `symbol` is the name in the library (libdevice, ocml); it takes one scalar an operand and gives
    one. Operands and the result have one shape. The region, when there is one, computes the same
    from scalars: it is what the interpreter runs.
    ```mlir
    %r = tk.extern "__nv_j0f"(%x) : (tensor<8xf32>) -> tensor<8xf32> reference {
    }
    ```
  }];
  let arguments = (ins StrAttr:$symbol, Variadic<Tk_Value>:$operands);
  let results = (outs Tk_Value:$result);
  let regions = (region AnyRegion:$reference);
  let assemblyFormat = [{
    $symbol `(` $operands `)` attr-dict `:` functional-type($operands, $result)
    `reference` $reference
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_COMPUTE_TD
