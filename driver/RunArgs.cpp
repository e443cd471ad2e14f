//===- RunArgs.cpp - the arguments of a run, from the words of the command line --------------===//

#include "driver/RunArgs.h"
#include "driver/Npy.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;
using llvm::StringRef;

Buffer *RunInputs::find(StringRef name) {
  for (Buffer &buffer : buffers)
    if (buffer.name == name)
      return &buffer;
  for (const interp::Argument &argument : arguments) // a second name of one buffer
    if (argument.name == name)
      return argument.buffer;
  return nullptr;
}

namespace {
class Maker {
public:
  Maker(KernelOp kernel, const interp::Options &options, RunInputs &inputs)
      : kernel(kernel), options(options), inputs(inputs) {}
  int run(ArrayRef<std::string> texts);

private:
  bool bad(const ArgWord &word, const Twine &why) {
    (void)tk::emit<diag::RunBadArgument>(kernel.getLoc(), word.text, why.str());
    return false;
  }
  std::optional<unsigned> indexOf(StringRef name);
  int stageOf(const ArgWord &word);
  bool make(const ArgWord &word, unsigned index);
  bool makeScalar(const ArgWord &word, DictionaryAttr entry);
  bool makeSame(const ArgWord &word);
  bool makeMissing(unsigned index);
  bool makeMemory(const ArgWord &word, unsigned index, DType dtype);
  std::optional<Argument> makePointee(const ArgWord &word, Type type, DType dtype);
  std::optional<Buffer> arrayOf(const ArgWord &word, DictionaryAttr entry, DType dtype);
  std::optional<Buffer> arrayFromFile(const ArgWord &word, DictionaryAttr entry, DType dtype);
  std::optional<Buffer> arrayFromList(const ArgWord &word, DictionaryAttr entry, DType dtype);
  std::optional<Buffer> laidOut(const ArgWord &word, DictionaryAttr entry, DType dtype,
                                std::vector<int64_t> extents);
  bool extentsOf(DictionaryAttr entry, std::vector<int64_t> &extents, std::string &problem);

  KernelOp kernel;
  const interp::Options &options;
  RunInputs &inputs;
};
} // namespace

static StringRef textOf(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.getValue() : StringRef();
}

static bool isTrue(DictionaryAttr entry, StringRef key) {
  auto value = entry.getAs<BoolAttr>(key);
  return value && value.getValue();
}

