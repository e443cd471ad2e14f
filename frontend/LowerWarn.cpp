//===- LowerWarn.cpp - what compiles and is likely wrong -------------------------===//
//
// Some look back from a value through what made it, a bounded number of operations, and stay silent
// where they cannot see.
//
//===----------------------------------------------------------------------===//

#include "frontend/Lowerer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

/// Operations that a warning looks at.
constexpr unsigned kMaxLookBack = 200;

/// Whether `found` holds for something that `value` is computed from by operations without effects;
/// what is the result of other operations, or an argument, is asked as it is.
static bool anySource(Value value, llvm::function_ref<bool(Value)> found) {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty() && seen.size() < kMaxLookBack) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (found(next))
      return true;
    Operation *op = next.getDefiningOp();
    if (op && op->getNumRegions() == 0 && isMemoryEffectFree(op))
      llvm::append_range(work, op->getOperands());
  }
  return false;
}

static bool isConstant(Value value) {
  return value.getDefiningOp<arith::ConstantOp>() != nullptr;
}

/// Whether a number may be anything: it comes from memory, the launch or a loop. The remainder by a
/// constant and what is made of `arange` and constants have bounds that the author sees.
static bool isUnbounded(Value value) {
  if (auto rem = value.getDefiningOp<RemOp>(); rem && isConstant(rem.getRhs()))
    return false;
  return anySource(value, [](Value source) {
    Operation *op = source.getDefiningOp();
    return !op || !isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
           isa<ExtentOp, StrideOp, ProgramIdOp, NumProgramsOp>(op);
  });
}

/// The product of two numbers of which one may be anything and neither is a constant, among what
/// `value` is a sum of.
static arith::MulIOp narrowProduct(Value value) {
  SmallVector<Value> work = {value};
  for (unsigned seen = 0; !work.empty() && seen < kMaxLookBack; ++seen) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
      Value a = product.getLhs(), b = product.getRhs();
      if (!isConstant(a) && !isConstant(b) && (isUnbounded(a) || isUnbounded(b)))
        return product;
    }
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, SplatOp, BroadcastOp, ExpandDimsOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return {};
}

void Lowerer::warnNarrowProduct(const Val &value, SourceRange range, StringRef use) {
  if (!value.isRun() || value.type.pointer || !isInteger(value.type.dtype) ||
      dtypeBits(value.type.dtype) >= 64)
    return;
  arith::MulIOp product = narrowProduct(value.value);
  if (!product)
    return;
  Dtype dtype = value.type.dtype;
  Report report = error<diag::NarrowProduct>(range, dtypeName(dtype), toString(maxOf(dtype)), use);
  if (product.getLoc() != loc(range))
    report.note(product.getLoc(), "it is multiplied here");
  report.help("multiply in 64 bits: `.to(i64)` on one of the factors");
}

/// A tile of pointers that depends on where the program stands, used without a mask.
void Lowerer::warnUnmasked(Value pointer, SourceRange range, StringRef what) {
  bool tile = isa<RankedTensorType>(pointer.getType());
  // A condition around it or a precondition may be what keeps the addresses inside.
  bool guarded = regionDepth != 0 || llvm::any_of(kernel.decl->attributes, [](const auto &attr) {
                   return attr.name.text == "require";
                 });
  if (!tile || guarded || !options.assumptions.empty())
    return;
  auto isProgramId = [](Value source) { return source.getDefiningOp<ProgramIdOp>() != nullptr; };
  if (anySource(pointer, isProgramId))
    error<diag::UnmaskedPointers>(range, what)
        .help("say which elements exist, `mask=i < n`, or take a tensor: its places are checked");
}

//===----------------------------------------------------------------------===//
// Indices that repeat
//===----------------------------------------------------------------------===//

static bool isSameEverywhere(Value value) {
  DenseElementsAttr number;
  return value.getDefiningOp<SplatOp>() ||
         (matchPattern(value, m_Constant(&number)) && number.isSplat());
}

static bool isNonZero(Value value) {
  DenseElementsAttr number;
  return matchPattern(value, m_Constant(&number)) && number.isSplat() &&
         !number.getSplatValue<APInt>().isZero();
}

/// The axis along which a tile of indices counts, and is the same along all others: `arange` times a
/// number, plus what is the same everywhere. None where that is not seen.
static std::optional<int64_t> countingAxis(Value value) {
  SmallVector<int64_t> expanded; // the axes that were put in, the last one first
  for (unsigned seen = 0; seen < kMaxLookBack; ++seen) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ArangeOp>(op)) {
      int64_t axis = 0;
      for (int64_t inserted : llvm::reverse(expanded))
        axis += inserted <= axis;
      return axis;
    }
    if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op)) {
      expanded.push_back(int64_t(expand.getAxis()));
      value = expand.getValue();
    } else if (isa_and_nonnull<BroadcastOp, arith::ExtSIOp, arith::ExtUIOp>(op)) {
      value = op->getOperand(0);
    } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
      bool isProduct = isa<arith::MulIOp>(op);
      auto keeps = [&](Value other) { return isProduct ? isNonZero(other) : isSameEverywhere(other); };
      Value a = op->getOperand(0), b = op->getOperand(1);
      if (!keeps(a) && !keeps(b))
        return std::nullopt;
      value = keeps(b) ? a : b;
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The atomic operation that does what an assignment meant, called: "atomic_add(h[v], 1)".
static std::string atomicFor(ast::BinaryOp op, StringRef place, StringRef value) {
  using ast::BinaryOp;
  StringRef name = op == BinaryOp::Add || op == BinaryOp::Sub ? "atomic_add"
                   : op == BinaryOp::BitAnd                   ? "atomic_and"
                   : op == BinaryOp::BitOr                    ? "atomic_or"
                   : op == BinaryOp::BitXor                   ? "atomic_xor"
                                                              : "";
  if (name.empty())
    return "";
  std::string sign = op == BinaryOp::Sub ? "-(" : "", end = op == BinaryOp::Sub ? ")" : "";
  return (name + "(" + place + ", " + sign + value + end + ")").str();
}

