//===- RunArgs.cpp - the ARG words of tkc run ----------------------------------------------===//

#include "driver/RunArgs.h"
#include "driver/Npy.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// "7x1000".
static bool parseExtents(StringRef text, std::vector<int64_t> &extents) {
  constexpr int64_t kMaxElements = int64_t(1) << 40;
  SmallVector<StringRef> sides;
  text.split(sides, 'x');
  int64_t elements = 1;
  for (StringRef side : sides) {
    int64_t value = 0;
    if (side.empty() || side.getAsInteger(10, value) || value < 0 || value > kMaxElements)
      return false;
    elements *= std::max<int64_t>(value, 1);
    if (elements > kMaxElements)
      return false;
    extents.push_back(value);
  }
  return true;
}

static bool isRule(StringRef name) {
  return llvm::is_contained({"zeros", "ones", "full", "arange", "rand", "randn", "empty"}, name);
}

static bool parsePart(StringRef part, ArgWord &word, std::string &problem) {
  if (part.consume_front("seed=")) {
    uint64_t seed = 0;
    if (part.getAsInteger(0, seed)) {
      problem = ("has the seed `" + part + "`, which is no number").str();
      return false;
    }
    word.seed = seed;
    return true;
  }
  std::vector<int64_t> extents;
  if (parseDType(part)) {
    word.dtype = part.str();
  } else if (parseExtents(part, extents)) {
    word.extents = extents;
  } else {
    problem =
        ("has `" + part + "`, which is neither a type, nor extents like 7x1000, nor seed=N").str();
    return false;
  }
  return true;
}

bool tk::parseArgWord(StringRef text, ArgWord &word, std::string &problem) {
  word.text = text.str();
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty() || !text.contains('=')) {
    problem = "is not NAME=VALUE";
    return false;
  }
  word.name = name.str();
  if (value.consume_front("@")) {
    // A type may follow the path: x=@x.npy:bf16.
    auto [path, type] = value.rsplit(':');
    bool hasType = !type.empty() && parseDType(type);
    word.rule = "@";
    word.value = (hasType ? path : value).str();
    word.dtype = hasType ? type.str() : "";
    return true;
  }
  SmallVector<StringRef> parts;
  value.split(parts, ':');
  auto [rule, argument] = parts[0].split('(');
  if (!isRule(rule)) {
    word.value = value.str();
    if (parts.size() == 1)
      return true; // a scalar
    problem = ("has the rule `" + parts[0] +
               "`, which is none of zeros ones full(v) arange rand randn empty")
                  .str();
    return false;
  }
  word.rule = rule.str();
  if ((rule == "full") != argument.consume_back(")")) {
    problem = rule == "full" ? "needs a value: full(0.5)" : "has a value that is only for full()";
    return false;
  }
  word.value = argument.str();
  for (StringRef part : ArrayRef(parts).drop_front())
    if (!parsePart(part, word, problem))
      return false;
  return true;
}

/// A number as a person writes it.
static std::optional<double> parseNumber(StringRef text) {
  if (text == "true" || text == "false")
    return text == "true";
  double value = 0;
  bool isNegative = text.consume_front("-");
  if (text == "inf" || text == "nan")
    value = text == "inf" ? INFINITY : NAN;
  else if (text.getAsDouble(value))
    return std::nullopt;
  return isNegative ? -value : value;
}

//===----------------------------------------------------------------------===//
// Numbers by rule
//===----------------------------------------------------------------------===//

