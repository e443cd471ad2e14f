//===- Parameters.cpp - the parameter buffer as arguments of the interpreter ------===//

#include "backends/cpu/Parameters.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::cpu;
using namespace tk::interp;

namespace {
/// Takes values off the buffer, each at the next multiple of its size.
class Reader {
public:
  explicit Reader(ArrayRef<uint8_t> bytes) : bytes(bytes) {}

  /// The little-endian bytes of the next value; 0 past the end.
  uint64_t next(size_t size) {
    uint64_t value = 0;
    at = llvm::alignTo(at, size);
    if (at <= bytes.size() && size <= bytes.size() - at)
      std::memcpy(&value, bytes.data() + at, size);
    at += size;
    return value;
  }
  std::vector<int64_t> next64s(int64_t count) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(int64_t(next(8)));
    return values;
  }
  size_t taken() const { return at; }

private:
  ArrayRef<uint8_t> bytes;
  size_t at = 0;
};
} // namespace

static Type pointeeOf(Type type) {
  auto view = dyn_cast<ViewType>(type);
  return view ? view.getElement() : cast<PtrType>(type).getPointee();
}

/// Elements below `INT64_MAX / 16`, so that no address of one leaves 64 bits.
static bool isAddressable(ArrayRef<int64_t> extents, ArrayRef<int64_t> strides) {
  constexpr int64_t kMostElements = INT64_MAX / 16;
  int64_t span = 0, elements = 1;
  for (auto [extent, stride] : llvm::zip(extents, strides)) {
    if (extent < 0 || stride == INT64_MIN)
      return false;
    int64_t reach = 0;
    if (llvm::MulOverflow(std::max<int64_t>(extent, 1) - 1, std::abs(stride), reach) ||
        llvm::AddOverflow(span, reach, span) || llvm::MulOverflow(elements, extent, elements) ||
        span > kMostElements || elements > kMostElements)
      return false;
  }
  return true;
}

/// A tensor without elements may lie at 0 without having been left out.
static Argument tensorArgument(DictionaryAttr entry, ViewType view, DType dtype, Reader &reader,
                               Parameters &parameters, std::string &problem) {
  StringRef name = entry.getAs<StringAttr>("name").getValue();
  void *address = reinterpret_cast<void *>(reader.next(8));
  std::vector<int64_t> extents = reader.next64s(view.getRank());
  std::vector<int64_t> strides = reader.next64s(view.getRank());
  if (!isAddressable(extents, strides)) {
    problem = "the extents and strides of `" + name.str() + "` reach beyond the address space";
    return Argument::absent(name.str());
  }
  auto optional = entry.getAs<BoolAttr>("optional");
  if (!address && ((optional && optional.getValue()) || !llvm::is_contained(extents, 0)))
    return Argument::absent(name.str());
  parameters.buffers.push_back(
      Buffer::over(name.str(), dtype, address, std::move(extents), std::move(strides)));
  return Argument::tensor(name.str(), parameters.buffers.back());
}

static Argument pointerArgument(StringRef name, DType dtype, Reader &reader,
                                Parameters &parameters) {
  void *address = reinterpret_cast<void *>(reader.next(8));
  const uint64_t span = reader.next(8);
  if (!address)
    return Argument::absent(name.str());
  const int64_t elements = int64_t(span / byteSize(dtype));
  parameters.buffers.push_back(span == 0
                                   ? Buffer::unbounded(name.str(), dtype, address)
                                   : Buffer::over(name.str(), dtype, address, {elements}, {1}));
  return Argument::tensor(name.str(), parameters.buffers.back());
}

/// The type of the elements that a parameter has or leads to in memory.
static FailureOr<DType> memoryTypeOf(KernelOp kernel, unsigned index) {
  const Type type = kernel.getArgumentTypes()[index];
  if (isa<ViewType, PtrType>(type) && isa<PtrType>(pointeeOf(type)))
    return DType::ptr;
  return dtypeOf(kernel, kernel.getArgContract(index));
}

LogicalResult tk::cpu::checkParameters(KernelOp kernel) {
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) {
    FailureOr<DType> dtype = memoryTypeOf(kernel, i);
    if (failed(dtype))
      return failure();
    if (*dtype == DType::i4 || *dtype == DType::u4 || *dtype == DType::f4e2m1)
      return tk::emit<diag::InterpCannotRun>(kernel.getLoc(), kernel.getSymName(),
                                             std::string("has a parameter of type ") +
                                                 nameOf(*dtype) + ", two of which share a byte");
  }
  return success();
}

bool tk::cpu::readParameters(KernelOp kernel, ArrayRef<uint8_t> bytes, Parameters &parameters,
                             std::string &problem) {
  Reader reader(bytes);
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) {
    const Type type = kernel.getArgumentTypes()[i];
    const DictionaryAttr entry = kernel.getArgContract(i);
    StringRef name = entry.getAs<StringAttr>("name").getValue();
    const DType dtype = *memoryTypeOf(kernel, i);
    if (auto view = dyn_cast<ViewType>(type)) {
      parameters.arguments.push_back(
          tensorArgument(entry, view, dtype, reader, parameters, problem));
    } else if (isa<PtrType>(type)) {
      parameters.arguments.push_back(pointerArgument(name, dtype, reader, parameters));
    } else {
      Argument &scalar = parameters.arguments.emplace_back();
      scalar.name = name.str();
      scalar.dtype = dtype;
      scalar.bits = reader.next(byteSize(dtype));
    }
    if (!problem.empty())
      return false;
  }
  if (reader.taken() > bytes.size())
    problem = "the parameters take " + std::to_string(reader.taken()) + " bytes, the buffer has " +
              std::to_string(bytes.size());
  return problem.empty();
}