void Lowerer::warnRepeats(const Place &place, const ast::Assign *stmt) {
  // Each axis of the tiles of indices is told apart where one of them counts along it.
  SmallVector<Value> tiles;
  llvm::SmallDenseSet<int64_t> counted;
  for (auto [index, width] : llvm::zip(place.indices, place.widths)) {
    if (width >= 0)
      continue;
    tiles.push_back(index);
    if (std::optional<int64_t> axis = countingAxis(index))
      counted.insert(*axis);
  }
  if (tiles.empty())
    return;
  auto sides = cast<RankedTensorType>(tiles.front().getType()).getShape();
  bool apart = true;
  for (auto [axis, side] : llvm::enumerate(sides))
    apart &= side == 1 || counted.contains(int64_t(axis));
  if (apart)
    return;
  Report report =
      error<diag::RepeatedIndices>(stmt->target->range, spelling(*stmt->op).str() + "=");
  std::string atomic = atomicFor(*stmt->op, source.getText(stmt->target->range),
                                 source.getText(stmt->value->range));
  if (atomic.empty())
    report.help("bring together what goes to one element before");
  else
    report.help("use `" + atomic + "`");
}

//===----------------------------------------------------------------------===//
// Comparisons of `&`, `|` and `^`
//===----------------------------------------------------------------------===//

static const ast::Binary *bareBits(const ast::Expr *expr) {
  auto *binary = dyn_cast<ast::Binary>(expr);
  using ast::BinaryOp;
  bool isBits = binary && !binary->parenthesised &&
                llvm::is_contained({BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor}, binary->op);
  return isBits ? binary : nullptr;
}

namespace {
/// Edits that only insert.
class Insertions {
public:
  void add(uint32_t place, StringRef text) { edits.push_back({place, text}); }

  void fix(Report &report) const {
    for (auto [place, text] : edits)
      report.fix({place, place}, text);
  }
  /// The text of `range` with the edits, which lie in it in order.
  std::string apply(SourceRange range, StringRef text) const {
    std::string result;
    uint32_t done = range.begin;
    for (auto [place, inserted] : edits) {
      result += text.slice(done - range.begin, place - range.begin).str() + inserted.str();
      done = place;
    }
    return result + text.drop_front(done - range.begin).str();
  }

private:
  SmallVector<std::pair<uint32_t, StringRef>> edits;
};
} // namespace

/// The edits that make `a < b & c >= d` two comparisons, `(a < b) & (c >= d)`.
static Insertions splitChain(const ast::CompareChain &chain) {
  Insertions edits;
  for (auto [i, operand] : llvm::enumerate(chain.operands)) {
    const ast::Expr *first = operand, *last = operand;
    while (const ast::Binary *bits = bareBits(first))
      first = bits->lhs;
    while (const ast::Binary *bits = bareBits(last))
      last = bits->rhs;
    bool isFirst = i == 0, isLast = i + 1 == chain.operands.size();
    if (!isFirst && (isLast || first != operand))
      edits.add(first->range.end, ")");
    if (!isLast && (isFirst || first != operand))
      edits.add(last->range.begin, "(");
  }
  return edits;
}

void Lowerer::warnBitsCompared(const ast::CompareChain &chain, ArrayRef<Val> operands) {
  const auto *found = llvm::find_if(chain.operands, bareBits);
  if (found == chain.operands.end())
    return;
  const ast::Binary &bits = *bareBits(*found);
  size_t index = size_t(found - chain.operands.begin());
  StringRef op = spelling(chain.ops[index == 0 ? 0 : index - 1]);
  // Between two comparisons, or where it has no value, nobody means its bits.
  bool isSplit = index != 0 && index + 1 != chain.operands.size();
  for (auto [operand, value] : llvm::zip(chain.operands, operands))
    isSplit |= bareBits(operand) && value.isPoison();
  Insertions edits;
  if (isSplit) {
    edits = splitChain(chain);
  } else {
    edits.add(bits.range.begin, "(");
    edits.add(bits.range.end, ")");
  }
  Report report = error<diag::BitsInComparison>(bits.range, spelling(bits.op), op);
  std::string written = edits.apply(chain.range, source.getText(chain.range));
  constexpr size_t kMaxShown = 80;
  if (written.size() <= kMaxShown && !StringRef(written).contains('\n'))
    report.help("write `" + written + "`");
  else
    report.help("put what is compared in parentheses: `(a < b) & (c >= d)`");
  edits.fix(report);
}
