//===- ShufflePlan.cpp - which lane sends which register when -------------------===//
//
// Everything here is a linear map over F2, known by its value at each bit of the result's registers,
// lanes and warps. Rounds are the classes of elements modulo W. From the maps "which lane, which of
// its registers" at each bit follow "from which lane" and "which register to send" as functions of
// (lane, warp, round); where a lane takes no part in a round they are extended as is convenient.
//
//===----------------------------------------------------------------------===//

#include "ir/layout/ShufflePlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace tk;
using llvm::ArrayRef;
using llvm::SmallVector;

bool ThreadParity::operator()(int32_t lane, int32_t warp) const {
  return (llvm::popcount(uint32_t(lane & lanes)) + llvm::popcount(uint32_t(warp & warps))) % 2;
}

namespace {
/// A linear map, known from what it makes of some vectors.
template <class Value> class F2Map {
public:
  /// False, and nothing happens, where the map is known already.
  bool define(uint32_t key, Value value) {
    if (!keys.insert(key, values.size()))
      return false;
    values.push_back(value);
    return true;
  }
  bool knows(uint32_t key) const { return keys.solve(key).has_value(); }
  Value operator()(uint32_t key) const {
    Value sum{};
    uint64_t parts = *keys.solve(key);
    for (auto [number, value] : llvm::enumerate(values))
      if (parts >> number & 1)
        sum = sum ^ value;
    return sum;
  }

private:
  F2Span keys;
  SmallVector<Value> values;
};

/// The elements that the bits of a layout's registers, lanes and warps add.
struct Bases {
  SmallVector<uint32_t> regs, lanes, warps;
  explicit Bases(const LinearLayout &layout);
};

/// Calls `visit(bit, mask)` for each bit that is set.
template <class Visit> void forEachBit(uint32_t set, Visit visit) {
  for (; set; set &= set - 1)
    visit(unsigned(llvm::countr_zero(set)));
}

/// Keys of maps from (lane, warp, round).
constexpr unsigned kWarpBit = 7, kRoundBit = 13, kMaxRoundBits = 12;
uint32_t threadKey(uint32_t lane, uint32_t warp, uint32_t round) {
  return lane | warp << kWarpBit | round << kRoundBit;
}
} // namespace

Bases::Bases(const LinearLayout &layout) {
  auto numbers = [&](InDim dim) {
    SmallVector<uint32_t> list;
    for (unsigned bit = 0; bit < layout.numBits(dim); ++bit) {
      uint32_t number = 0;
      for (auto [axis, coordinate] : llvm::enumerate(layout.basis(dim, bit)))
        number = number * uint32_t(layout.coreSize(axis)) + uint32_t(coordinate);
      list.push_back(number);
    }
    return list;
  };
  regs = numbers(InDim::Register);
  lanes = numbers(InDim::Lane);
  warps = numbers(InDim::Warp);
}

/// Registers are flipped by `flip` in threads where `when` is odd.
namespace {
struct RegisterFlip {
  ThreadParity when;
  int32_t flip;
};
} // namespace

namespace tk {
class ShufflePlanner {
public:
  ShufflePlanner(const LinearLayout &src, const LinearLayout &dst) : src(src), dst(dst) {}
  ShufflePlan run(int32_t maxPerWord);

private:
  void pack(int32_t maxPerWord);
  void openSource();
  void findPlaces();
  bool dealCopy();
  void chooseRounds();
  Index sourceOf(InDim dim, unsigned bit) const;
  void findRoutes();
  template <class Flip> SmallVector<RegisterFlip> registerFlips(Flip flipOf) const;
  unsigned inputOf(int32_t reg);
  unsigned step(const ShuffleStep &made);
  unsigned sent(int32_t reg, unsigned numFlips);
  unsigned received(int32_t round);
  unsigned kept(int32_t round, unsigned numFlips);
  void emit();

  Bases src, dst;
  ShufflePlan plan;
  // Packing: the register bits of neighbours, and what a register bit adds to the part of the word.
  SmallVector<int32_t> partRegs;
  SmallVector<uint32_t> sourceParts, resultParts;
  // Where elements are: in the register bits `sourceRegs`. Lanes of `keptLanes` hold copies and each
  // serves itself; other copies send other registers, by `copyFlips`.
  F2Map<Index> placeOf;
  F2Span wanted; // elements of the result, in one warp
  SmallVector<unsigned> sourceRegs;
  uint32_t keptLanes = 0, dealtRegs = 0;
  std::map<unsigned, int32_t> copyFlips; // and the vectors of their lanes in `src` say what they send
  // Rounds, and as functions of threadKey: whence a lane gets its word, which register a lane sends.
  F2Map<uint32_t> roundOf;
  unsigned numRoundBits = 0;
  F2Map<int32_t> laneFrom, regSent;
  // Steps so far
  SmallVector<RegisterFlip> sendFlips, keepFlips;
  std::map<int32_t, unsigned> inputNumbers, receivedNumbers;
  std::map<std::pair<int32_t, unsigned>, unsigned> sentNumbers, keptNumbers;
};
} // namespace tk

