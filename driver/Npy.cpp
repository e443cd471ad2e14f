//===- Npy.cpp - NumPy's .npy files -------------------------------------------------===//

#include "driver/Npy.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tk;
using interp::DType;

static constexpr StringLiteral kMagic("\x93NUMPY");

StringRef tk::npyDescr(DType type) {
  switch (type) {
  case DType::i1:
    return "|b1";
  case DType::i8:
    return "|i1";
  case DType::u8:
    return "|u1";
  case DType::i16:
    return "<i2";
  case DType::u16:
  case DType::bf16:
    return "<u2";
  case DType::i32:
    return "<i4";
  case DType::u32:
    return "<u4";
  case DType::i64:
    return "<i8";
  case DType::u64:
    return "<u8";
  case DType::f16:
    return "<f2";
  case DType::f32:
    return "<f4";
  default:
    return interp::byteSize(type) == 1 ? "|u1" : "<f8";
  }
}

unsigned tk::elementsPerByte(DType type) {
  return is_contained({"i4", "u4", "f4e2m1"}, StringRef(interp::nameOf(type))) ? 2 : 1;
}

bool tk::npyHolds(StringRef descr, DType type) {
  // The byte order of single bytes is written in any way.
  StringRef wanted = npyDescr(type);
  const bool isRaw = interp::byteSize(type) == 1 && type != DType::i1 && type != DType::i8 &&
                     type != DType::u8; // a float, or a type of four bits
  if (isRaw)
    return descr.size() == 3 && StringRef("uiV").contains(descr[1]) && descr[2] == '1';
  if (wanted.front() == '|')
    return descr.drop_front() == wanted.drop_front();
  return descr == wanted || (type == DType::bf16 && (descr == "|V2" || descr == "<V2"));
}

/// Bytes of one element, 0 for a type that is not read.
static unsigned elementBytes(StringRef descr) {
  if (descr.size() != 3 || (descr[0] == '>' && descr[2] != '1'))
    return 0;
  if (!StringRef("biufV").contains(descr[1]) || !StringRef("1248").contains(descr[2]))
    return 0;
  return unsigned(descr[2] - '0');
}

/// The text after `'key':` in the header's dictionary.
static StringRef valueOf(StringRef header, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + key.str() + quote;
    size_t at = header.find(quoted);
    if (at == StringRef::npos)
      continue;
    StringRef rest = header.drop_front(at + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return {};
}

static bool parseShape(StringRef text, std::vector<int64_t> &shape) {
  if (!text.consume_front("("))
    return false;
  size_t end = text.find(')');
  if (end == StringRef::npos)
    return false;
  SmallVector<StringRef> sides;
  text.take_front(end).split(sides, ',');
  for (StringRef side : sides) {
    side = side.trim();
    int64_t value = 0;
    if (side.empty())
      continue;
    if (side.getAsInteger(10, value) || value < 0)
      return false;
    shape.push_back(value);
  }
  return true;
}

bool tk::parseNpy(StringRef file, NpyArray &array, std::string &problem) {
  auto fail = [&](const Twine &why) {
    problem = why.str();
    return false;
  };
  auto byteAt = [&](size_t i) { return size_t(uint8_t(file[i])); };
  if (!file.starts_with(kMagic) || file.size() < 12)
    return fail("it is not a .npy file");
  const size_t version = byteAt(6);
  if (version < 1 || version > 3)
    return fail("its .npy version " + Twine(version) + " is not known");
  size_t begin = version == 1 ? 10 : 12;
  size_t length = byteAt(8) | byteAt(9) << 8;
  if (version > 1)
    length |= byteAt(10) << 16 | byteAt(11) << 24;
  if (length > file.size() - begin)
    return fail("its header is cut short");
  StringRef header = file.substr(begin, length), descr = valueOf(header, "descr");
  if (descr.empty() || (descr[0] != '\'' && descr[0] != '"'))
    return fail("its element type is not a plain one");
  array.descr = descr.drop_front().take_until([&](char c) { return c == descr[0]; }).str();
  unsigned bytes = elementBytes(array.descr);
  if (bytes == 0)
    return fail("its element type `" + array.descr + "` is not read");
  if (!valueOf(header, "fortran_order").starts_with("False"))
    return fail("it is in Fortran order; np.ascontiguousarray makes it C order");
  array.shape.clear();
  if (!parseShape(valueOf(header, "shape"), array.shape))
    return fail("its shape cannot be read");
  uint64_t needed = bytes;
  for (int64_t side : array.shape) // sides of a file that exists cannot overflow
    if (__builtin_mul_overflow(needed, uint64_t(side), &needed))
      return fail("its shape is larger than memory");
  array.bytes = file.drop_front(begin + length).str();
  if (array.bytes.size() != needed)
    return fail("it has " + Twine(array.bytes.size()) + " bytes of data, its shape needs " +
                Twine(needed));
  return true;
}

std::string tk::formatNpy(StringRef descr, ArrayRef<int64_t> shape, StringRef bytes) {
  std::string header = "{'descr': '" + descr.str() + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    header += std::to_string(shape[i]) + (i + 1 < shape.size() ? ", " : "");
  header += shape.size() == 1 ? ",), }" : "), }";
  const bool isLong = header.size() > 65000;
  const size_t prefix = isLong ? 12 : 10;
  while ((prefix + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string file = kMagic.str();
  file += isLong ? '\2' : '\1';
  file += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    file += char(header.size() >> (8 * i) & 0xff);
  return file + header + bytes.str();
}

bool tk::readNpy(const std::string &path, NpyArray &array, std::string &problem) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    problem = file.getError().message();
    return false;
  }
  return parseNpy((*file)->getBuffer(), array, problem);
}

bool tk::writeNpy(const std::string &path, StringRef descr, ArrayRef<int64_t> shape,
                  StringRef bytes, std::string &problem) {
  std::string besides = path + ".tmp" + std::to_string(sys::Process::getProcessId());
  std::error_code error;
  {
    raw_fd_ostream stream(besides, error);
    if (!error) {
      stream << formatNpy(descr, shape, bytes);
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
  }
  if (!error)
    error = sys::fs::rename(besides, path);
  if (!error)
    return true;
  (void)sys::fs::remove(besides);
  problem = error.message();
  return false;
}
