//===- TkTypes.td - pointers, views, and the numeric and contract attributes --===//
#ifndef TK_TYPES_TD
#define TK_TYPES_TD

include "ir/tk/TkDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tk_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tk_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tk_PtrType : Tk_Type<"Ptr", "ptr"> {
  let summary = "address of elements in global memory";
  let description = [{
    `!tk.ptr<f32, 0>` is the address of `f32` elements that belong to alias class 0. Addresses of
    different classes never overlap. Every pointer or tensor parameter has a class of its own,
    unless the kernel says that two of them are the same memory. A pointer loaded from memory
    (`!tk.ptr<!tk.ptr<f32, 2>, 1>`) carries its class in the pointee. i1 takes one byte.
  }];
  let parameters = (ins "::mlir::Type":$pointee, "int64_t":$aliasClass);
  let assemblyFormat = "`<` $pointee `,` $aliasClass `>`";
  let genVerifyDecl = 1;
}

def Tk_ViewType : Tk_Type<"View", "view"> {
  let summary = "a tensor parameter: base address, extents and strides known at run time";
  let description = [{
    `!tk.view<f16, 2, 0>` is a tensor of rank 2 in alias class 0. Its extents and strides are i64,
    strides count elements. What the host promised about them stands in the kernel's contract.
  }];
  let parameters = (ins "::mlir::Type":$element, "int64_t":$rank, "int64_t":$aliasClass);
  let assemblyFormat = "`<` $element `,` $rank `,` $aliasClass `>`";
  let genVerifyDecl = 1;
}

def Tk_I4 : I<4>;
def Tk_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "an integer scalar">;
def Tk_Float : AnyTypeOf<[F16, BF16, F32, F64], "a float scalar">;
def Tk_Number : AnyTypeOf<[Tk_Int, Tk_Float], "a number">;
/// Types that are stored, moved and converted, and multiplied by matrix products; no arithmetic.
def Tk_StorageNumber : AnyTypeOf<[Tk_I4, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ, F4E2M1FN,
                                  F8E8M0FNU], "a storage number">;
def Tk_AnyNumber : AnyTypeOf<[Tk_Number, Tk_StorageNumber], "a number of any type">;
def Tk_Scalar : AnyTypeOf<[Tk_AnyNumber, Tk_PtrType], "a tk scalar">;

class Tk_TileOf<Type scalar> : StaticShapeTensorOf<[scalar]>;
class Tk_ScalarOrTile<Type scalar> : AnyTypeOf<[scalar, Tk_TileOf<scalar>]>;
def Tk_Tile : Tk_TileOf<Tk_Scalar>;
def Tk_NumberLike : Tk_ScalarOrTile<Tk_Number>;
def Tk_AnyNumberLike : Tk_ScalarOrTile<Tk_AnyNumber>;
def Tk_Index : Tk_ScalarOrTile<AnyTypeOf<[I32, I64]>>;
def Tk_IntLike : Tk_ScalarOrTile<Tk_Int>;
def Tk_FloatLike : Tk_ScalarOrTile<Tk_Float>;
def Tk_BoolLike : Tk_ScalarOrTile<I1>;
def Tk_PtrLike : Tk_ScalarOrTile<Tk_PtrType>;
def Tk_Value : AnyTypeOf<[Tk_Scalar, Tk_Tile]>;

def Tk_Round : I32EnumAttr<"Round", "how a conversion rounds", [
    I32EnumAttrCase<"rne", 0>, I32EnumAttrCase<"rtz", 1>, I32EnumAttrCase<"down", 2>,
    I32EnumAttrCase<"up", 3>]> {
  let cppNamespace = "::tk";
}

def Tk_Overflow : I32EnumAttr<"Overflow", "what a conversion does out of the target's range", [
    I32EnumAttrCase<"natural", 0>, I32EnumAttrCase<"saturate", 1>, I32EnumAttrCase<"ieee", 2>]> {
  let cppNamespace = "::tk";
}

def Tk_NanRule : I32EnumAttr<"NanRule", "what minimum and maximum do with NaN", [
    I32EnumAttrCase<"propagate", 0>, I32EnumAttrCase<"number", 1>]> {
  let cppNamespace = "::tk";
}

