//===- Passes.td - the passes of the block level, in pipeline order -----------===//
#ifndef TK_PASSES_TD
#define TK_PASSES_TD

include "mlir/Pass/PassBase.td"

def SplitVariants : Pass<"tk-split-variants", "::mlir::ModuleOp"> {
  let summary = "make a fast and a general variant of each kernel";
  let description = [{
    Requires: phase `Emitted`. Ensures: phase `Canonical`; each kernel is there twice. The fast one
    carries in `facts` the conditions on its parameters that it may rely on and the loader will
    check; the general one, named `NAME__any` and marked `general`, relies on none. Both name the kernel in `variant_of`.
    Before them stands a pair for each fact of `@variants`, `NAME__factN` and `NAME__factN__any`, with the fact's number in `fact` and in `specialized` the
    conditions that their text rests on.
  }];
}

def StripMineTiles : Pass<"tk-strip-mine-tiles", "::mlir::ModuleOp"> {
  let summary = "work through tiles that do not fit the registers in loops over pieces";
  let description = [{
    Requires: phase `Canonical`. Where the tiles of a block of code take more registers than a thread
    has, or would be unrolled too far, stores and reductions become loops over pieces of their tiles;
    what they need is computed, and loaded, piece by piece. Remark TK4110 says so; TK4111 names what
    stays in registers and why.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"warpSize", "warp-size", "int64_t", "32", "lanes of a warp on the target">,
    Option<"registersPerThread", "registers-per-thread", "int64_t", "255", "most that one thread may have">,
    Option<"registersPerBlock", "registers-per-block", "int64_t", "65536", "of all threads of a block together">];
}

def LowerPlaces : Pass<"tk-lower-places", "::mlir::ModuleOp"> {
  let summary = "turn places of tensors into addresses, offsets and masks";
  let description = [{
    Requires: phase `Canonical`. Ensures: phase `Resident`; no `tk.read` or `tk.write` is left. A
    tile becomes `tkg.load` or `tkg.store` with a uniform i64 base and i32 lane offsets; an axis
    gets a mask only where its bounds are not known to hold, as a 32-bit comparison. Offsets that
    involve a run-time stride are 32-bit under a fact in the fast variant and 64-bit in the general one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
}

def SplitAddresses : Pass<"tk-split-addresses", "::mlir::ModuleOp"> {
  let summary = "split tiles of pointers and 64-bit indices into uniform and lane parts";
  let description = [{
    Requires: phase `Resident`. A `tk.load` or `tk.store` whose pointers are one base plus offsets
    becomes `tkg.load` or `tkg.store`; offsets and comparisons that are a uniform i64 plus an i32
    tile are computed as such, the uniform side of a comparison clamped to the tile's range, which is
    exact. What cannot be split stays as it is, with a remark.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
}

def PrepareDots : Pass<"tk-prepare-dots", "::mlir::ModuleOp"> {
  let summary = "give products operands of types that matrix instructions take";
  let description = [{
    Requires: phase `Resident`. Ensures: no `tk.dot_scaled` is left: its operands, times their scales, are those of a
    `tk.dot` of the narrowest type that holds them exactly, but for what a scale brings out of range. Operands
    in AMD's fp8 are in f16.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlanLayouts : Pass<"tk-plan-layouts", "::mlir::ModuleOp"> {
  let summary = "choose a layout for every tile";
  let description = [{
    Requires: phase `Resident`. Ensures: phase `Planned`: each operation with tiles carries
    `tkg.layouts`, one layout a result, and each access its `vector`. Tiles that elementwise
    operations and loops tie together share a layout; accesses ask for coalesced ones, results of reductions
    and operands of broadcasts follow from their tile.
  }];
  let dependentDialects = ["::tkg::TkgDialect"];
  let options = [
    Option<"warpSize", "warp-size", "int64_t", "32", "lanes of a warp on the target">,
    Option<"maxVectorBytes", "max-vector-bytes", "int64_t", "16", "widest global access of a thread">,
    Option<"maxAtomicBytes", "max-atomic-bytes", "int64_t", "0", "widest sum of floats into global memory">,
    Option<"matrixKinds", "matrix-kinds", "unsigned", "0", "matrix instructions of the target, as a set of bits">];
}

def PruneVariants : Pass<"tk-prune-variants", "::mlir::ModuleOp"> {
  let summary = "drop facts that nothing rests on, and the general variant when none is left";
  let description = [{
    Requires: phase `Planned`, `tkg.used_facts` on each variant with `facts`. Ensures: `facts` lists only
    what the plan used; each variant takes arguments that none before it takes. The variants for a fact of `@variants` are gone
    when their code is that of the kernel's own; remark TK4112 says so.
  }];
}

def HoistLoads : Pass<"tk-hoist-loads", "::mlir::ModuleOp"> {
  let summary = "begin loads before the reductions that they do not wait for";
  let description = [{
    Requires: phase `LaidOut`. A `tkg.load` of memory that the kernel never writes, whose address does not
    depend on a reduction or change of layout before it in its block, moves ahead of that where a multiprocessor keeps
    room for three blocks with the registers this takes. Loops and branches are not passed.
  }];
  let options = [
    Option<"warpSize", "warp-size", "int64_t", "32", "lanes of a warp on the target">,
    Option<"registersPerBlock", "registers-per-block", "int64_t", "65536", "of a multiprocessor, which one block may have">];
}

def MergeReductions : Pass<"tk-merge-reductions", "::mlir::ModuleOp"> {
  let summary = "reductions that do not wait for each other become one";
  let description = [{
    Requires: phase `Resident`. Two `tk.reduce` of one block over the same axis of tiles of one shape, the
    second not depending on the first, become one with the operands of both: one trip through
    lanes and shared memory, and one barrier. What only computes the second one's operands moves ahead
    of the first.
  }];
}

def AssignLayouts : Pass<"tk-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "put the planned layouts into the types";
  let description = [{
    Requires: phase `Planned`. Ensures: phase `LaidOut`: every tile type has a layout, and a
    `tkg.convert` stands where an operand's layout is not the one its user needs.
  }];
}

def ExpandAtomics : Pass<"tk-expand-atomics", "::mlir::ModuleOp"> {
  let summary = "give every thread what one thread got from memory that others change";
  let description = [{
    Requires: phase `LaidOut`. Ensures: the same. An atomic operation, a volatile load or a clock
    whose result is used has one tile as result, which one thread an element makes; where threads
    of several warps hold copies it goes through a shared buffer. A barrier stands before a release
    and after an acquire, and in place of each `tk.barrier`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
  let options = [
    Option<"warpSize", "warp-size", "int64_t", "32", "lanes of a warp on the target">];
}

def ExpandReductions : Pass<"tk-expand-reductions", "::mlir::ModuleOp"> {
  let summary = "reduce within warps, then across them through shared memory";
  let description = [{
    Requires: phase `LaidOut`. Each `tk.reduce` becomes a `tkg.reduce` within warps and, when its
    axis is spread over several warps, a shared buffer of one value a warp and a second `tkg.reduce`.
  }];
}

def ExpandDots : Pass<"tk-expand-dots", "::mlir::ModuleOp"> {
  let summary = "bring products to matrix instructions or multiply-adds";
  let description = [{
    Requires: phase `LaidOut`, no `tk.dot_scaled`. Ensures: no `tk.dot` is left. Operands are in shared
    buffers whose rows are padded against bank conflicts, but for left operands whose fragments the
    threads hold. A depth that is no power of two is cut into parts that are, the last one filled up with zeros.
  }];
  let dependentDialects = ["::tkg::TkgDialect"];
}

def ExpandShapes : Pass<"tk-expand-shapes", "::mlir::ModuleOp"> {
  let summary = "move data of shape operations through shared memory";
  let description = [{
    Requires: phase `LaidOut`. Reshapes, permutations, flips, slices, concatenations, insertions and
    run-time picks whose elements change threads become a shared buffer, written in one order and
    read in another. Those that only rename registers stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
}

def PipelineLoops : Pass<"tk-pipeline-loops", "::mlir::ModuleOp"> {
  let summary = "load what later iterations of a loop need while earlier ones compute";
  let description = [{
    Requires: phase `LaidOut`, products expanded. In a counted loop a `tkg.load` that only fills a
    shared buffer becomes an asynchronous copy into one of `stages` slots of a ring, begun `stages - 1`
    iterations ahead. The number is the loop's `tk.pipeline`, else the kernel's option `stages`, else
    three; where nobody fixed it, it is lowered until the rings fit `limit-bytes`, and remark TK4105
    says so. Remark TK4104 names what was pipelined, TK4106 what was not and why.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tkg::TkgDialect"];
  let options = [
    Option<"asyncCopies", "async-copies", "bool", "true", "whether the target copies asynchronously">,
    Option<"limitBytes", "limit-bytes", "int64_t", "101376", "shared memory that one block may use on the target">];
}

def PrefetchFragments : Pass<"tk-prefetch-fragments", "::mlir::ModuleOp"> {
  let summary = "read the fragments of a matrix product one step ahead of the instructions";
  let description = [{
    Requires: phase `LaidOut`, loops pipelined. In a pipelined loop with one product whose operands are in
    rings, `tkg.mma` is split into the steps of its instruction along K. The fragments of each step
    are read before the instructions of the step before; those of an iteration's first step in the
    iteration before, by a loop that carries them. A product whose fragments and sums need more than
    `most-registers` words of 32 bits a thread stays whole.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::tkg::TkgDialect"];
  let options = [
    Option<"mostRegisters", "most-registers", "int64_t", "208", "words of 32 bits a thread for sums and fragments">];
}

def RelieveRegisters : Pass<"tk-relieve-registers", "::mlir::ModuleOp"> {
  let summary = "compute tiles again, or keep them in shared memory, where registers run out";
  let description = [{
    Requires: phase `LaidOut`, loops pipelined. In a loop whose tiles need more registers than a thread has
    while a reduction runs, tiles that follow from shared memory are computed again behind it,
    and tiles that the loop does not change are kept in shared memory. Remark TK4107 says how much.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
  let options = [
    Option<"warpSize", "warp-size", "int64_t", "32", "lanes of a warp on the target">,
    Option<"registersPerThread", "registers-per-thread", "int64_t", "255", "most that one thread may have">,
    Option<"registersPerBlock", "registers-per-block", "int64_t", "65536", "of all threads of a block together">,
    Option<"limitBytes", "limit-bytes", "int64_t", "101376", "shared memory that one block may use on the target">];
}

def ExpandCollectives : Pass<"tk-expand-collectives", "::mlir::ModuleOp"> {
  let summary = "bring scans, sorts, histograms and gathers to warps and shared memory";
  let description = [{
    Requires: phase `LaidOut`. A `tk.scan` becomes a `tkg.scan` within warps and, when its axis is
    spread over several warps, a `tkg.scan_carry` of the totals of the warps before. Sorts, histograms
    and gathers work on shared buffers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::tkg::TkgDialect"];
}

def ExpandConversions : Pass<"tk-expand-conversions", "::mlir::ModuleOp"> {
  let summary = "bring tiles into other layouts by shuffles or through shared memory";
  let description = [{
    Requires: phase `LaidOut`, reductions expanded. Ensures: phase `Expanded`: a `tkg.convert` that is left renames
    registers, or shuffles within warps where that costs less than memory. Any other is a store to a scratch free of bank
    conflicts and a load from it, in pieces where the scratch would be larger than `scratch-bytes`. Costs are in half
    clocks of a warp. Remark TK4103 says what each costs and why it is there.
  }];
  let dependentDialects = ["::tkg::TkgDialect"];
  let options = [
    Option<"scratchBytes", "scratch-bytes", "int64_t", "16384", "largest scratch, unless there is no other way">,
    Option<"shuffleCost", "shuffle-cost", "int64_t", "2", "of a word that lanes exchange">,
    Option<"selectCost", "select-cost", "int64_t", "1", "of a word chosen of two">,
    Option<"wavefrontCost", "wavefront-cost", "int64_t", "2", "of 128 bytes to or from shared memory">,
    Option<"barrierCost", "barrier-cost", "int64_t", "64", "of waiting between the store and the load">];
}

def AllocateSharedMemory : Pass<"tk-allocate-shared-memory", "::mlir::ModuleOp"> {
  let summary = "give every shared buffer a byte offset";
  let description = [{
    Requires: phase `Expanded`. Ensures: phase `SmemAllocated`: every `tkg.alloc` has an offset,
    no two buffers that hold something at the same time share a byte, and the kernel carries `shared_bytes`. Fails with TK4001 over
    `limit-bytes`.
  }];
  let options = [Option<"limitBytes", "limit-bytes", "int64_t", "232448",
                        "shared memory that one block may use on the target">];
}

def InsertBarriers : Pass<"tk-insert-barriers", "::mlir::ModuleOp"> {
  let summary = "order every dependence between threads by a barrier";
  let description = [{
    Requires: phase `SmemAllocated`. Ensures: phase `Ordered`, checked by the same analysis run
    again: between two accesses of which one writes, and that may touch the same bytes from
    different threads, stands a `tkg.barrier`. Fails with TK9004 when the proof fails.
  }];
  let dependentDialects = ["::tkg::TkgDialect"];
}

def CountCosts : Pass<"tk-count-costs", "::mlir::ModuleOp"> {
  let summary = "count barriers, conversions and bank conflicts of each kernel";
  let description = [{
    Requires: phase `Expanded` or later. Ensures: each kernel carries `tkg.costs`. Not part of the pipeline: a test
    compares the numbers with those that are written down.
  }];
}

#endif // TK_PASSES_TD
