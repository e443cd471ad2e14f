//===- Buffer.cpp - memory and arguments ----------------------------------------------===//

#include "backends/interp/Interp.h"
#include "ir/diagnostics/Diagnostics.h"
#include <cstring>

using namespace mlir;
using namespace tk;
using namespace tk::interp;

/// A buffer that lies nowhere yet.
static Buffer layOut(std::string name, DType dtype, std::vector<int64_t> extents,
                     std::vector<int64_t> strides) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.dtype = dtype;
  int64_t low = 0, high = 0;
  bool isEmpty = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    isEmpty |= extents[i] == 0;
    int64_t span = (extents[i] - 1) * strides[i];
    (span < 0 ? low : high) += span;
  }
  buffer.extents = std::move(extents);
  buffer.strides = std::move(strides);
  buffer.elements = isEmpty ? 0 : high - low + 1;
  buffer.origin = isEmpty ? 0 : -low;
  return buffer;
}

Buffer Buffer::makeStrided(std::string name, DType dtype, std::vector<int64_t> extents,
                           std::vector<int64_t> strides) {
  Buffer buffer = layOut(std::move(name), dtype, std::move(extents), std::move(strides));
  buffer.storage.assign(size_t(buffer.elements) * byteSize(dtype) / 8 + 1, 0);
  return buffer;
}

Buffer Buffer::over(std::string name, DType dtype, void *zero, std::vector<int64_t> extents,
                    std::vector<int64_t> strides) {
  Buffer buffer = layOut(std::move(name), dtype, std::move(extents), std::move(strides));
  buffer.borrowed = static_cast<uint8_t *>(zero) - size_t(buffer.origin) * byteSize(dtype);
  if (!zero) // of no elements
    buffer.storage.assign(1, 0);
  return buffer;
}

Buffer Buffer::make(std::string name, DType dtype, std::vector<int64_t> extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t i = extents.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(extents[i], 1);
  return makeStrided(std::move(name), dtype, std::move(extents), std::move(strides));
}

Buffer Buffer::makeEmpty(std::string name, DType dtype, std::vector<int64_t> extents) {
  Buffer buffer = make(std::move(name), dtype, std::move(extents));
  buffer.written.assign(size_t(buffer.elements), 0);
  return buffer;
}

Buffer Buffer::unbounded(std::string name, DType dtype, void *zero) {
  const uint64_t address = reinterpret_cast<uint64_t>(zero), size = byteSize(dtype);
  constexpr uint64_t kLowest = 65536; // nothing is mapped below, where null and its neighbours are
  const uint64_t lowest = kLowest + address % size;
  const int64_t elements = (int64_t(1) << 62) / int64_t(size);    // past all that a process can map
  Buffer buffer = over(std::move(name), dtype, reinterpret_cast<void *>(lowest), {elements}, {1});
  buffer.origin = int64_t(address - lowest) / int64_t(size);
  buffer.isUnbounded = true;
  return buffer;
}

int64_t Buffer::numElements() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

int64_t Buffer::elementAt(int64_t index) const {
  int64_t element = origin;
  for (size_t i = extents.size(); i-- > 0;) {
    element += index % extents[i] * strides[i];
    index /= extents[i];
  }
  return element;
}

Argument Argument::tensor(std::string name, Buffer &buffer) {
  Argument argument;
  argument.name = std::move(name);
  argument.buffer = &buffer;
  argument.dtype = buffer.dtype;
  return argument;
}

Argument Argument::scalar(std::string name, DType dtype, int64_t value) {
  Argument argument;
  argument.name = std::move(name);
  argument.dtype = dtype;
  if (isFloat(dtype))
    elementFromDouble(dtype, double(value), &argument.bits);
  else
    elementFromInteger(dtype, value, &argument.bits);
  return argument;
}

Argument Argument::scalar(std::string name, DType dtype, double value) {
  Argument argument;
  argument.name = std::move(name);
  argument.dtype = dtype;
  elementFromDouble(dtype, value, &argument.bits);
  return argument;
}

Argument Argument::absent(std::string name) {
  Argument argument;
  argument.name = std::move(name);
  argument.isAbsent = true;
  return argument;
}

Argument Argument::pointers(std::string name, Buffer &table, std::vector<Argument> pointees) {
  Argument argument = tensor(std::move(name), table);
  argument.pointees = std::move(pointees);
  return argument;
}

std::optional<DType> tk::interp::parseDType(StringRef name) {
  for (unsigned i = 0; i < unsigned(DType::ptr); ++i)
    if (name == nameOf(DType(i)))
      return DType(i);
  return std::nullopt;
}

FailureOr<DType> tk::interp::dtypeOf(KernelOp kernel, DictionaryAttr entry) {
  StringRef name = entry.getAs<StringAttr>("dtype").getValue().ltrim('*'); // of pointers, too
  if (std::optional<DType> dtype = parseDType(name))
    return *dtype;
  std::string why = "has a parameter of type " + name.str();
  (void)tk::emit<diag::InterpCannotRun>(kernel.getLoc(), kernel.getSymName(), why);
  return failure();
}
