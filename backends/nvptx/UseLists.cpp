//===- UseLists.cpp - uses of a module's values in program order -----------------===//
//
// LLVM's passes, like MLIR's (driver/UseLists.h), visit uses in the order of a value's list, which is another one when
// the module was translated, read from text or read from bitcode.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Nvptx.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace tk;

/// Where a use stands: its user's number and the number of the operand. The first comes first.
using Position = std::pair<unsigned, unsigned>;

void nvptx::orderUses(llvm::Module &module) {
  llvm::DenseMap<const llvm::User *, unsigned> numbers;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        numbers[&instruction] = unsigned(numbers.size());
  // Users that are constants have no place in the program; they keep their order behind the rest.
  auto positionOf = [&](const llvm::Use &use) {
    auto found = numbers.find(use.getUser());
    unsigned number = found == numbers.end() ? ~0u : found->second;
    return Position{number, use.getOperandNo()};
  };
  auto sort = [&](llvm::Value &value) {
    value.sortUseList([&](const llvm::Use &a, const llvm::Use &b) {
      return positionOf(a) < positionOf(b);
    });
  };
  for (llvm::GlobalVariable &global : module.globals())
    sort(global);
  for (llvm::Function &function : module) {
    sort(function);
    for (llvm::Argument &argument : function.args())
      sort(argument);
    for (llvm::BasicBlock &block : function) {
      sort(block);
      for (llvm::Instruction &instruction : block)
        sort(instruction);
    }
  }
}