/// SplitMix64: the same numbers on every machine.
namespace {
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

static uint64_t seedOf(StringRef name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

void tk::fillByRule(Buffer &buffer, StringRef rule, double value, uint64_t seed) {
  Random random{seed};
  const DType dtype = buffer.dtype;
  const int64_t count = buffer.numElements();
  for (int64_t i = 0; i < count; ++i) {
    uint8_t *element = buffer.data() + size_t(buffer.elementAt(i)) * byteSize(dtype);
    if (rule == "rand" && !isFloat(dtype))
      elementFromInteger(dtype, int64_t(dtype == DType::i1 ? random.next() >> 63 : random.next()),
                         element);
    else if (rule == "arange" && !isFloat(dtype))
      elementFromInteger(dtype, i, element);
    else if (rule == "randn" && !isFloat(dtype))
      elementFromDouble(dtype, std::nearbyint(16 * random.normal()), element);
    else
      elementFromDouble(dtype,
                        rule == "ones"     ? 1
                        : rule == "full"   ? value
                        : rule == "arange" ? double(i)
                        : rule == "rand"   ? random.uniform()
                        : rule == "randn"  ? random.normal()
                                           : 0,
                        element);
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Buffer *RunInputs::find(StringRef name) {
  for (Buffer &buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

namespace {
class Maker {
public:
  Maker(KernelOp kernel, RunInputs &inputs) : kernel(kernel), inputs(inputs) {}
  int run(ArrayRef<std::string> texts);

private:
  bool bad(const ArgWord &word, const Twine &why) {
    (void)tk::emit<diag::RunBadArgument>(kernel.getLoc(), word.text, why.str());
    return false;
  }
  DictionaryAttr entryOf(StringRef name);
  bool makeScalar(const ArgWord &word, DictionaryAttr entry);
  bool makeFromFile(const ArgWord &word, DType dtype);
  bool makeByRule(const ArgWord &word, DictionaryAttr entry, DType dtype);
  bool extentsOf(DictionaryAttr entry, std::vector<int64_t> &extents, std::string &problem);
  bool make(const ArgWord &word, DictionaryAttr entry);
  bool makeMissing(DictionaryAttr entry);
  void add(Buffer buffer);

  KernelOp kernel;
  RunInputs &inputs;
};
} // namespace

static StringRef textOf(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.getValue() : StringRef();
}

void Maker::add(Buffer buffer) {
  inputs.buffers.push_back(std::move(buffer));
  inputs.arguments.push_back(Argument::tensor(inputs.buffers.back().name, inputs.buffers.back()));
}

DictionaryAttr Maker::entryOf(StringRef name) {
  auto entries = kernel.getContract().getFields().getAs<ArrayAttr>("args");
  for (DictionaryAttr entry : entries.getAsRange<DictionaryAttr>())
    if (textOf(entry, "name") == name)
      return entry;
  return {};
}

bool Maker::makeScalar(const ArgWord &word, DictionaryAttr entry) {
  FailureOr<DType> dtype = dtypeOf(kernel, entry);
  if (failed(dtype))
    return false;
  if (!word.rule.empty())
    return bad(word, "is an array, the parameter is a scalar");
  if (isFloat(*dtype)) {
    std::optional<double> value = parseNumber(word.value);
    if (!value)
      return bad(word, "is not a number");
    inputs.arguments.push_back(Argument::scalar(word.name, *dtype, *value));
    return true;
  }
  StringRef text = word.value;
  int64_t value = text == "true";
  uint64_t large = 0;
  if (text != "true" && text != "false" && text.getAsInteger(0, value)) {
    if (*dtype != DType::u64 || text.getAsInteger(0, large))
      return bad(word, "is not an integer of 64 bits");
    value = int64_t(large);
  }
  Argument argument = Argument::scalar(word.name, *dtype, value);
  if (elementToInteger(*dtype, &argument.bits) != value)
    return bad(word, Twine("does not fit ") + nameOf(*dtype));
  inputs.arguments.push_back(argument);
  return true;
}

bool Maker::makeFromFile(const ArgWord &word, DType dtype) {
  NpyArray array;
  std::string problem;
  if (!readNpy(word.value, array, problem)) {
    (void)tk::emit<diag::RunCannotRead>(kernel.getLoc(), word.value, problem);
    return false;
  }
  if (!npyHolds(array.descr, dtype))
    return bad(word,
               "holds elements of type " + array.descr + ", the parameter is " + nameOf(dtype));
  Buffer buffer = Buffer::make(word.name, dtype, array.shape);
  std::memcpy(buffer.data(), array.bytes.data(), array.bytes.size());
  add(std::move(buffer));
  return true;
}

/// Extents that follow from what is given already.
bool Maker::extentsOf(DictionaryAttr entry, std::vector<int64_t> &extents, std::string &problem) {
  auto list = entry.getAs<ArrayAttr>("extents");
  problem = "the parameter is a pointer";
  if (!list)
    return false;
  Names names = bindNames(kernel, inputs.arguments, Options());
  for (Attribute expr : list) {
    std::optional<int64_t> extent = evaluate(expr, names, problem);
    if (extent && *extent < 0)
      problem = "`" + expressionText(expr) + "` is negative";
    if (!extent || *extent < 0)
      return false;
    extents.push_back(*extent);
  }
  return true;
}

bool Maker::makeByRule(const ArgWord &word, DictionaryAttr entry, DType dtype) {
  std::vector<int64_t> extents;
  std::string problem;
  if (word.extents) {
    extents = *word.extents;
  } else if (!extentsOf(entry, extents, problem)) {
    (void)tk::emit<diag::RunExtentUnknown>(kernel.getLoc(), word.name, problem);
    return false;
  }
  if (word.rule == "empty") {
    add(Buffer::makeEmpty(word.name, dtype, extents));
    return true;
  }
  std::optional<double> value = word.rule == "full" ? parseNumber(word.value) : 0.0;
  if (!value)
    return bad(word, "has `" + word.value + "` in full(), which is no number");
  Buffer buffer = Buffer::make(word.name, dtype, extents);
  fillByRule(buffer, word.rule, *value, word.seed ? *word.seed : seedOf(word.name));
  add(std::move(buffer));
  return true;
}

bool Maker::make(const ArgWord &word, DictionaryAttr entry) {
  if (textOf(entry, "kind") == "scalar")
    return makeScalar(word, entry);
  if (word.rule.empty())
    return bad(word, "is a scalar, the parameter is an array");
  FailureOr<DType> dtype = dtypeOf(kernel, entry);
  if (failed(dtype))
    return false;
  if (!word.dtype.empty() && word.dtype != nameOf(*dtype))
    return bad(word, "is " + word.dtype + ", the parameter is " + nameOf(*dtype));
  if (!(word.rule == "@" ? makeFromFile(word, *dtype) : makeByRule(word, entry, *dtype)))
    return false;
  // Before the extents of others are looked for in this one.
  auto wanted = entry.getAs<ArrayAttr>("extents");
  size_t rank = inputs.buffers.back().extents.size();
  if (!wanted || wanted.size() == rank)
    return true;
  (void)tk::emit<diag::RunArgumentRank>(kernel.getLoc(), word.name, wanted.size(), rank);
  return false;
}

/// What the kernel only writes need not be given.
bool Maker::makeMissing(DictionaryAttr entry) {
  StringRef access = textOf(entry, "access");
  auto zeroed = entry.getAs<BoolAttr>("zeroed");
  bool isZeroed = zeroed && zeroed.getValue();
  if (textOf(entry, "kind") == "scalar" || (access != "out" && access != "scratch" && !isZeroed))
    return true; // binding says that it is missing
  ArgWord word;
  word.name = textOf(entry, "name").str();
  word.rule = isZeroed ? "zeros" : "empty";
  word.text = word.name + "=" + word.rule;
  return make(word, entry);
}

/// Scalars first, then arrays with extents, then those whose extents follow.
int Maker::run(ArrayRef<std::string> texts) {
  std::vector<ArgWord> words(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string problem;
    if (!parseArgWord(texts[i], words[i], problem)) {
      (void)bad(words[i], problem);
      return 2;
    }
  }
  bool isGood = true;
  for (ArgWord &word : words) {
    if (entryOf(word.name))
      continue;
    (void)tk::emit<diag::RunArgumentUnknown>(kernel.getLoc(), kernel.getSymName(), word.name);
    isGood = false;
  }
  if (!isGood)
    return 1;
  auto stageOf = [&](const ArgWord &word) {
    return word.rule.empty() ? 0 : word.extents || word.rule == "@" ? 1 : 2;
  };
  for (int stage = 0; stage < 3; ++stage)
    for (const ArgWord &word : words)
      if (stageOf(word) == stage)
        isGood &= make(word, entryOf(word.name));
  if (!isGood)
    return 1;
  auto entries = kernel.getContract().getFields().getAs<ArrayAttr>("args");
  for (DictionaryAttr entry : entries.getAsRange<DictionaryAttr>()) {
    bool isGiven = llvm::any_of(
        words, [&](const ArgWord &word) { return word.name == textOf(entry, "name"); });
    isGood &= isGiven || makeMissing(entry);
  }
  return isGood ? 0 : 1;
}

int tk::makeInputs(KernelOp kernel, ArrayRef<std::string> words, RunInputs &inputs) {
  return Maker(kernel, inputs).run(words);
}