/// Neighbours in one thread before and after travel in one word, if what lanes add never changes
/// which of them an element is. From here on elements are taken modulo the neighbours.
void ShufflePlanner::pack(int32_t maxPerWord) {
  F2Map<uint32_t> partOf;
  F2Span kept;
  for (const Bases *side : {&src, &dst})
    for (uint32_t vector : llvm::concat<const uint32_t>(side->lanes, side->warps))
      partOf.define(vector, 0);
  for (auto [bit, vector] : llvm::enumerate(dst.regs))
    kept.insert(vector, bit);
  SmallVector<uint32_t> neighbours;
  for (auto [bit, vector] : llvm::enumerate(src.regs)) {
    bool fits = (2 << partRegs.size()) <= maxPerWord && kept.solve(vector);
    if (!fits || !partOf.define(vector, 1u << partRegs.size()))
      continue;
    partRegs.push_back(1 << bit);
    neighbours.push_back(vector);
  }
  for (uint32_t vector : llvm::concat<const uint32_t>(src.regs, dst.regs))
    partOf.define(vector, 0);
  plan.partBits = partRegs.size();
  llvm::transform(src.regs, std::back_inserter(sourceParts), partOf);
  llvm::transform(dst.regs, std::back_inserter(resultParts), partOf);
  auto wordOf = [&](uint32_t vector) {
    uint32_t word = vector;
    forEachBit(partOf(vector), [&](unsigned part) { word ^= neighbours[part]; });
    return word;
  };
  for (Bases *side : {&src, &dst})
    for (SmallVector<uint32_t> *list : {&side->regs, &side->lanes, &side->warps})
      for (uint32_t &vector : *list)
        vector = wordOf(vector);
}

void ShufflePlanner::findPlaces() {
  placeOf = {};
  sourceRegs.clear();
  keptLanes = 0;
  for (auto [bit, vector] : llvm::enumerate(src.regs))
    if (!(dealtRegs >> bit & 1) && placeOf.define(vector, Index{.reg = 1 << bit}))
      sourceRegs.push_back(bit);
  for (auto [bit, vector] : llvm::enumerate(src.lanes))
    if (!placeOf.define(vector, Index{.lane = 1 << bit}))
      keptLanes |= 1u << bit;
}

/// Lanes that hold copies may each send another register. Deals one register bit to one lane bit,
/// if a lane has to send more often than the lanes want to get.
bool ShufflePlanner::dealCopy() {
  F2Span results, all = wanted;
  unsigned numResults = 0, numCommon = 0;
  for (auto [bit, vector] : llvm::enumerate(dst.regs))
    numResults += results.insert(vector, bit);
  std::optional<unsigned> dealt;
  for (unsigned reg : sourceRegs) {
    numCommon += !all.insert(src.regs[reg], 63);
    if (wanted.solve(src.regs[reg]))
      dealt = reg;
  }
  if (numCommon <= numResults || !dealt || !keptLanes)
    return false;
  auto vectorOf = [&](unsigned lane) { // once the register bit is not the lane's own to choose
    bool differs = placeOf(src.lanes[lane]).reg >> *dealt & 1;
    return differs ? src.lanes[lane] : src.lanes[lane] ^ src.regs[*dealt];
  };
  unsigned lane = llvm::countr_zero(keptLanes);
  forEachBit(keptLanes, [&](unsigned each) {
    if (dst.lanes[each] == vectorOf(each))
      lane = each; // It sends what it wants itself.
  });
  if (vectorOf(lane) != src.lanes[lane])
    copyFlips[lane] ^= 1 << *dealt;
  src.lanes[lane] = vectorOf(lane);
  dealtRegs |= 1u << *dealt;
  return true;
}

void ShufflePlanner::openSource() {
  for (uint32_t vector : llvm::concat<const uint32_t>(dst.regs, dst.lanes))
    wanted.insert(vector, 0);
  do
    findPlaces();
  while (dealCopy());
}

