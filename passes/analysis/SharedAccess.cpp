//===- SharedAccess.cpp - how threads access shared buffers -------------------------===//

#include "passes/analysis/SharedAccess.h"
#include "ir/tk/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk;

BufferStart tk::startOf(Value buffer) {
  BufferStart start;
  int64_t bytes = cast<tkg::BufType>(buffer.getType()).getElementBytes(), dividers = kMaxSharedBytes;
  while (auto view = buffer.getDefiningOp<tkg::BufViewOp>()) {
    start.bytes += int64_t(view.getOffset()) * bytes;
    llvm::APInt factor(64, 1);
    if (auto scaled = view.getIndex() ? view.getIndex().getDefiningOp<arith::MulIOp>() : arith::MulIOp())
      matchPattern(scaled.getRhs(), m_ConstantInt(&factor));
    if (view.getIndex())
      dividers |= factor.getSExtValue() * bytes;
    buffer = view.getBuffer();
  }
  if (auto alloc = buffer.getDefiningOp<tkg::AllocOp>())
    start.bytes += int64_t(alloc.getOffset().value_or(0));
  dividers |= start.bytes;
  start.alignment = dividers & -dividers;
  return start;
}

int64_t tk::vectorIn(tkg::BufType type, BufferStart start, const LinearLayout &layout) {
  unsigned last = layout.rank() - 1;
  int64_t bytes = type.getElementBytes();
  if (type.stride(last) != 1 || isa<PtrType>(type.getElement()))
    return 1;
  int64_t vector = std::min<int64_t>(layout.contiguousPerThread(last), kMaxSharedBytes / bytes);
  auto limit = [&](int64_t elements) {
    while (vector > 1 && elements % vector)
      vector /= 2;
  };
  for (unsigned axis = 0; axis < last; ++axis)
    limit(type.stride(axis));
  limit(layout.shape()[last]); // a vector must not cross the end of a row
  limit(start.alignment / bytes);
  return std::max<int64_t>(vector, 1);
}

/// The bits of an input dimension step 1, 2, 4.. times `first` along `axis`.
static bool runsAlong(const LinearLayout &layout, InDim dim, unsigned bit, unsigned count, unsigned axis, int32_t first) {
  if (layout.numBits(dim) < bit + count)
    return false;
  for (unsigned i = 0; i < count; ++i) {
    Coords wanted(layout.rank(), 0);
    wanted[axis] = first << i;
    if (layout.basis(dim, bit + i) != wanted)
      return false;
  }
  return true;
}

namespace {
/// The lowest registers and the lanes are those of matrices of 8 rows of 16 bytes: four lanes along a row,
/// eight across, whose rows may lie `step` apart.
struct FragmentAxes {
  unsigned pair, group; // of a register's elements; of lanes 4, 8 and 16 apart
  int32_t step;
};
} // namespace

static std::optional<FragmentAxes> fragmentAxes(const LinearLayout &layout, int32_t pack) {
  if (layout.rank() < 2 || !layout.repeats().empty() || layout.numBits(InDim::Lane) != 5)
    return std::nullopt;
  unsigned last = layout.rank() - 1;
  for (unsigned pair : {last, last - 1}) {
    unsigned group = 2 * last - 1 - pair;
    int32_t step = layout.basis(InDim::Lane, 2)[group];
    if (step > 0 && runsAlong(layout, InDim::Register, 0, llvm::Log2_32(pack), pair, 1) &&
        runsAlong(layout, InDim::Lane, 0, 2, pair, pack) && runsAlong(layout, InDim::Lane, 2, 3, group, step))
      return FragmentAxes{pair, group, step};
  }
  return std::nullopt;
}

/// How `ldmatrix` reads the buffer into the layout, if it can. Elements side by side across the rows need the
/// transposing form; bytes come in pairs of columns then, as `pairsColumns` of MatrixTiling deals them.
std::optional<MatrixAccess> tk::matrixAccess(tkg::BufType type, BufferStart start, const LinearLayout &layout) {
  if (isa<PtrType>(type.getElement()) || type.getOrder())
    return std::nullopt;
  int64_t bytes = type.getElementBytes(), bits = elementBits(type.getElement());
  if (bits != 8 * bytes || bits > 32)
    return std::nullopt;
  int32_t pack = int32_t(4 / bytes);
  std::optional<FragmentAxes> axes = fragmentAxes(layout, pack);
  if (!axes)
    return std::nullopt;
  auto [pair, group, step] = *axes;
  bool pairs = bytes == 1 && step == 2 && runsAlong(layout, InDim::Register, 2, 1, pair, 16) &&
               runsAlong(layout, InDim::Register, 3, 1, group, 1);
  bool straight = type.stride(pair) == 1, transposed = type.stride(group) == 1 && ((bytes == 2 && step == 1) || pairs);
  unsigned rows = straight ? group : pair, along = straight ? pair : group;
  if ((!straight && !transposed) || start.alignment % 16 || type.getShape()[along] * bytes % 16)
    return std::nullopt;
  for (unsigned axis = 0; axis < layout.rank(); ++axis)
    if (axis != along && type.stride(axis) * bytes % 16)
      return std::nullopt;
  if (!straight && pairs)
    return MatrixAccess{pairAddressLayout(layout), 4, true, true};
  int32_t words = layout.numRegisters() / pack;
  int32_t matrices = words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1;
  return MatrixAccess{matrixAddressLayout(layout, rows + 2 - layout.rank(), pack, matrices), matrices, !straight, false};
}

