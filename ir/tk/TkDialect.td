//===- TkDialect.td - the dialect `tk`: what a kernel means ----------------===//
#ifndef TK_DIALECT_TD
#define TK_DIALECT_TD

include "mlir/IR/OpBase.td"

def Tk_Dialect : Dialect {
  let name = "tk";
  let cppNamespace = "::tk";
  let summary = "block-level kernels: tiles without layout, tensors by place, exact meaning";
  let description = [{
    One function a kernel. A tile is a builtin `tensor` of static shape and rank >= 1, a scalar
    is a tile of rank 0 and has a builtin type. The dialect holds what `arith` and `scf` do not
    say: places of tensor parameters, pointers with an alias class, operations that are partial
    or approximate (each with a stated result for every input), reductions with a combine
    region, and the kernel with its host contract.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tk_Op<string mnemonic, list<Trait> traits = []> : Op<Tk_Dialect, mnemonic, traits>;

#endif // TK_DIALECT_TD
