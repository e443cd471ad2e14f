//===- TkOpsControl.td - kernels and where a program instance stands -------===//
#ifndef TK_OPS_CONTROL_TD
#define TK_OPS_CONTROL_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Tk_KernelOp : Tk_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol]> {
  let summary = "one instance of a kernel, with its host contract";
  let description = [{
    The arguments stand in the order of the contract's `args`: `!tk.view` for a tensor, `!tk.ptr`
    for a pointer, a builtin scalar for a scalar. The body is one block that ends in `tk.return`.
    Every program instance of the grid runs it once.
    ```mlir
    tk.kernel @nothing(%n: i64) attributes {contract = #tk.contract<{kernel = "nothing", instance = {},
        args = [{name = "n", kind = "scalar", dtype = "i64"} ], grid = [1, 1, 1], require = [],
        disjoint = [], options = {warps = 4}}>} {
      tk.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       Tk_ContractAttr:$contract,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The contract's entry for argument `index`.
    ::mlir::DictionaryAttr getArgContract(unsigned index);
  }];
  // A function's printed form is the interface's, which ODS has no format for.
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tk_ReturnOp : Tk_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let description = [{
    ```mlir
    tk.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tk_YieldOp : Tk_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceOp"]>]> {
  let summary = "the results of a combine region";
  let description = [{
    ```mlir
    tk.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<Tk_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Tk_ProgramIdOp : Tk_Op<"program_id", [Pure]> {
  let summary = "index of this program instance along one grid axis";
  let description = [{
    Axis 0 runs fastest. The result is never negative.
    ```mlir
    %pid = tk.program_id 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict";
}

def Tk_NumProgramsOp : Tk_Op<"num_programs", [Pure]> {
  let summary = "number of program instances along one grid axis";
  let description = [{
    ```mlir
    %n = tk.num_programs 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<2>]>:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$axis attr-dict";
}

#endif // TK_OPS_CONTROL_TD
