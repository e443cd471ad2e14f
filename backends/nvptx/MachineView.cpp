//===- MachineView.cpp - what a kernel asks about its arguments ------------------===//
//
// Views are gone by now: passes/ViewTable.h has made addresses, extents and strides of them.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Machine.h"

using namespace mlir;
using namespace tk;
using namespace tk::nvptx;

/// The host passes null for an argument that it was not given.
void Machine::lowerPresent(PresentOp op) {
  Value argument = op.getArgument(), pointer;
  if (isa<ViewType>(argument.getType()))
    pointer = viewAddress(argument);
  else
    pointer = scalar(argument);
  Value null = LLVM::ZeroOp::create(builder, loc, pointer.getType());
  scalars[op] = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, pointer, null);
}
