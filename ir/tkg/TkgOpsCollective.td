//===- TkgOpsCollective.td - operations in which threads meet ----------------===//
#ifndef TKG_OPS_COLLECTIVE_TD
#define TKG_OPS_COLLECTIVE_TD

include "ir/tkg/TkgDialect.td"

def Tkg_ReduceOp : Tkg_Op<"reduce", [RecursiveMemoryEffects, SingleBlock, SameVariadicOperandSize]> {
  let summary = "combine what each warp holds of one axis";
  let description = [{
    As `tk.reduce`, but only within a thread's registers and a warp's lanes; all lanes get the
    result. The result's side along `axis` is the number of warps over which the axis is spread
    (one value a warp), or the axis is gone when it lies within warps.
    ```mlir
    %m = tkg.reduce %x axis 0 order any
        : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
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

def Tkg_YieldOp : Tkg_Op<"yield", [Pure, Terminator, ParentOneOf<["::tkg::ReduceOp", "::tkg::ScanOp",
    "::tkg::ScanCarryOp"]>]> {
  let summary = "the results of a combine region";
  let description = [{
    ```mlir
    tkg.yield %sum : f32
    ```
  }];
  let arguments = (ins Variadic<Tk_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Tkg_ScanOp : Tkg_Op<"scan", [RecursiveMemoryEffects, SingleBlock, AttrSizedResultSegments]> {
  let summary = "combine each element with those before it, within each warp";
  let description = [{
    As `tk.scan`, but only within a thread's registers and a warp's lanes. The axis is in natural
    order: registers lowest, then lanes, then warps. `tree` says that the association is that of
    `order tree`. `totals`, one an operand or none, give what each
    warp's elements combine to: the side along `axis` is the number of warps over which the axis is
    spread, one value a warp.
    ```mlir
    %s = tkg.scan %x axis 0 : tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">>
      -> tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]]">> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$values, I64Attr:$axis, UnitAttr:$reverse, UnitAttr:$tree);
  let results = (outs Variadic<Tk_Tile>:$results, Variadic<Tk_Tile>:$totals);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $values `axis` $axis (`reverse` $reverse^)? (`tree` $tree^)? attr-dict `:` type($values) `->` type($results)
    (`totals` type($totals)^)? $combine
  }];
  let hasVerifier = 1;
}

def Tkg_ScanCarryOp : Tkg_Op<"scan_carry", [RecursiveMemoryEffects, SingleBlock,
                                            AttrSizedOperandSegments]> {
  let summary = "combine a warp's part of a scan with the totals of the warps before it";
  let description = [{
    `totals` have one value a warp along `axis`, all of them in each thread. `tree` is that of `tkg.scan`.
    ```mlir
    %t = tkg.scan_carry %s totals %w axis 0
        : tensor<2xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1]]">>
       totals tensor<2xf32, #tkg.layout<"register=[[1]], lane=[[0],[0],[0],[0],[0]], warp=[[0]]">>
       -> tensor<2xf32, #tkg.layout<"lane=[[0],[0],[0],[0],[0]], warp=[[1]]">> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tkg.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tk_Tile>:$values, Variadic<Tk_Tile>:$totals, I64Attr:$axis,
                       UnitAttr:$reverse, UnitAttr:$tree);
  let results = (outs Variadic<Tk_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = [{
    $values `totals` $totals `axis` $axis (`reverse` $reverse^)? (`tree` $tree^)? attr-dict `:` type($values)
    `totals` type($totals) `->` type($results) $combine
  }];
  let hasVerifier = 1;
}

def Tkg_DotOp : Tkg_Op<"dot", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a @ b by fused multiply-adds, operands in shared memory";
  let description = [{
    As `tk.dot`; each thread reads the rows and columns that its elements need.
    ```mlir
    %d = tkg.dot %a, %b, %c input "exact" : !tkg.buf<1x2xf32>, !tkg.buf<2x1xf32>,
        tensor<1x1xf32, #tkg.layout<"lane=[[0,0],[0,0],[0,0],[0,0],[0,0]]">>
    ```
  }];
  let arguments = (ins Tkg_BufType:$a, Tkg_BufType:$b, Tk_Tile:$acc, StrAttr:$input,
                       UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `input` $input (`a_unsigned` $a_unsigned^)? (`b_unsigned` $b_unsigned^)? attr-dict
    `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

def Tkg_MmaOp : Tkg_Op<"mma", [MemoryEffects<[MemRead]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a @ b by matrix instructions of a warp";
  let description = [{
    As `tk.dot`. An operand is a tile in the fragments of the instruction or a shared buffer,
    from which warps read fragments as they need them. The attribute `tkg.tiling` names the
    instruction of the target's table and says how the product is dealt to warps.
    ```mlir
    %d = tkg.mma %a, %b, %c input "exact" promote 128 {tkg.tiling = {kind = "f16", m = 16 : i32, n = 8 : i32,
         k = 16 : i32, warps_m = 1 : i32, warps_n = 1 : i32}} : !tkg.buf<16x16xf16>, !tkg.buf<16x8xf16>,
        tensor<16x8xf32, #tkg.layout<"register=[[0,1],[8,0]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]]">>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tk_Tile, Tkg_BufType]>:$a, AnyTypeOf<[Tk_Tile, Tkg_BufType]>:$b,
                       Tk_Tile:$acc, StrAttr:$input, I64Attr:$promote, UnitAttr:$a_unsigned,
                       UnitAttr:$b_unsigned);
  let results = (outs Tk_Tile:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc `input` $input `promote` $promote (`a_unsigned` $a_unsigned^)?
    (`b_unsigned` $b_unsigned^)? attr-dict `:` type($a) `,` type($b) `,` type($acc)
  }];
  let hasVerifier = 1;
}

#endif // TKG_OPS_COLLECTIVE_TD