/// Each lane names a row of 16 bytes.
static SharedAccesses ofMatrices(tkg::BufType type, int64_t start, const LinearLayout &layout, const MatrixAccess &access) {
  SharedAccesses all;
  all.count = layout.numRegisters() * type.getElementBytes() / 4 / access.matrices;
  for (int32_t reg = 0; reg < all.count; ++reg) {
    SmallVector<std::optional<int64_t>> addresses;
    for (int32_t lane = 0; lane < 8 * access.matrices; ++lane) {
      addresses.push_back(start);
      for (auto [axis, coordinate] : llvm::enumerate(access.addresses.apply(reg, lane, 0)))
        *addresses.back() += coordinate * type.stride(unsigned(axis)) * type.getElementBytes();
    }
    all.wavefronts += wavefrontsOf(addresses, kMaxSharedBytes);
  }
  return all;
}

static SharedAccesses atStrides(tkg::BufType type, int64_t start, const LinearLayout &layout, int64_t vector,
                                bool isStore) {
  int64_t bytes = type.getElementBytes();
  // What others write for.
  uint32_t copies = isStore ? layout.ownerMask(InDim::Register) : 0, laneCopies = isStore ? layout.ownerMask(InDim::Lane) : 0;
  SharedAccesses all;
  for (int32_t reg = 0; reg < layout.numRegisters(); reg += int32_t(vector)) {
    if (uint32_t(reg % layout.numCoreElements()) & copies)
      continue;
    SmallVector<std::optional<int64_t>> addresses;
    for (int32_t lane = 0; lane < layout.numLanes(); ++lane) {
      Coords at = layout.apply(reg, lane, 0);
      std::optional<int64_t> &address = addresses.emplace_back();
      if (!layout.isValid(at) || uint32_t(lane) & laneCopies)
        continue;
      address = start;
      for (auto [axis, coordinate] : llvm::enumerate(at))
        *address += coordinate * type.stride(unsigned(axis)) * bytes;
    }
    ++all.count;
    all.wavefronts += wavefrontsOf(addresses, vector * bytes);
  }
  return all;
}

SharedAccesses tk::accessesTo(tkg::BufType type, BufferStart start, const LinearLayout &layout, bool isStore) {
  if (std::optional<MatrixAccess> load = isStore ? std::nullopt : matrixAccess(type, start, layout))
    return ofMatrices(type, start.bytes, layout, *load);
  if (!type.getOrder())
    return atStrides(type, start.bytes, layout, vectorIn(type, start, layout), isStore);
  LinearLayout memory = type.getOrder().getMap();
  int64_t bytes = type.getElementBytes();
  return {int64_t(vectorAccesses(offsetsIn(memory, layout), kMaxSharedBytes / bytes).size()),
          wavefrontsIn(memory, layout, bytes, isStore)};
}

static Wavefronts ofTile(Value buffer, Value tile, bool isStore) {
  auto layout = tkg::layoutOf(tile.getType());
  if (!layout)
    return {1, 1}; // a scalar
  return accessesTo(cast<tkg::BufType>(buffer.getType()), startOf(buffer), layout.getMap(), isStore).wavefronts;
}

Wavefronts tk::wavefrontsOf(Operation *access) {
  if (auto store = dyn_cast<tkg::BufStoreOp>(access))
    return ofTile(store.getBuffer(), store.getValue(), /*isStore=*/true);
  if (auto load = dyn_cast<tkg::BufLoadOp>(access))
    return ofTile(load.getBuffer(), load.getResult(), /*isStore=*/false);
  if (auto copy = dyn_cast<tkg::AsyncCopyOp>(access))
    return atStrides(copy.getBuffer().getType(), startOf(copy.getBuffer()).bytes,
                     tkg::layoutOf(copy.getOffset().getType()).getMap(), int64_t(copy.getVector()), /*isStore=*/true)
        .wavefronts;
  return {};
}
