//===- UseLists.cpp - one order of uses, however a module came to be ------------===//

#include "driver/UseLists.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace tk;

namespace {
/// Where a use stands: its user's number and the number of the operand. The first comes first.
using Position = std::pair<unsigned, unsigned>;
} // namespace

/// The permutation that sorts `positions`: entry i is the new index of use i. Empty when sorted.
static llvm::SmallVector<unsigned> sortingShuffle(llvm::ArrayRef<Position> positions) {
  if (llvm::is_sorted(positions))
    return {};
  llvm::SmallVector<unsigned> order(positions.size());
  std::iota(order.begin(), order.end(), 0u);
  llvm::sort(order, [&](unsigned a, unsigned b) { return positions[a] < positions[b]; });
  llvm::SmallVector<unsigned> shuffle(order.size());
  for (auto [target, source] : llvm::enumerate(order))
    shuffle[source] = unsigned(target);
  return shuffle;
}

namespace {
class MlirOrder {
public:
  explicit MlirOrder(mlir::ModuleOp module) {
    module->walk<mlir::WalkOrder::PreOrder>(
        [&](mlir::Operation *op) { numbers[op] = unsigned(numbers.size()); });
    module->walk([&](mlir::Operation *op) {
      for (mlir::Value result : op->getResults())
        sort(result);
      for (mlir::Region &region : op->getRegions())
        for (mlir::Block &block : region) {
          for (mlir::Value argument : block.getArguments())
            sort(argument);
          sort(block);
        }
    });
  }

private:
  /// `usable` is a Value or a Block; both have the uses of an IRObjectWithUseList.
  template <class T> void sort(T &usable) {
    llvm::SmallVector<Position> positions;
    for (auto &use : usable.getUses())
      positions.push_back({numbers.lookup(use.getOwner()), use.getOperandNumber()});
    llvm::SmallVector<unsigned> shuffle = sortingShuffle(positions);
    if (!shuffle.empty())
      usable.shuffleUseList(shuffle);
  }

  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};
} // namespace

void tk::orderUseLists(mlir::ModuleOp module) { MlirOrder{module}; }
