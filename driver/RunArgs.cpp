//===- RunArgs.cpp - the arguments of a run, from the words of the command line --------------===//

#include "driver/RunArgs.h"
#include "driver/CommandText.h"
#include "driver/Npy.h"
#include "driver/RunAdvice.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

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

static StringRef textOf(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.getValue() : StringRef();
}

namespace {
class Maker {
public:
  Maker(KernelOp kernel, const interp::Options &options, RunInputs &inputs,
        ArrayRef<std::string> commandLine)
      : kernel(kernel), options(options), inputs(inputs), commandLine(commandLine) {}
  int run(ArrayRef<std::string> texts);

private:
  /// At the word of the command line that is being made an argument of.
  template <const DiagSpec &Spec, class... Args>
  bool wrong(const std::string &help, Args &&...args) {
    InFlightDiagnostic diag = tk::emit<Spec>(place, std::forward<Args>(args)...);
    if (parameter)
      diag.attachNote(kernel.getArgument(*parameter).getLoc()) << "the parameter is declared here";
    if (!help.empty())
      diag.attachNote() << "help: " << help;
    return false;
  }
  bool bad(const ArgWord &word, const Twine &why, const std::string &help = "") {
    return wrong<diag::RunBadArgument>(help, word.text, why.str());
  }
  std::string example(unsigned index);
  std::string nameOfParameter(unsigned index);
  void locate(const ArgWord &word);
  std::optional<unsigned> indexOf(StringRef name);
  int parse(ArrayRef<std::string> texts, std::vector<ArgWord> &words);
  bool checkNames(ArrayRef<ArgWord> words);
  int stageOf(const ArgWord &word);
  bool makeStages(ArrayRef<ArgWord> words, int first, int last);
  bool make(const ArgWord &word, unsigned index);
  bool makeArgument(const ArgWord &word, unsigned index);
  bool makeScalar(const ArgWord &word, unsigned index);
  bool makeSame(const ArgWord &word);
  bool checkMissing(ArrayRef<ArgWord> words);
  bool lacks(ArrayRef<unsigned> missing, const std::string &why = "");
  bool makeMissing(unsigned index);
  bool makeMemory(const ArgWord &word, unsigned index, DType dtype);
  bool checkExtents(const ArgWord &word);
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
  ArrayRef<std::string> commandLine;
  StringRef kernelName = nameOfKernel(kernel);
  Location place = kernel.getLoc();  // of the word
  std::optional<unsigned> parameter; // that it names
};
} // namespace

static bool isTrue(DictionaryAttr entry, StringRef key) {
  auto value = entry.getAs<BoolAttr>(key);
  return value && value.getValue();
}

std::string Maker::nameOfParameter(unsigned index) {
  return textOf(kernel.getArgContract(index), "name").str();
}

std::optional<unsigned> Maker::indexOf(StringRef name) {
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    if (nameOfParameter(i) == name)
      return i;
  return std::nullopt;
}

void Maker::locate(const ArgWord &word) {
  place = placeOfWord(kernel.getContext(), commandLine, word.text);
  parameter = indexOf(word.name);
}