def Tk_ReduceOrder : I32EnumAttr<"ReduceOrder", "what a reduction may do to its order", [
    I32EnumAttrCase<"any", 0>, I32EnumAttrCase<"indexed", 1>, I32EnumAttrCase<"tree", 2>]> {
  let cppNamespace = "::tk";
}

def Tk_NumAttr : AttrDef<Tk_Dialect, "Num"> {
  let mnemonic = "num";
  let summary = "the numeric contract of one operation";
  let description = [{
    `#tk.num<round = rne, overflow = saturate, nan = propagate, ulp = 2>`. `round`: of a
    conversion. `overflow`, of a conversion: `natural` is what the target does by itself (integers,
    fp8, fp4 and e8m0 saturate; f16, bf16, f32 and f64 overflow to infinity), `saturate` gives the
    nearest end of the range, `ieee` gives infinity where the format has one, else NaN. `nan`: of
    minimum and maximum. `ulp`: the largest error allowed, 0 for correct rounding. An operation
    without the attribute has the default of the language: rne (float to integer: rtz), natural,
    propagate, and the ulp of docs/language.md for its function.
  }];
  let parameters = (ins
      DefaultValuedParameter<"::tk::Round", "::tk::Round::rne">:$round,
      DefaultValuedParameter<"::tk::Overflow", "::tk::Overflow::natural">:$overflow,
      DefaultValuedParameter<"::tk::NanRule", "::tk::NanRule::propagate">:$nan,
      DefaultValuedParameter<"int64_t", "0">:$ulp);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tk_ContractAttr : AttrDef<Tk_Dialect, "Contract"> {
  let mnemonic = "contract";
  let summary = "what the host promises a kernel and what it must provide";
  let description = [{
    A dictionary that mirrors the JSON description (docs/metadata.md) before any target is known:
    `kernel` (name), `instance` (compile-time parameters), `args`, `grid` (three expressions),
    `require`, `disjoint`, `options` (warps, stages, ctas, maxregs) and `numerics`. An expression
    is an integer, a name, or an array of an operator and its operands:
    ```mlir
    #tk.contract<{kernel = "copy", instance = {BLOCK = 1024}, disjoint = [["z", "x"]], require = [],
                  options = {warps = 4}, grid = [["cdiv", "N", 1024], 1, 1],
                  args = [{name = "x", kind = "tensor", dtype = "f32", access = "in",
                           extents = ["N"], strides = [1], align = 4},
                          {name = "z", kind = "tensor", dtype = "f32", access = "out",
                           extents = ["N"], strides = [1], align = 4} ]}>
    ```
  }];
  let parameters = (ins "::mlir::DictionaryAttr":$fields);
  let assemblyFormat = "`<` $fields `>`";
  let genVerifyDecl = 1;
}

def Tk_CacheHint : I32EnumAttr<"CacheHint", "at which levels an access is cached", [
    I32EnumAttrCase<"ca", 0>, I32EnumAttrCase<"cg", 1>, I32EnumAttrCase<"cs", 2>,
    I32EnumAttrCase<"cv", 3>, I32EnumAttrCase<"wb", 4>, I32EnumAttrCase<"wt", 5>]> {
  let cppNamespace = "::tk";
}
def Tk_EvictHint : I32EnumAttr<"EvictHint", "how soon a cache line may go", [
    I32EnumAttrCase<"first", 0>, I32EnumAttrCase<"last", 1>, I32EnumAttrCase<"normal", 2>]> {
  let cppNamespace = "::tk";
}

def Tk_MemOrder : I32EnumAttr<"MemOrder", "what an atomic operation orders", [
    I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
    I32EnumAttrCase<"acq_rel", 3>]> {
  let cppNamespace = "::tk";
}

def Tk_MemScope : I32EnumAttr<"MemScope", "among whom an atomic operation is one", [
    I32EnumAttrCase<"cta", 0>, I32EnumAttrCase<"gpu", 1>, I32EnumAttrCase<"sys", 2>]> {
  let cppNamespace = "::tk";
}

def Tk_AtomicKind : I32EnumAttr<"AtomicKind", "what an atomic operation does", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
    I32EnumAttrCase<"And", 3, "and">, I32EnumAttrCase<"Or", 4, "or">,
    I32EnumAttrCase<"Xor", 5, "xor">, I32EnumAttrCase<"exchange", 6>]> {
  let cppNamespace = "::tk";
}

#endif // TK_TYPES_TD
