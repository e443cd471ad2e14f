//===- RunFill.cpp - arrays by rule --------------------------------------------------------===//

#include "driver/RunArgs.h"

using namespace tk;
using namespace tk::interp;
using llvm::StringRef;

namespace {
/// SplitMix64: the same numbers on every machine.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  double uniform() { return double(next() >> 11) * 0x1p-53; }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
};
} // namespace

uint64_t tk::seedOf(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

/// The numbers of a permutation of 0, 1, ..., in the order of elements.
static std::vector<int64_t> permutation(int64_t count, Random &random) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    numbers[size_t(i)] = i;
  for (size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[random.next() % i]);
  return numbers;
}

/// Numbers that an integer type takes as they are.
static std::optional<int64_t> integerBy(StringRef rule, DType dtype, int64_t index, double low,
                                        double high, Random &random) {
  if (rule == "randint") {
    uint64_t span = uint64_t(std::max(int64_t(high) - int64_t(low), int64_t(1)));
    return int64_t(low) + int64_t(random.next() % span);
  }
  if (isFloat(dtype))
    return std::nullopt;
  if (rule == "rand")
    return int64_t(dtype == DType::i1 ? random.next() >> 63 : random.next());
  if (rule == "arange")
    return index;
  return std::nullopt;
}

static double numberBy(StringRef rule, DType dtype, int64_t index, double value, Random &random) {
  if (rule == "randn")
    return isFloat(dtype) ? random.normal() : std::nearbyint(16 * random.normal());
  return rule == "ones"     ? 1
         : rule == "full"   ? value
         : rule == "arange" ? double(index)
         : rule == "rand"   ? random.uniform()
                            : 0;
}

void tk::fillByRule(Buffer &buffer, StringRef rule, double first, double second, uint64_t seed) {
  Random random{seed};
  const DType dtype = buffer.dtype;
  const int64_t count = buffer.numElements();
  const std::vector<int64_t> numbers =
      rule == "perm" ? permutation(count, random) : std::vector<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    uint8_t *element = buffer.data() + size_t(buffer.elementAt(i)) * byteSize(dtype);
    std::optional<int64_t> integer =
        numbers.empty() ? integerBy(rule, dtype, i, first, second, random) : numbers[size_t(i)];
    if (integer && !isFloat(dtype))
      elementFromInteger(dtype, *integer, element);
    else
      elementFromDouble(dtype,
                        integer ? double(*integer) : numberBy(rule, dtype, i, first, random),
                        element);
  }
}