/// A word that one could write for the parameter, with what is known of the others.
std::string Maker::example(unsigned index) {
  Names names = bindNames(kernel, inputs.arguments, options);
  return exampleWord(kernel, index, guessExtents(kernel, names), names);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool Maker::makeScalar(const ArgWord &word, unsigned index) {
  FailureOr<DType> dtype = dtypeOf(kernel, kernel.getArgContract(index));
  if (failed(dtype))
    return false;
  if (!word.rule.empty())
    return bad(word, "is an array, the parameter is a scalar", "for example " + example(index));
  if (isFloat(*dtype)) {
    std::optional<double> value = parseNumber(word.value);
    if (!value)
      return bad(word, "is not a number", "for example " + example(index));
    inputs.arguments.push_back(Argument::scalar(word.name, *dtype, *value));
    return true;
  }
  StringRef text = word.value;
  int64_t value = text == "true";
  uint64_t large = 0;
  if (text != "true" && text != "false" && text.getAsInteger(0, value)) {
    if (*dtype != DType::u64 || text.getAsInteger(0, large))
      return bad(word, "is not an integer of 64 bits", "for example " + example(index));
    value = int64_t(large);
  }
  Argument argument = Argument::scalar(word.name, *dtype, value);
  if (elementToInteger(*dtype, &argument.bits) != value)
    return bad(word, Twine("does not fit the parameter's type, ") + nameOf(*dtype));
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
    return wrong<diag::RunCannotRead>("", word.value, problem), std::nullopt;
  }
  if (!npyHolds(array.descr, dtype))
    return bad(word,
               "holds elements of type " + array.descr + ", the parameter is " + nameOf(dtype),
               ("save the array with elements of type " + npyDescr(dtype)).str()),
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
    return bad(word, "is " + word.dtype + ", the parameter is " + nameOf(dtype),
               "write " + withDType(word, nameOf(dtype))),
           std::nullopt;
  if (word.rule == "@")
    return arrayFromFile(word, entry, dtype);
  if (word.rule == "[]")
    return arrayFromList(word, entry, dtype);
  std::vector<int64_t> extents;
  std::string problem;
  if (word.extents) {
    extents = *word.extents;
  } else if (!extentsOf(entry, extents, problem)) {
    Names names = guessExtents(kernel, bindNames(kernel, inputs.arguments, options));
    std::string help = "give it extents: " + word.text + exampleExtents(entry, names);
    return wrong<diag::RunExtentUnknown>(help, word.name, problem), std::nullopt;
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
  auto wanted = entry.getAs<ArrayAttr>("extents");
  const size_t rank = buffer->extents.size();
  const bool hasRank = !wanted || wanted.size() == rank;
  if (!hasRank)
    wrong<diag::RunArgumentRank>("for example " + example(index), word.name, wanted.size(), rank);
  // Before the extents of others are looked for in this one.
  inputs.buffers.push_back(std::move(*buffer));
  inputs.arguments.push_back(Argument::tensor(word.name, inputs.buffers.back()));
  return hasRank;
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
  return bad(word, "is neither an array nor the name of another array argument",
             "for example " + example(*parameter));
}

bool Maker::make(const ArgWord &word, unsigned index) {
  if (!makeArgument(word, index))
    return false;
  if (!isa<UnknownLoc>(place))
    inputs.arguments.back().loc = place;
  return true;
}

bool Maker::makeArgument(const ArgWord &word, unsigned index) {
  DictionaryAttr entry = kernel.getArgContract(index);
  if (word.value == "none" && isTrue(entry, "optional")) {
    inputs.arguments.push_back(Argument::absent(word.name));
    return true;
  }
  if (textOf(entry, "kind") == "scalar")
    return makeScalar(word, index);
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
    return bad(word, "is a scalar, the parameter is an array", "for example " + example(index));
  return makeSame(word);
}

//===----------------------------------------------------------------------===//
// What is not given
//===----------------------------------------------------------------------===//

/// What is made for a parameter that is not given: "empty", "zeros"; nothing for those that must
/// be.
static StringRef ruleOfMissing(DictionaryAttr entry) {
  StringRef access = textOf(entry, "access");
  if (textOf(entry, "kind") == "scalar" || !entry.contains("extents"))
    return "";
  if (isTrue(entry, "zeroed"))
    return "zeros";
  return access == "out" || access == "scratch" ? "empty" : "";
}

/// One message for all of them, with words that one could write.
bool Maker::lacks(ArrayRef<unsigned> missing, const std::string &why) {
  Names known = bindNames(kernel, inputs.arguments, options);
  Names names = guessExtents(kernel, known);
  std::vector<std::string> parameters, words;
  for (unsigned index : missing) {
    parameters.push_back(nameOfParameter(index));
    words.push_back(exampleWord(kernel, index, names, known));
  }
  InFlightDiagnostic diag = tk::emit<diag::RunArgumentMissing>(
      placeBehindWords(kernel.getContext(), commandLine), kernelName, listArguments(parameters));
  for (auto [index, name] : llvm::zip(missing, parameters))
    diag.attachNote(kernel.getArgument(index).getLoc()) << "`" << name << "` is declared here";
  if (!why.empty())
    diag.attachNote() << why;
  diag.attachNote() << "help: add " << llvm::join(words, " ");
  return false;
}

/// Everything that must be given is.
bool Maker::checkMissing(ArrayRef<ArgWord> words) {
  std::vector<unsigned> missing;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) {
    DictionaryAttr entry = kernel.getArgContract(i);
    bool isGiven =
        llvm::any_of(words, [&](const ArgWord &word) { return word.name == nameOfParameter(i); });
    if (!isGiven && !isTrue(entry, "optional") && !entry.contains("default") &&
        ruleOfMissing(entry).empty())
      missing.push_back(i);
  }
  return missing.empty() || lacks(missing);
}

