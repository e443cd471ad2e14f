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

def Tk_YieldOp : Tk_Op<"yield", [Pure, Terminator, ParentOneOf<["ReduceOp", "ScanOp", "MapOp",
                                                               "AsmOp", "ExternOp"]>]> {
  let summary = "the results of a region of scalars";
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

def Tk_NumWarpsOp : Tk_Op<"num_warps", [Pure]> {
  let summary = "number of warps that run a program instance";
  let description = [{
    ```mlir
    %w = tk.num_warps
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Tk_SmIdOp : Tk_Op<"sm_id", [Pure]> {
  let summary = "number of the processor that runs this program instance";
  let description = [{
    0 to the number of processors less one; the interpreter gives 0.
    ```mlir
    %s = tk.sm_id
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Tk_ClockKind : I32EnumAttr<"ClockKind", "what a clock counts", [
    I32EnumAttrCase<"cycles", 0>, I32EnumAttrCase<"nanoseconds", 1>]> {
  let cppNamespace = "::tk";
}

def Tk_ClockOp : Tk_Op<"clock", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a clock that only goes forward";
  let description = [{
    `cycles` of the processor, or `nanoseconds` of the whole device. Not moved across operations
    with effects. The interpreter counts operations.
    ```mlir
    %t = tk.clock cycles
    ```
  }];
  let arguments = (ins Tk_ClockKind:$kind);
  let results = (outs I64:$result);
  let assemblyFormat = "$kind attr-dict";
}

def Tk_BarrierOp : Tk_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "all warps of a program instance wait for each other";
  let description = [{
    Program order needs no barrier; it is for assembly and for measuring. Stands where control
    flow is uniform. The interpreter has nothing to do.
    ```mlir
    tk.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tk_GridDependencyKind : I32EnumAttr<"GridDependencyKind", "which end of a dependency", [
    I32EnumAttrCase<"wait", 0>, I32EnumAttrCase<"launch", 1>]> {
  let cppNamespace = "::tk";
}

def Tk_GridDependencyOp : Tk_Op<"grid_dependency", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the overlap with the kernel before or after on the stream";
  let description = [{
    `wait`: until the results of the kernel before can be seen; `launch`: the kernel after may
    start. Without programmatic dependent launch neither has an effect.
    ```mlir
    tk.grid_dependency wait
    ```
  }];
  let arguments = (ins Tk_GridDependencyKind:$kind);
  let assemblyFormat = "$kind attr-dict";
}

#endif // TK_OPS_CONTROL_TD