/// Extends W as the head of the header says, what stays in its lane first.
void ShufflePlanner::chooseRounds() {
  F2Span before, after;
  for (unsigned reg : sourceRegs)
    before.insert(src.regs[reg], 0);
  for (uint32_t vector : dst.regs)
    after.insert(vector, 0);
  auto extend = [&](uint32_t vector) {
    if (!wanted.solve(vector) || before.solve(vector) || after.solve(vector))
      return;
    before.insert(vector, 0);
    after.insert(vector, 0);
    roundOf.define(vector, 0);
  };
  for (auto [a, b] : llvm::zip_equal(src.lanes, dst.lanes))
    if (a == b)
      extend(a);
  for (auto [a, b] : llvm::zip_equal(src.lanes, dst.lanes))
    for (uint32_t vector : {a, b, a ^ b})
      extend(vector);
  SmallVector<uint32_t> all(dst.lanes);
  all.append(dst.regs);
  for (uint32_t first : all)
    for (uint32_t second : all)
      extend(first == second ? first : first ^ second);
  for (uint32_t vector : llvm::concat<const uint32_t>(dst.regs, dst.lanes))
    numRoundBits += roundOf.define(vector, 1u << numRoundBits);
}

/// Where the result's place of one bit has its element from.
Index ShufflePlanner::sourceOf(InDim dim, unsigned bit) const {
  if (dim == InDim::Warp)
    return placeOf(dst.warps[bit] ^ src.warps[bit]);
  if (dim == InDim::Register)
    return placeOf(dst.regs[bit]);
  if (!(keptLanes >> bit & 1))
    return placeOf(dst.lanes[bit]);
  return placeOf(dst.lanes[bit] ^ src.lanes[bit]) ^ Index{.lane = 1 << bit};
}

void ShufflePlanner::findRoutes() {
  auto route = [&](InDim dim, unsigned bit, uint32_t lane, uint32_t warp, uint32_t round) {
    Index from = sourceOf(dim, bit);
    laneFrom.define(threadKey(lane, warp, round), from.lane);
    regSent.define(threadKey(from.lane, warp, round), from.reg);
  };
  for (unsigned bit = 0; bit < dst.lanes.size(); ++bit)
    route(InDim::Lane, bit, 1u << bit, 0, roundOf(dst.lanes[bit]));
  for (unsigned bit = 0; bit < dst.regs.size(); ++bit)
    route(InDim::Register, bit, 0, 0, roundOf(dst.regs[bit]));
  for (unsigned bit = 0; bit < dst.warps.size(); ++bit)
    route(InDim::Warp, bit, 0, 1u << bit, 0);
  auto complete = [&](uint32_t key, int32_t lane) {
    laneFrom.define(key, lane);
    regSent.define(key, 0);
  };
  for (unsigned bit = 0; bit < dst.lanes.size(); ++bit)
    complete(threadKey(1u << bit, 0, 0), 1 << bit);
  for (unsigned bit = 0; bit < dst.warps.size(); ++bit)
    complete(threadKey(0, 1u << bit, 0), 0);
  for (unsigned bit = 0; bit < numRoundBits; ++bit)
    complete(threadKey(0, 0, 1u << bit), 0);
}

