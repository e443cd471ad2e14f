//===- Buffers.cpp - the memory that is timed on ---------------------------===//
#include "Buffers.h"

#include "Error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tkctune {

using tkcrt::DtypeClass;
using tkcrt::DtypeInfo;

/// Elements that are made on the host at a time. Random ones repeat with this period, which is
/// odd so that rows of a power of two differ.
constexpr size_t kChunkElements = (size_t(1) << 20) - 1;

namespace {
/// splitmix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [-1, 1).
  double unit() { return static_cast<double>(static_cast<int64_t>(next()) >> 11) * 0x1p-52; }

private:
  uint64_t state;
};
} // namespace

/// FNV-1a: a seed of its own for each name.
static uint64_t seedOf(const std::string &name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// The bits of a number in a type. The 8-bit floats are only filled at random, see randomBits.
static uint64_t bitsOf(const DtypeInfo &type, double value) {
  if (type.cls == DtypeClass::Float)
    return type.bits >= 16 ? tkcrt::floatBits(type, value) : value == 0 ? 0 : 0x38;
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

static uint64_t randomBits(const DtypeInfo &type, Random &random) {
  if (type.code == TKC_E8M0)
    return 126 + random.next() % 3; // 0.5, 1 and 2
  if (type.cls == DtypeClass::Float && type.bits == 8)
    return 0x20 + random.next() % 0x18 + (random.next() % 2) * 0x80; // no type's NaN, none huge
  if (type.cls == DtypeClass::Float)
    return tkcrt::floatBits(type, random.unit());
  return type.cls == DtypeClass::Bool ? random.next() % 2 : random.next();
}

/// Elements [begin, begin + count) of a buffer of `total`.
static void makeElements(const DtypeInfo &type, const Fill &fill, const std::vector<int64_t> &order,
                         size_t begin, size_t count, Random &random, std::vector<uint8_t> &out) {
  size_t bytes = std::max<size_t>(type.bits / 8, 1);
  out.resize(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    switch (fill.rule) {
    case Fill::Rule::Zeros:
      break;
    case Fill::Rule::Ones:
      bits = bitsOf(type, 1);
      break;
    case Fill::Rule::Rand:
      bits = randomBits(type, random);
      break;
    case Fill::Rule::Arange:
      bits = bitsOf(type, static_cast<double>(begin + i));
      break;
    case Fill::Rule::Perm:
      bits = bitsOf(type, static_cast<double>(order[begin + i]));
      break;
    case Fill::Rule::RandInt:
      bits = bitsOf(
          type, static_cast<double>(
                    fill.low + static_cast<int64_t>(random.next() %
                                                    static_cast<uint64_t>(fill.high - fill.low))));
      break;
    }
    memcpy(&out[i * bytes], &bits, bytes); // little-endian, like every host of a GPU
  }
}

/// 0 to count - 1 in a shuffled order.
static std::vector<int64_t> permutation(size_t count, Random &random) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = count; i > 1; --i)
    std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

static tkc_status fillMemory(Gpu &gpu, const PlannedArg &arg, const Fill &fill, uint64_t address,
                             tkc_error *err) {
  size_t elementBytes = std::max<size_t>(arg.type->bits / 8, 1);
  size_t total = static_cast<size_t>(arg.bytes) / elementBytes;
  if (fill.rule == Fill::Rule::Zeros)
    return gpu.fill(address, 0, static_cast<size_t>(arg.bytes), err);
  Random random(seedOf(arg.name));
  std::vector<int64_t> order;
  if (fill.rule == Fill::Rule::Perm)
    order = permutation(total, random);
  bool repeats = fill.rule == Fill::Rule::Ones || fill.rule == Fill::Rule::Rand ||
                 fill.rule == Fill::Rule::RandInt;
  std::vector<uint8_t> chunk;
  for (size_t begin = 0; begin < total; begin += kChunkElements) {
    size_t count = std::min(kChunkElements, total - begin);
    if (!repeats || chunk.empty())
      makeElements(*arg.type, fill, order, begin, count, random, chunk);
    if (tkc_status status =
            gpu.upload(address + begin * elementBytes, chunk.data(), count * elementBytes, err))
      return status;
  }
  return gpu.synchronize(err); // the chunk's memory goes
}

/// What nobody gave a rule for: floats are random, as nothing is timed on zeros; integers are 0,
/// as they may be indices.
static Fill defaultFill(const DtypeInfo &type) {
  Fill fill;
  if (type.cls == DtypeClass::Float)
    fill.rule = Fill::Rule::Rand;
  return fill;
}

tkc_status Buffers::makeSlot(Gpu &gpu, const PlannedArg &arg, const Fill *rule, Slot &slot,
                             tkc_error *err) {
  if (arg.kind != TKC_TENSOR && arg.kind != TKC_POINTER)
    return TKC_OK;
  if ((arg.live && !arg.isWritten) || !arg.bytes)
    return TKC_OK;
  size_t bytes = static_cast<size_t>(arg.bytes);
  if (tkc_status status = slot.work.allocate(gpu, bytes, err))
    return status;
  slot.isZeroed = arg.isZeroed;
  bool keeps = arg.isRead && arg.isWritten && !arg.isZeroed;
  if (arg.live) {
    uint64_t begin = reinterpret_cast<uint64_t>(arg.live) - static_cast<uint64_t>(arg.bytesBefore);
    slot.original = keeps ? begin : 0;
    // Elements that a kernel does not write keep their values: they must look alike.
    return gpu.copy(slot.work.address(), begin, bytes, err);
  }
  Fill fill = arg.isZeroed ? Fill() : rule ? *rule : defaultFill(*arg.type);
  if (tkc_status status = fillMemory(gpu, arg, fill, slot.work.address(), err))
    return status;
  if (!keeps)
    return TKC_OK;
  if (tkc_status status = slot.pristine.allocate(gpu, bytes, err))
    return status;
  slot.original = slot.pristine.address();
  return gpu.copy(slot.original, slot.work.address(), bytes, err);
}

void Buffers::addArgument(const PlannedArg &arg, const Slot &slot) {
  tkc_arg result{};
  result.kind = arg.kind;
  void *data =
      slot.work.address()
          ? reinterpret_cast<void *>(slot.work.address() + static_cast<uint64_t>(arg.bytesBefore))
          : arg.live;
  if (arg.kind == TKC_TENSOR) {
    result.u.tensor.data = data;
    result.u.tensor.extents = arg.extents.data();
    result.u.tensor.strides = arg.strides.data();
    result.u.tensor.dtype = arg.type->code;
    result.u.tensor.rank = static_cast<uint16_t>(arg.extents.size());
  } else if (arg.kind == TKC_POINTER) {
    result.dtype = arg.type->code;
    result.u.pointer.data = data;
    result.u.pointer.span_bytes = static_cast<uint64_t>(arg.bytes);
  } else if (arg.kind == TKC_SCALAR) {
    result.dtype = arg.type->code;
    memcpy(&result.u, &arg.bits, sizeof(arg.bits));
  }
  arguments.push_back(result);
}

tkc_status Buffers::make(Gpu &gpu, const Plan &plan, const std::map<std::string, Fill> &fills,
                         tkc_error *err) {
  slots.clear();
  slots.resize(plan.args.size());
  arguments.clear();
  for (size_t i = 0; i < plan.args.size(); ++i) {
    const PlannedArg &arg = plan.args[i];
    auto it = fills.find(arg.name);
    if (tkc_status status =
            makeSlot(gpu, arg, it == fills.end() ? nullptr : &it->second, slots[i], err))
      return status;
    addArgument(arg, slots[i]);
  }
  return TKC_OK;
}

tkc_status Buffers::reset(Gpu &gpu, tkc_error *err) const {
  for (const Slot &slot : slots) {
    tkc_status status = TKC_OK;
    if (slot.isZeroed)
      status = gpu.fill(slot.work.address(), 0, slot.work.bytes(), err);
    else if (slot.original)
      status = gpu.copy(slot.work.address(), slot.original, slot.work.bytes(), err);
    if (status)
      return status;
  }
  return TKC_OK;
}

} // namespace tkctune
