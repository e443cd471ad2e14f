//===- ExecSort.cpp - elements in order, and how often they occur ----------------------===//
//
// An element becomes an unsigned key whose order is that of the language: -0 below +0, all NaNs
// equal and above all numbers. Pairs of key and index have no equals, so any sort of them is
// stable; descending, the keys are complemented and the indices are not.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Exec.h"
#include <algorithm>
#include <type_traits>

using namespace tk::interp;

namespace {
struct Entry {
  uint64_t key;
  uint32_t index;
  bool operator<(const Entry &other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};
static_assert(sizeof(Entry) == kSortEntryBytes);

/// Integers: the sign bit is flipped where there is one.
template <class U> struct IntegerKey {
  using Bits = U;
  static uint64_t of(U bits) { return bits; }
};
template <class U> struct SignedKey {
  using Bits = U;
  static uint64_t of(U bits) { return U(bits ^ (U(1) << (8 * sizeof(U) - 1))); }
};
/// Floats: negative ones are complemented, so that larger magnitudes come first.
template <class U, U Infinity> struct FloatKey {
  using Bits = U;
  static constexpr U kSign = U(1) << (8 * sizeof(U) - 1);
  static uint64_t of(U bits) {
    if (U(bits & U(~kSign)) > Infinity)
      return ~uint64_t(0);
    return U(bits & kSign ? U(~bits) : U(bits | kSign));
  }
};
} // namespace

template <class Key> static void sort(const Inst &inst, Frame &frame) {
  using U = typename Key::Bits;
  const SortPlan &plan = frame.program->compute.sorts[inst.aux];
  const size_t inner = plan.from.inner, side = plan.from.side, taken = plan.taken;
  Entry *entries = frame.at<Entry>(plan.scratch);
  for (size_t line = 0; line < size_t(plan.from.outer) * inner; ++line) {
    const size_t outer = line / inner, within = line % inner;
    const U *from = frame.at<U>(plan.value) + outer * side * inner + within;
    for (size_t s = 0; s < side; ++s) {
      const uint64_t key = Key::of(from[s * inner]);
      entries[s] = {plan.isDescending ? ~key : key, uint32_t(s)};
    }
    if (taken == side)
      std::sort(entries, entries + side);
    else
      std::partial_sort(entries, entries + taken, entries + side);
    U *sorted = frame.at<U>(plan.sorted) + outer * taken * inner + within;
    int32_t *indices = frame.at<int32_t>(plan.indices) + outer * taken * inner + within;
    for (size_t t = 0; t < taken; ++t) {
      sorted[t * inner] = from[entries[t].index * inner];
      indices[t * inner] = int32_t(entries[t].index);
    }
  }
}

template <class U> static InstFn sortIntegers(bool isUnsigned) {
  return isUnsigned ? sort<IntegerKey<U>> : sort<SignedKey<U>>;
}

InstFn tk::interp::selectSort(DType type, bool isUnsigned) {
  switch (type) {
  case DType::i1:
    return sort<IntegerKey<uint8_t>>;
  case DType::i8:
    return sortIntegers<uint8_t>(isUnsigned);
  case DType::i16:
    return sortIntegers<uint16_t>(isUnsigned);
  case DType::i32:
    return sortIntegers<uint32_t>(isUnsigned);
  case DType::i64:
    return sortIntegers<uint64_t>(isUnsigned);
  case DType::f16:
    return sort<FloatKey<uint16_t, 0x7c00>>;
  case DType::bf16:
    return sort<FloatKey<uint16_t, 0x7f80>>;
  case DType::f32:
    return sort<FloatKey<uint32_t, 0x7f800000>>;
  case DType::f64:
    return sort<FloatKey<uint64_t, 0x7ff0000000000000>>;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Histogram
//===----------------------------------------------------------------------===//

template <class T> static void histogram(const Inst &inst, Frame &frame) {
  const HistogramPlan &plan = frame.program->compute.histograms[inst.aux];
  const T *values = frame.at<T>(plan.value);
  const uint8_t *mask = plan.hasMask ? frame.at<uint8_t>(plan.mask) : nullptr;
  uint32_t *counts = frame.at<uint32_t>(plan.counts);
  std::fill_n(counts, plan.bins, 0u);
  for (size_t i = 0; i < plan.elements; ++i) {
    // A negative number is a large one.
    const uint64_t bin = uint64_t(int64_t(values[i]));
    if (bin < plan.bins && (!mask || mask[i]))
      ++counts[bin];
  }
}

template <class S> static InstFn histogramOf(bool isUnsigned) {
  return isUnsigned ? histogram<std::make_unsigned_t<S>> : histogram<S>;
}

InstFn tk::interp::selectHistogram(DType type, bool isUnsigned) {
  switch (type) {
  case DType::i1:
    return histogram<uint8_t>;
  case DType::i8:
    return histogramOf<int8_t>(isUnsigned);
  case DType::i16:
    return histogramOf<int16_t>(isUnsigned);
  case DType::i32:
    return histogramOf<int32_t>(isUnsigned);
  case DType::i64:
    return histogramOf<int64_t>(isUnsigned);
  default:
    return nullptr;
  }
}