/// A linear function from threads to registers as flips that are independent of one another.
template <class Flip> SmallVector<RegisterFlip> ShufflePlanner::registerFlips(Flip flipOf) const {
  SmallVector<RegisterFlip> flips;
  F2Span span;
  auto add = [&](int32_t flip, int32_t lanes, int32_t warps) {
    if (span.insert(uint32_t(flip), flips.size()))
      flips.push_back({{}, flip});
    forEachBit(uint32_t(*span.solve(uint32_t(flip))), [&](unsigned number) {
      flips[number].when.lanes ^= lanes;
      flips[number].when.warps ^= warps;
    });
  };
  for (unsigned bit = 0; bit < dst.lanes.size(); ++bit)
    add(flipOf(1u << bit, 0), 1 << bit, 0);
  for (unsigned bit = 0; bit < dst.warps.size(); ++bit)
    add(flipOf(0, 1u << bit), 0, 1 << bit);
  return flips;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

unsigned ShufflePlanner::inputOf(int32_t reg) {
  auto [known, isNew] = inputNumbers.try_emplace(reg, plan.inputWords.size());
  if (!isNew)
    return known->second;
  uint32_t part = 0;
  forEachBit(uint32_t(reg), [&](unsigned bit) { part ^= sourceParts[bit]; });
  SmallVector<int32_t, 4> &word = plan.inputWords.emplace_back();
  for (int32_t each = 0; each < plan.perWord(); ++each) {
    int32_t at = reg;
    forEachBit(part ^ uint32_t(each), [&](unsigned bit) { at ^= partRegs[bit]; });
    word.push_back(at);
  }
  return known->second;
}

/// Until all inputs are known, steps are numbered from kSteps.
static constexpr unsigned kSteps = 1u << 20;

unsigned ShufflePlanner::step(const ShuffleStep &made) {
  if (made.kind == ShuffleStep::Select && made.value == made.other)
    return made.value;
  plan.shuffles += made.kind == ShuffleStep::Shuffle;
  plan.stepList.push_back(made);
  return kSteps + unsigned(plan.stepList.size()) - 1;
}

/// The word of register `reg`, or of the register that the first flips make of it.
unsigned ShufflePlanner::sent(int32_t reg, unsigned numFlips) {
  if (numFlips == 0)
    return inputOf(reg);
  auto known = sentNumbers.find({reg, numFlips});
  if (known != sentNumbers.end())
    return known->second;
  const RegisterFlip &flip = sendFlips[numFlips - 1];
  unsigned even = sent(reg, numFlips - 1), odd = sent(reg ^ flip.flip, numFlips - 1);
  return sentNumbers[{reg, numFlips}] = step({ShuffleStep::Select, even, odd, flip.when});
}

unsigned ShufflePlanner::received(int32_t round) {
  auto known = receivedNumbers.find(round);
  if (known != receivedNumbers.end())
    return known->second;
  uint32_t key = threadKey(0, 0, uint32_t(round));
  unsigned word = sent(regSent(key), sendFlips.size());
  int32_t laneFlip = laneFrom(key);
  if (laneFlip || !plan.laneBits.empty())
    word = step({ShuffleStep::Shuffle, word, 0, {}, laneFlip});
  return receivedNumbers[round] = word;
}

unsigned ShufflePlanner::kept(int32_t round, unsigned numFlips) {
  if (numFlips == 0)
    return received(round);
  auto known = keptNumbers.find({round, numFlips});
  if (known != keptNumbers.end())
    return known->second;
  const RegisterFlip &flip = keepFlips[numFlips - 1];
  unsigned even = kept(round, numFlips - 1), odd = kept(round ^ flip.flip, numFlips - 1);
  return keptNumbers[{round, numFlips}] = step({ShuffleStep::Select, even, odd, flip.when});
}

void ShufflePlanner::emit() {
  bool ownLane = true;
  SmallVector<ThreadParity> laneBits(dst.lanes.size());
  auto addLanes = [&](uint32_t lane, uint32_t warp) {
    uint32_t from = uint32_t(laneFrom(threadKey(lane, warp, 0)));
    ownLane &= from == lane;
    forEachBit(from, [&](unsigned bit) {
      laneBits[bit].lanes |= int32_t(lane);
      laneBits[bit].warps |= int32_t(warp);
    });
  };
  for (unsigned bit = 0; bit < dst.lanes.size(); ++bit)
    addLanes(1u << bit, 0);
  for (unsigned bit = 0; bit < dst.warps.size(); ++bit)
    addLanes(0, 1u << bit);
  if (!ownLane)
    plan.laneBits = laneBits;
  sendFlips = registerFlips([&](uint32_t lane, uint32_t warp) {
    auto copy = lane ? copyFlips.find(unsigned(llvm::countr_zero(lane))) : copyFlips.end();
    return regSent(threadKey(lane, warp, 0)) ^ (copy == copyFlips.end() ? 0 : copy->second);
  });
  keepFlips = registerFlips([&](uint32_t lane, uint32_t) {
    return lane ? int32_t(roundOf(dst.lanes[unsigned(llvm::countr_zero(lane))])) : 0;
  });
  for (uint32_t reg = 0; reg < 1u << dst.regs.size(); ++reg) {
    uint32_t round = 0, part = 0;
    forEachBit(reg, [&](unsigned bit) {
      round ^= roundOf(dst.regs[bit]);
      part ^= resultParts[bit];
    });
    plan.outputList.push_back({kept(int32_t(round), keepFlips.size()), part});
  }
  auto renumber = [&](unsigned &word) {
    if (word >= kSteps)
      word += unsigned(plan.inputWords.size()) - kSteps;
  };
  for (ShuffleStep &made : plan.stepList) {
    renumber(made.value);
    renumber(made.other);
  }
  for (ShufflePlan::Output &output : plan.outputList)
    renumber(output.word);
}

ShufflePlan ShufflePlanner::run(int32_t maxPerWord) {
  pack(maxPerWord);
  openSource();
  chooseRounds();
  findRoutes();
  emit();
  return std::move(plan);
}

bool ShufflePlan::exists(const LayoutConversion &conversion) {
  const LinearLayout &src = conversion.source(), &dst = conversion.target();
  return conversion.kind() <= ConversionKind::Lanes && conversion.isLinear() && !src.isMemory() &&
         !dst.isMemory() && src.numBlocks() == 1 && src.numBits(InDim::Register) <= kMaxRoundBits &&
         dst.numBits(InDim::Register) <= kMaxRoundBits;
}

std::optional<ShufflePlan> ShufflePlan::create(const LayoutConversion &conversion, int32_t maxPerWord) {
  if (!exists(conversion))
    return std::nullopt;
  return ShufflePlanner(conversion.source(), conversion.target()).run(maxPerWord);
}
