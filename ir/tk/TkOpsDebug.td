//===- TkOpsDebug.td - what a kernel says about itself ----------------------===//
#ifndef TK_OPS_DEBUG_TD
#define TK_OPS_DEBUG_TD

include "ir/tk/TkTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tk_PrintOp : Tk_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "print scalars and tiles";
  let description = [{
    One line a program instance: the text, then the values. `unsigned_values` has one entry a
    value.
    ```mlir
    tk.print "x = " hex %x unsigned [false] : tensor<8xi32>
    ```
  }];
  let arguments = (ins StrAttr:$text, UnitAttr:$hex, Variadic<Tk_Value>:$values,
                       DenseBoolArrayAttr:$unsigned_values);
  let assemblyFormat = [{
    $text (`hex` $hex^)? $values `unsigned` $unsigned_values attr-dict (`:` type($values)^)?
  }];
  let hasVerifier = 1;
}

def Tk_AssertOp : Tk_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stop with a message where a condition is false";
  let description = [{
    Elements where `mask` is false are not looked at. Machine code has it only when asked for.
    ```mlir
    tk.assert %c, "index in range" mask %m : tensor<8xi1> : tensor<8xi1>
    ```
  }];
  let arguments = (ins Tk_BoolLike:$condition, StrAttr:$text, Optional<Tk_BoolLike>:$mask);
  let assemblyFormat = [{
    $condition `,` $text (`mask` $mask^ `:` type($mask))? attr-dict `:` type($condition)
  }];
  let hasVerifier = 1;
}

def Tk_AssumeOp : Tk_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "a condition the author promises to be true";
  let description = [{
    The interpreter reports one that is false; machine code may rely on it.
    ```mlir
    tk.assume %c
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Tk_HintOp : Tk_Op<"hint", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a value about whose elements the author promises something";
  let description = [{
    One number an axis each: blocks of `contiguous` elements count up by one, those of `constant`
    elements are equal, and the first element of each such block is a multiple of `multiple_of`
    (bytes, for pointers). 1 promises nothing. The interpreter checks it.
    ```mlir
    %h = tk.hint %i multiple_of [16] contiguous [16] constant [1] : tensor<64xi32>
    ```
  }];
  let arguments = (ins Tk_Value:$value, DenseI64ArrayAttr:$multiple_of,
                       DenseI64ArrayAttr:$contiguous, DenseI64ArrayAttr:$constant);
  let results = (outs Tk_Value:$result);
  let assemblyFormat = [{
    $value `multiple_of` $multiple_of `contiguous` $contiguous `constant` $constant attr-dict
    `:` type($value)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_DEBUG_TD
