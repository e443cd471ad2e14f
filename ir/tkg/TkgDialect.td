//===- TkgDialect.td - the dialect `tkg`: how a kernel runs on a GPU --------===//
#ifndef TKG_DIALECT_TD
#define TKG_DIALECT_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tkg_Dialect : Dialect {
  let name = "tkg";
  let cppNamespace = "::tkg";
  let summary = "tiles with layouts, explicit addresses, shared memory and barriers";
  let description = [{
    What `tk` becomes: every tile has a layout (`#tkg.layout` as the tensor's encoding) that says
    which thread holds which element, accesses have a uniform base and 32-bit lane offsets,
    shared memory is buffers, and order between threads is barriers. Elementwise operations stay
    those of `tk` and `arith`.
  }];
  let dependentDialects = ["::tk::TkDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tkg_Op<string mnemonic, list<Trait> traits = []> : Op<Tkg_Dialect, mnemonic, traits>;

def Tkg_LayoutAttr : AttrDef<Tkg_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which register of which thread holds which element of a tile";
  let description = [{
    A linear map over bits, in the text form that ir/layout/LinearLayout.h explains:
    ```mlir
    #tkg.layout<"register=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[[128],[256]]">
    ```
    The text is canonical, so equal layouts are equal attributes.
  }];
  let parameters = (ins AttrParameter<"::tk::LinearLayout", "the map">:$map);
  // The map's text form is a string, which the declarative format has no word for.
  let hasCustomAssemblyFormat = 1;
}

def Tkg_BufType : TypeDef<Tkg_Dialect, "Buf"> {
  let mnemonic = "buf";
  let summary = "a buffer in the block's shared memory";
  let description = [{
    `!tkg.buf<4x8xf32>`: row-major, the last axis runs fastest. `!tkg.buf<4x8xf32, strides = 9, 1>`:
    neighbours along the axes lie so many elements apart. `!tkg.buf<4x8xf32, order = #tkg.layout<"offset=[[0,1],...]">>`:
    any memory layout, as conversions use to keep clear of bank conflicts; such a buffer has no views. Elements under 8
    bits take a byte each. Never the result, argument or select operand of control flow.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$element,
                        OptionalArrayRefParameter<"int64_t">:$strides,
                        OptionalParameter<"::tkg::LayoutAttr">:$order);
  // `4x8xf32` is a shaped type's dimension list, which the declarative format cannot parse.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  // Strides of the row-major order are left away, so that equal types are equal.
  let skipDefaultBuilders = 1;
  let builders = [TypeBuilder<(ins "llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$element,
                                   CArg<"llvm::ArrayRef<int64_t>", "{}">:$strides,
                                   CArg<"::tkg::LayoutAttr", "{}">:$order)>];
  let extraClassDeclaration = [{
    int64_t getNumElements() const;
    int64_t getElementBytes() const;
    /// From the first to the last element of a type without negative strides.
    int64_t getBytes() const;
    /// Distance of neighbours along an axis, in elements; not of a buffer with an order.
    int64_t stride(unsigned axis) const;
  }];
}

#endif // TKG_DIALECT_TD
