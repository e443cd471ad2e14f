//===- RunPrint.cpp - arrays as text and as bytes ------------------------------------------===//

#include "backends/interp/Memory.h"
#include "driver/Npy.h"
#include "driver/RunArgs.h"

using namespace tk;
using namespace tk::interp;

/// Arrays of more elements show this many at both ends of each axis.
static constexpr int64_t kMaxPrinted = 1000, kEdge = 3;

static void printAxis(const Buffer &buffer, size_t axis, int64_t element, bool isShort,
                      llvm::raw_ostream &out) {
  if (axis == buffer.extents.size()) {
    if (!buffer.written.empty() && !buffer.written[size_t(element)])
      out << "_"; // nobody wrote it
    else
      out << valueText(buffer.dtype, buffer.data() + size_t(element) * byteSize(buffer.dtype));
    return;
  }
  const int64_t side = buffer.extents[axis];
  const bool isInner = axis + 1 == buffer.extents.size();
  out << '[';
  for (int64_t i = 0; i < side; ++i) {
    if (i > 0) {
      out << (isInner ? ", " : ",\n");
      if (!isInner)
        out.indent(unsigned(axis + 1));
    }
    if (isShort && side > 2 * kEdge && i == kEdge) {
      out << "...";
      i = side - kEdge - 1;
      continue;
    }
    printAxis(buffer, axis + 1, element + i * buffer.strides[axis], isShort, out);
  }
  out << ']';
}

void tk::printArray(const Buffer &buffer, llvm::raw_ostream &out) {
  out << buffer.name << ": " << nameOf(buffer.dtype) << '[';
  for (size_t i = 0; i < buffer.extents.size(); ++i)
    out << (i ? ", " : "") << buffer.extents[i];
  out << "] =\n";
  printAxis(buffer, 0, buffer.origin, buffer.numElements() > kMaxPrinted, out);
  out << '\n';
}

std::string tk::packedBytes(const Buffer &buffer) {
  const size_t bytes = byteSize(buffer.dtype);
  const int64_t side = buffer.extents.empty() ? 1 : buffer.extents.back();
  const bool isPacked = elementsPerByte(buffer.dtype) > 1;
  std::string packed;
  for (int64_t i = 0; i < buffer.numElements(); ++i) {
    const uint8_t *element = buffer.data() + size_t(buffer.elementAt(i)) * bytes;
    if (!isPacked)
      packed.append(reinterpret_cast<const char *>(element), bytes);
    else if (i % side % 2 == 0) // low bits first
      packed.push_back(char(*element & 15));
    else
      packed.back() = char(uint8_t(packed.back()) | (*element & 15) << 4);
  }
  return packed;
}
