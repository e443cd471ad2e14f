//===- TkOpsAtomic.td - memory that several program instances change -------===//
#ifndef TK_OPS_ATOMIC_TD
#define TK_OPS_ATOMIC_TD

include "ir/tk/TkTypes.td"
include "ir/tk/TkOpsMemory.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tk_AtomicRmwOp : Tk_Op<"atomic_rmw", [Tk_MemoryEffects, AllTypesMatch<["value", "result"]>]> {
  let summary = "change memory in one step";
  let description = [{
    Each element whose `mask` is true is combined with memory once, in no stated order; the
    result is what memory held before, and zero where the mask is false. `max` and `min` of
    floats: a NaN in memory or in the value gives NaN. `order` and `scope` say what else becomes
    visible and to whom: memory operations of the whole program instance before a release, after
    an acquire.
    ```mlir
    %old = tk.atomic_rmw add %v, %q mask %m : tensor<64xi1> order relaxed scope gpu
        : tensor<64xf32>, tensor<64x!tk.ptr<f32, 0>>
    ```
  }];
  let arguments = (ins Tk_AtomicKind:$kind, Tk_NumberLike:$value, Tk_PtrLike:$pointer,
                       Optional<Tk_BoolLike>:$mask, UnitAttr:$is_unsigned, Tk_MemOrder:$order,
                       Tk_MemScope:$scope);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = [{
    $kind $value `,` $pointer (`mask` $mask^ `:` type($mask))? (`unsigned` $is_unsigned^)?
    `order` $order `scope` $scope attr-dict `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def Tk_AtomicCasOp : Tk_Op<"atomic_cas", [Tk_MemoryEffects,
                                        AllTypesMatch<["expected", "desired", "result"]>]> {
  let summary = "write memory if it holds what is expected";
  let description = [{
    Compares bits. The result is what memory held before, and zero where the mask is false.
    ```mlir
    %old = tk.atomic_cas %expected, %desired, %q order acq_rel scope gpu
        : tensor<64xi32>, tensor<64x!tk.ptr<i32, 0>>
    ```
  }];
  let arguments = (ins Tk_NumberLike:$expected, Tk_NumberLike:$desired, Tk_PtrLike:$pointer,
                       Optional<Tk_BoolLike>:$mask, Tk_MemOrder:$order, Tk_MemScope:$scope);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = [{
    $expected `,` $desired `,` $pointer (`mask` $mask^ `:` type($mask))? `order` $order
    `scope` $scope attr-dict `:` type($expected) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

def Tk_AtomicLoadOp : Tk_Op<"atomic_load", [Tk_MemoryEffects]> {
  let summary = "read memory that others change";
  let description = [{
    `order` is relaxed or acquire. Zero where the mask is false.
    ```mlir
    %v = tk.atomic_load %p order acquire scope gpu : !tk.ptr<i32, 0> -> i32
    ```
  }];
  let arguments = (ins Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask, Tk_MemOrder:$order,
                       Tk_MemScope:$scope);
  let results = (outs Tk_NumberLike:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? `order` $order `scope` $scope attr-dict
    `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tk_AtomicStoreOp : Tk_Op<"atomic_store", [Tk_MemoryEffects]> {
  let summary = "write memory that others read";
  let description = [{
    `order` is relaxed or release.
    ```mlir
    tk.atomic_store %v, %p order release scope gpu : i32, !tk.ptr<i32, 0>
    ```
  }];
  let arguments = (ins Tk_NumberLike:$value, Tk_PtrLike:$pointer, Optional<Tk_BoolLike>:$mask,
                       Tk_MemOrder:$order, Tk_MemScope:$scope);
  let assemblyFormat = [{
    $value `,` $pointer (`mask` $mask^ `:` type($mask))? `order` $order `scope` $scope attr-dict
    `:` type($value) `,` type($pointer)
  }];
  let hasVerifier = 1;
}

#endif // TK_OPS_ATOMIC_TD