std::optional<unsigned> Maker::indexOf(StringRef name) {
  auto entries = kernel.getContract().getFields().getAs<ArrayAttr>("args");
  for (auto [i, entry] : llvm::enumerate(entries.getAsRange<DictionaryAttr>()))
    if (textOf(entry, "name") == name)
      return unsigned(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Row-major but for the axis that the kernel wants to be the inner one.
static std::vector<int64_t> usualStrides(DictionaryAttr entry, ArrayRef<int64_t> extents) {
  size_t inner = extents.empty() ? 0 : extents.size() - 1;
  auto wanted = entry ? entry.getAs<ArrayAttr>("strides") : ArrayAttr();
  for (size_t i = 0; wanted && wanted.size() == extents.size() && i < extents.size(); ++i)
    if (auto number = dyn_cast<IntegerAttr>(wanted[i]); number && number.getInt() == 1)
      inner = i;
  std::vector<int64_t> strides(extents.size(), 1);
  int64_t stride = extents.empty() ? 1 : std::max<int64_t>(extents[inner], 1);
  for (size_t i = extents.size(); i-- > 0;) {
    if (i == inner)
      continue;
    strides[i] = stride;
    stride *= std::max<int64_t>(extents[i], 1);
  }
  return strides;
}

/// An array of zeros that lies as the word says.
std::optional<Buffer> Maker::laidOut(const ArgWord &word, DictionaryAttr entry, DType dtype,
                                     std::vector<int64_t> extents) {
  const size_t rank = extents.size();
  std::vector<int64_t> strides = usualStrides(entry, extents);
  if (word.isTransposed) {
    if (rank < 2)
      return bad(word, "is transposed, which needs two axes"), std::nullopt;
    std::vector<int64_t> turned = extents;
    std::swap(turned[rank - 2], turned[rank - 1]);
    strides = usualStrides({}, turned);
    std::swap(strides[rank - 2], strides[rank - 1]);
  }
  if (word.strides && word.strides->size() != rank)
    return bad(word, "has " + Twine(word.strides->size()) + " strides for " + Twine(rank) + " axes"),
           std::nullopt;
  return Buffer::makeStrided(word.name, dtype, std::move(extents),
                             word.strides ? *word.strides : std::move(strides));
}

std::optional<Buffer> Maker::arrayFromFile(const ArgWord &word, DictionaryAttr entry, DType dtype) {
  NpyArray array;
  std::string problem;
  if (!readNpy(word.value, array, problem)) {
    (void)tk::emit<diag::RunCannotRead>(kernel.getLoc(), word.value, problem);
    return std::nullopt;
  }
  if (!npyHolds(array.descr, dtype))
    return bad(word, "holds elements of type " + array.descr + ", the parameter is " +
                         nameOf(dtype)),
           std::nullopt;
  const unsigned perByte = elementsPerByte(dtype);
  if (perByte > 1 && array.shape.empty())
    return bad(word, "has no axis along which elements are packed"), std::nullopt;
  if (perByte > 1)
    array.shape.back() *= perByte;
  std::optional<Buffer> buffer = laidOut(word, entry, dtype, array.shape);
  const size_t bytes = byteSize(dtype);
  for (int64_t i = 0; buffer && i < buffer->numElements(); ++i) {
    uint8_t *element = buffer->data() + size_t(buffer->elementAt(i)) * bytes;
    if (perByte > 1) // low bits first
      *element = uint8_t(array.bytes[size_t(i) / 2]) >> (i % 2 * 4) & 15;
    else
      std::memcpy(element, array.bytes.data() + size_t(i) * bytes, bytes);
  }
  return buffer;
}

/// The numbers of nested lists in order; false when they are no rectangle of numbers.
static bool flatten(const ArgWord &word, size_t depth, std::vector<int64_t> &extents,
                    std::vector<double> &numbers) {
  if (word.rule != "[]") {
    std::optional<double> value =
        word.rule.empty() ? parseNumber(word.value) : std::optional<double>();
    numbers.push_back(value.value_or(0));
    return value && depth == extents.size();
  }
  if (depth == extents.size() && numbers.empty())
    extents.push_back(int64_t(word.elements.size()));
  if (depth >= extents.size() || extents[depth] != int64_t(word.elements.size()))
    return false;
  return llvm::all_of(word.elements, [&](const ArgWord &element) {
    return flatten(element, depth + 1, extents, numbers);
  });
}

std::optional<Buffer> Maker::arrayFromList(const ArgWord &word, DictionaryAttr entry, DType dtype) {
  std::vector<int64_t> extents;
  std::vector<double> numbers;
  if (!flatten(word, 0, extents, numbers))
    return bad(word, "is no list of numbers, or of lists of one length"), std::nullopt;
  std::optional<Buffer> buffer = laidOut(word, entry, dtype, extents);
  for (size_t i = 0; buffer && i < numbers.size(); ++i)
    elementFromDouble(dtype, numbers[i],
                      buffer->data() + size_t(buffer->elementAt(int64_t(i))) * byteSize(dtype));
  return buffer;
}

/// Extents that follow from what is given already.
bool Maker::extentsOf(DictionaryAttr entry, std::vector<int64_t> &extents, std::string &problem) {
  auto list = entry ? entry.getAs<ArrayAttr>("extents") : ArrayAttr();
  problem = entry ? "the parameter is a pointer" : "it is behind a pointer";
  if (!list)
    return false;
  Names names = bindNames(kernel, inputs.arguments, options);
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

/// `entry` is null for an array behind a pointer.
std::optional<Buffer> Maker::arrayOf(const ArgWord &word, DictionaryAttr entry, DType dtype) {
  if (!word.dtype.empty() && word.dtype != nameOf(dtype))
    return bad(word, "is " + word.dtype + ", the parameter is " + nameOf(dtype)), std::nullopt;
  if (word.rule == "@")
    return arrayFromFile(word, entry, dtype);
  if (word.rule == "[]")
    return arrayFromList(word, entry, dtype);
  std::vector<int64_t> extents;
  std::string problem;
  if (word.extents) {
    extents = *word.extents;
  } else if (!extentsOf(entry, extents, problem)) {
    (void)tk::emit<diag::RunExtentUnknown>(kernel.getLoc(), word.name, problem);
    return std::nullopt;
  }
  std::optional<Buffer> buffer = laidOut(word, entry, dtype, std::move(extents));
  if (!buffer)
    return std::nullopt;
  if (word.rule == "empty") {
    buffer->written.assign(size_t(buffer->elements), 0);
    return buffer;
  }
  double numbers[2] = {0, 0};
  for (auto [i, text] : llvm::enumerate(word.numbers)) {
    std::optional<double> value = parseNumber(text);
    if (!value)
      return bad(word, "has `" + text + "` in " + word.rule + "(), which is no number"),
             std::nullopt;
    numbers[i] = *value;
  }
  if (word.rule == "randint" && word.numbers.size() == 1) // from 0
    std::swap(numbers[0], numbers[1]);
  fillByRule(*buffer, word.rule, numbers[0], numbers[1],
             word.seed ? *word.seed : seedOf(word.name));
  return buffer;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static Type pointeeOf(Type type) {
  if (auto view = dyn_cast<ViewType>(type))
    return view.getElement();
  return cast<PtrType>(type).getPointee();
}

/// What one pointer of type `type` points to.
std::optional<Argument> Maker::makePointee(const ArgWord &word, Type type, DType dtype) {
  if (!isa<PtrType>(pointeeOf(type))) {
    if (word.rule.empty())
      return bad(word, "is no array, which the pointer needs"), std::nullopt;
    std::optional<Buffer> buffer = arrayOf(word, {}, dtype);
    if (!buffer)
      return std::nullopt;
    inputs.buffers.push_back(std::move(*buffer));
    return Argument::tensor(word.name, inputs.buffers.back());
  }
  if (word.rule != "[]")
    return bad(word, "is no list of arrays, which pointers to pointers need: "
                     "p=[randn:f16:64x32, zeros:f16:8]"),
           std::nullopt;
  std::vector<Argument> pointees;
  for (const ArgWord &element : word.elements) {
    std::optional<Argument> pointee = makePointee(element, pointeeOf(type), dtype);
    if (!pointee)
      return std::nullopt;
    pointees.push_back(std::move(*pointee));
  }
  inputs.tables.push_back(Buffer::make(word.name, DType::ptr, {int64_t(pointees.size())}));
  Argument argument = Argument::pointers(word.name, inputs.tables.back(), std::move(pointees));
  argument.dtype = dtype;
  return argument;
}

bool Maker::makeMemory(const ArgWord &word, unsigned index, DType dtype) {
  DictionaryAttr entry = kernel.getArgContract(index);
  Type type = kernel.getArgumentTypes()[index];
  if (isa<PtrType>(pointeeOf(type))) {
    std::optional<Argument> argument = makePointee(word, type, dtype);
    if (argument)
      inputs.arguments.push_back(std::move(*argument));
    return argument.has_value();
  }
  std::optional<Buffer> buffer = arrayOf(word, entry, dtype);
  if (!buffer)
    return false;
  // Before the extents of others are looked for in this one.
  auto wanted = entry.getAs<ArrayAttr>("extents");
  const size_t rank = buffer->extents.size();
  inputs.buffers.push_back(std::move(*buffer));
  inputs.arguments.push_back(Argument::tensor(word.name, inputs.buffers.back()));
  if (!wanted || wanted.size() == rank)
    return true;
  (void)tk::emit<diag::RunArgumentRank>(kernel.getLoc(), word.name, wanted.size(), rank);
  return false;
}

/// `y=x`: the same memory.
bool Maker::makeSame(const ArgWord &word) {
  for (const Argument &other : inputs.arguments) {
    if (other.name != word.value || !other.buffer)
      continue;
    Argument argument = other;
    argument.name = word.name;
    inputs.arguments.push_back(std::move(argument));
    return true;
  }
  return bad(word, "is neither an array nor the name of another array argument");
}

bool Maker::make(const ArgWord &word, unsigned index) {
  DictionaryAttr entry = kernel.getArgContract(index);
  if (word.value == "none" && isTrue(entry, "optional")) {
    inputs.arguments.push_back(Argument::absent(word.name));
    return true;
  }
  if (textOf(entry, "kind") == "scalar")
    return makeScalar(word, entry);
  FailureOr<DType> dtype = dtypeOf(kernel, entry);
  if (failed(dtype))
    return false;
  auto extents = entry.getAs<ArrayAttr>("extents");
  const bool isSingle = extents && extents.empty(); // T[]
  if (word.rule.empty() && isSingle && parseNumber(word.value)) {
    ArgWord single = word;
    single.rule = "full";
    single.numbers = {word.value};
    return makeMemory(single, index, *dtype);
  }
  if (!word.rule.empty())
    return makeMemory(word, index, *dtype);
  if (parseNumber(word.value))
    return bad(word, "is a scalar, the parameter is an array");
  return makeSame(word);
}

/// What the kernel only writes need not be given, nor what is its own workspace.
bool Maker::makeMissing(unsigned index) {
  DictionaryAttr entry = kernel.getArgContract(index);
  StringRef access = textOf(entry, "access");
  ArgWord word;
  word.name = textOf(entry, "name").str();
  if (isTrue(entry, "optional")) {
    inputs.arguments.push_back(Argument::absent(word.name));
    return true;
  }
  const bool isZeroed = isTrue(entry, "zeroed");
  if (textOf(entry, "kind") == "scalar" || (access != "out" && access != "scratch" && !isZeroed))
    return true; // binding says that it is missing
  word.rule = isZeroed ? "zeros" : "empty";
  word.text = word.name + "=" + word.rule;
  return make(word, index);
}

/// Scalars first, then arrays with extents, then those whose extents follow, then second names.
int Maker::stageOf(const ArgWord &word) {
  DictionaryAttr entry = kernel.getArgContract(*indexOf(word.name));
  if (textOf(entry, "kind") == "scalar")
    return 0;
  if (word.rule.empty() && !parseNumber(word.value))
    return 3;
  return word.extents || word.rule == "@" || word.rule == "[]" ? 1 : 2;
}

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
    if (indexOf(word.name))
      continue;
    (void)tk::emit<diag::RunArgumentUnknown>(kernel.getLoc(), kernel.getSymName(), word.name);
    isGood = false;
  }
  if (!isGood)
    return 1;
  for (int stage = 0; stage < 4; ++stage)
    for (const ArgWord &word : words)
      if (stageOf(word) == stage)
        isGood &= make(word, *indexOf(word.name));
  if (!isGood)
    return 1;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) {
    StringRef name = textOf(kernel.getArgContract(i), "name");
    bool isGiven = llvm::any_of(words, [&](const ArgWord &word) { return word.name == name; });
    isGood &= isGiven || makeMissing(i);
  }
  return isGood ? 0 : 1;
}

int tk::makeInputs(KernelOp kernel, ArrayRef<std::string> words, const interp::Options &options,
                   RunInputs &inputs) {
  return Maker(kernel, options, inputs).run(words);
}