/// What the kernel only writes need not be given, nor what is its own workspace.
bool Maker::makeMissing(unsigned index) {
  DictionaryAttr entry = kernel.getArgContract(index);
  ArgWord word;
  word.name = nameOfParameter(index);
  if (isTrue(entry, "optional")) {
    inputs.arguments.push_back(Argument::absent(word.name));
    return true;
  }
  word.rule = ruleOfMissing(entry);
  if (word.rule.empty()) // binding takes the default
    return true;
  std::vector<int64_t> extents;
  std::string problem;
  if (!extentsOf(entry, extents, problem))
    return lacks({index}, "its extents do not follow from the other arguments: " + problem);
  word.text = word.name + "=" + word.rule;
  locate(word);
  return make(word, index);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// The extents are those that the others give; else shows the word with the right ones.
bool Maker::checkExtents(const ArgWord &word) {
  const Buffer *buffer = inputs.find(word.name);
  auto list = kernel.getArgContract(*indexOf(word.name)).getAs<ArrayAttr>("extents");
  if (!buffer || !list)
    return true;
  Names names = bindNames(kernel, inputs.arguments, options);
  std::vector<int64_t> extents = buffer->extents;
  std::optional<size_t> wrongAxis;
  for (auto [axis, extent] : llvm::enumerate(list)) {
    std::string problem;
    std::optional<int64_t> wanted = evaluate(extent, names, problem);
    if (!wanted || *wanted == extents[axis]) // binding reports what has no value
      continue;
    extents[axis] = *wanted;
    wrongAxis = wrongAxis.value_or(axis);
  }
  if (!wrongAxis)
    return true;
  locate(word);
  std::string instead = withExtents(word, extents);
  return wrong<diag::RunExtentMismatch>(instead.empty() ? "" : "write " + instead, *wrongAxis,
                                        word.name, buffer->extents[*wrongAxis],
                                        equationText(list[*wrongAxis], extents[*wrongAxis]));
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

bool Maker::makeStages(ArrayRef<ArgWord> words, int first, int last) {
  bool isGood = true;
  for (int stage = first; stage <= last; ++stage)
    for (const ArgWord &word : words) {
      if (stageOf(word) != stage)
        continue;
      locate(word);
      isGood &= make(word, *indexOf(word.name));
    }
  return isGood;
}

int Maker::parse(ArrayRef<std::string> texts, std::vector<ArgWord> &words) {
  for (const std::string &text : texts) {
    std::string problem;
    if (parseArgWord(text, words.emplace_back(), problem))
      continue;
    locate(words.back());
    bad(words.back(), problem, parameter ? "for example " + example(*parameter) : "");
    return 2;
  }
  return 0;
}

/// Each word names a parameter, no two the same.
bool Maker::checkNames(ArrayRef<ArgWord> words) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    names.push_back(nameOfParameter(i));
  bool isGood = true;
  llvm::StringSet<> given;
  for (const ArgWord &word : words) {
    locate(word);
    if (parameter && given.insert(word.name).second)
      continue;
    isGood = false;
    if (parameter) {
      wrong<diag::RunArgumentTwice>("", word.name);
      continue;
    }
    StringRef near = nearName(word.name, std::vector<StringRef>(names.begin(), names.end()));
    wrong<diag::RunArgumentUnknown>(!near.empty()
                                        ? "did you mean `" + near.str() + "`?"
                                        : "its parameters are " + llvm::join(names, ", ") +
                                              "; -D NAME=VALUE gives compile-time ones",
                                    kernelName, word.name);
  }
  return isGood;
}

int Maker::run(ArrayRef<std::string> texts) {
  std::vector<ArgWord> words;
  if (int status = parse(texts, words))
    return status;
  if (!checkNames(words))
    return 1;
  bool isGood = makeStages(words, 0, 1);
  if (!checkMissing(words) || !isGood || !makeStages(words, 2, 3))
    return 1;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i)
    if (llvm::none_of(words, [&](const ArgWord &word) { return word.name == nameOfParameter(i); }))
      isGood &= makeMissing(i);
  for (const ArgWord &word : words)
    isGood &= checkExtents(word);
  return isGood ? 0 : 1;
}

int tk::makeInputs(KernelOp kernel, ArrayRef<std::string> words, const interp::Options &options,
                   RunInputs &inputs, ArrayRef<std::string> commandLine) {
  return Maker(kernel, options, inputs, commandLine).run(words);
}
