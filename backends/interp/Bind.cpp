//===- Bind.cpp - arguments against a kernel's contract ---------------------------------===//
//
// Scalars are known first. Then each extent or stride that is a bare name and not known yet gets
// its value from the first argument that has it; what is left are equations, checked one by one
// with both numbers in the message.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Interp.h"
#include "backends/interp/Memory.h"
#include "backends/interp/Translate.h"
#include "ir/diagnostics/Diagnostics.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;

namespace {
class Binder {
public:
  Binder(KernelOp kernel, ArrayRef<Argument> args, const Options &options)
      : kernel(kernel), args(args), options(options), fields(kernel.getContract().getFields()),
        entries(fields.getAs<ArrayAttr>("args")) {}

  Names names();
  void forEachTensor(llvm::function_ref<void(DictionaryAttr, const Argument &)> fn);
  void bindPrograms(Names &names);
  LogicalResult bind(Binding &binding);

private:
  const Argument *find(StringRef name) const;
  Location placeOf(const Argument &argument) {
    return argument.loc.value_or(kernel.getLoc());
  }
  LogicalResult matchArguments(Binding &binding);
  LogicalResult checkArgument(DictionaryAttr entry, const Argument &argument, Type type);
  LogicalResult checkMemory(DictionaryAttr entry, const Argument &argument);
  LogicalResult checkSides(DictionaryAttr entry, const Argument &argument, const Names &names);
  LogicalResult checkDisjoint();
  LogicalResult checkRequire(const Names &names);
  LogicalResult evaluateGrid(Binding &binding);

  KernelOp kernel;
  ArrayRef<Argument> args;
  const Options &options;
  DictionaryAttr fields;
  ArrayAttr entries;
};
} // namespace

static StringRef textOf(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.getValue() : StringRef();
}

const Argument *Binder::find(StringRef name) const {
  for (const Argument &argument : args)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

/// What a bare name stands for is bound once. Of strides only those of axes along which there is
/// more than one element, unless `all`.
static void bindSides(DictionaryAttr entry, StringRef key, const Buffer &buffer, bool all,
                      Names &names) {
  auto list = entry.getAs<ArrayAttr>(key);
  const std::vector<int64_t> &sides = key == "strides" ? buffer.strides : buffer.extents;
  for (auto [i, expr] : llvm::enumerate(list ? list.getValue() : ArrayRef<Attribute>())) {
    auto name = dyn_cast<StringAttr>(expr);
    if (name && name.getValue() != "_" && i < sides.size() && (all || buffer.extents[i] > 1))
      names.try_emplace(name.getValue().str(), sides[i]);
  }
}

/// The address of the element at index zero. Memory of the interpreter's own lies at `base`, on the
/// largest alignment that anybody asks for.
static int64_t addressOf(const Buffer &buffer, int64_t base) {
  if (buffer.borrowed)
    base = int64_t(reinterpret_cast<uint64_t>(buffer.borrowed));
  return base + buffer.origin * int64_t(byteSize(buffer.dtype));
}

static void bindOwnSides(const Argument &argument, Names &names) {
  for (auto [axis, stride] : llvm::enumerate(argument.buffer->strides))
    names.try_emplace(argument.name + ".s" + std::to_string(axis), stride);
  for (auto [axis, extent] : llvm::enumerate(argument.buffer->extents))
    names.try_emplace(argument.name + ".e" + std::to_string(axis), extent);
  constexpr int64_t base = int64_t(1) << 40; // not zero, where what is absent is
  names.try_emplace(argument.name + ".ptr", addressOf(*argument.buffer, base));
}

/// An argument that was not given: null, and of no extent.
static void bindAbsent(DictionaryAttr entry, Names &names) {
  std::string name = textOf(entry, "name").str();
  names.try_emplace(name + ".ptr", 0);
  auto extents = entry.getAs<ArrayAttr>("extents");
  for (size_t axis = 0; extents && axis < extents.size(); ++axis) {
    names.try_emplace(name + ".e" + std::to_string(axis), 0);
    names.try_emplace(name + ".s" + std::to_string(axis), 0);
  }
}

Names Binder::names() {
  Names names;
  names["sms"] = options.sms;
  names["dev.clusters"] = options.sms;
  names["occ.blocks_per_sm"] = 1;
  for (StringRef field : {"instance", "config"})
    if (auto values = fields.getAs<DictionaryAttr>(field))
      for (NamedAttribute value : values)
        if (auto integer = dyn_cast<IntegerAttr>(value.getValue()))
          names[value.getName().str()] = integer.getType().isInteger(1)
                                             ? integer.getValue().getBoolValue()
                                             : integer.getInt();
  for (DictionaryAttr entry : entries.getAsRange<DictionaryAttr>()) {
    const Argument *argument = find(textOf(entry, "name"));
    std::optional<DType> dtype = parseDType(textOf(entry, "dtype"));
    if (textOf(entry, "kind") != "scalar" || !dtype || isFloat(*dtype))
      continue;
    if (argument && !argument->buffer && !argument->isAbsent)
      names[argument->name] = elementToInteger(argument->dtype, &argument->bits);
    else if (auto value = entry.getAs<IntegerAttr>("default"))
      names[textOf(entry, "name").str()] = value.getInt();
  }
  forEachTensor([&](DictionaryAttr entry, const Argument &argument) {
    bindSides(entry, "extents", *argument.buffer, /*all=*/true, names);
    bindOwnSides(argument, names);
  });
  for (DictionaryAttr entry : entries.getAsRange<DictionaryAttr>())
    if (const Argument *argument = find(textOf(entry, "name")); argument && argument->isAbsent)
      bindAbsent(entry, names);
  for (bool all : {false, true})
    forEachTensor([&](DictionaryAttr entry, const Argument &argument) {
      bindSides(entry, "strides", *argument.buffer, all, names);
    });
  bindPrograms(names);
  return names;
}

void Binder::forEachTensor(llvm::function_ref<void(DictionaryAttr, const Argument &)> fn) {
  for (DictionaryAttr entry : entries.getAsRange<DictionaryAttr>()) {
    const Argument *argument = find(textOf(entry, "name"));
    if (argument && argument->buffer)
      fn(entry, *argument);
  }
}

/// Workspace may have an extent that is a side of the grid, where the grid is known already.
void Binder::bindPrograms(Names &names) {
  auto grid = fields.getAs<ArrayAttr>("grid");
  for (size_t axis = 0; axis < 3; ++axis) {
    std::string problem;
    if (std::optional<int64_t> side = evaluate(grid[axis], names, problem))
      names.try_emplace("programs." + std::to_string(axis), *side);
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult Binder::checkMemory(DictionaryAttr entry, const Argument &argument) {
  const Buffer &buffer = *argument.buffer;
  auto align = entry.getAs<IntegerAttr>("align");
  if (align && align.getInt() > 0 && buffer.elements > 0 &&
      addressOf(buffer, /*base=*/0) % align.getInt() != 0)
    return tk::emit<diag::RunMisaligned>(placeOf(argument), argument.name, align.getInt());
  auto zeroed = entry.getAs<BoolAttr>("zeroed");
  const int64_t count = zeroed && zeroed.getValue() ? buffer.numElements() : 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = buffer.elementAt(i);
    const uint8_t *element = buffer.data() + size_t(at) * byteSize(buffer.dtype);
    bool isWritten = buffer.written.empty() || buffer.written[size_t(at)];
    if (isWritten && elementToDouble(buffer.dtype, element) == 0)
      continue;
    return tk::emit<diag::RunNotZeroed>(placeOf(argument), argument.name, i,
                                        isWritten ? valueText(buffer.dtype, element)
                                                  : "not written");
  }
  return success();
}

LogicalResult Binder::checkArgument(DictionaryAttr entry, const Argument &argument, Type type) {
  StringRef kind = textOf(entry, "kind");
  if (argument.isAbsent) {
    auto optional = entry.getAs<BoolAttr>("optional");
    if (optional && optional.getValue())
      return success();
    return tk::emit<diag::RunArgumentMissing>(kernel.getLoc(), kernel.getSymName(),
                                              "the argument `" + argument.name + "`");
  }
  if ((kind == "scalar") != (argument.buffer == nullptr))
    return tk::emit<diag::RunArgumentKind>(placeOf(argument), argument.name, kind,
                                           argument.buffer ? "tensor" : "scalar");
  FailureOr<DType> dtype = dtypeOf(kernel, entry);
  if (failed(dtype))
    return failure();
  if (*dtype != argument.dtype)
    return tk::emit<diag::RunArgumentType>(placeOf(argument), argument.name, nameOf(*dtype),
                                           nameOf(argument.dtype));
  if (!argument.buffer)
    return success();
  auto view = dyn_cast<ViewType>(type);
  if (view && int64_t(argument.buffer->extents.size()) != view.getRank())
    return tk::emit<diag::RunArgumentRank>(placeOf(argument), argument.name, view.getRank(),
                                           argument.buffer->extents.size());
  return checkMemory(entry, argument);
}

LogicalResult Binder::matchArguments(Binding &binding) {
  bool isGood = true;
  for (auto [i, argument] : llvm::enumerate(args)) {
    bool isKnown = llvm::any_of(entries.getAsRange<DictionaryAttr>(), [&](DictionaryAttr entry) {
      return textOf(entry, "name") == argument.name;
    });
    isGood &= isKnown;
    if (!isKnown)
      (void)tk::emit<diag::RunArgumentUnknown>(placeOf(argument), kernel.getSymName(), argument.name);
    if (find(argument.name) != &argument) {
      (void)tk::emit<diag::RunArgumentTwice>(placeOf(argument), argument.name);
      isGood = false;
    }
  }
  for (auto [i, entry] : llvm::enumerate(entries.getAsRange<DictionaryAttr>())) {
    const Argument *argument = find(textOf(entry, "name"));
    binding.arguments.push_back(argument);
    if (argument) {
      isGood &= succeeded(checkArgument(entry, *argument, kernel.getArgumentTypes()[i]));
      continue;
    }
    auto optional = entry.getAs<BoolAttr>("optional");
    if (entry.contains("default") || (optional && optional.getValue()))
      continue;
    (void)tk::emit<diag::RunArgumentMissing>(kernel.getLoc(), kernel.getSymName(),
                                             "the argument `" + textOf(entry, "name").str() + "`");
    isGood = false;
  }
  return success(isGood);
}

LogicalResult Binder::checkSides(DictionaryAttr entry, const Argument &argument,
                                 const Names &names) {
  const Buffer &buffer = *argument.buffer;
  auto extents = entry.getAs<ArrayAttr>("extents"), strides = entry.getAs<ArrayAttr>("strides");
  for (size_t axis = 0; extents && axis < extents.size(); ++axis) {
    auto name = dyn_cast<StringAttr>(extents[axis]);
    if (name && name.getValue() == "_")
      continue;
    std::string problem, text = expressionText(extents[axis]);
    std::optional<int64_t> wanted = evaluate(extents[axis], names, problem);
    if (!wanted)
      return tk::emit<diag::RunExpression>(kernel.getLoc(), text, problem);
    if (*wanted != buffer.extents[axis])
      return tk::emit<diag::RunExtentMismatch>(placeOf(argument), axis, argument.name,
                                               buffer.extents[axis],
                                               equationText(extents[axis], *wanted));
  }
  for (size_t axis = 0; strides && axis < strides.size(); ++axis) {
    if (buffer.extents[axis] <= 1)
      continue; // no two elements along this axis
    std::string problem, text = expressionText(strides[axis]);
    std::optional<int64_t> wanted = evaluate(strides[axis], names, problem);
    if (!wanted)
      return tk::emit<diag::RunExpression>(kernel.getLoc(), text, problem);
    if (buffer.strides[axis] == 0 && textOf(entry, "access") != "in")
      return tk::emit<diag::RunStrideZero>(placeOf(argument), axis, argument.name);
    if (*wanted != buffer.strides[axis])
      return tk::emit<diag::RunStrideMismatch>(placeOf(argument), axis, argument.name,
                                               buffer.strides[axis],
                                               equationText(strides[axis], *wanted));
  }
  return success();
}

/// What an argument gives the kernel to write: what pointers point to, not the table of them.
static void collectBuffers(const Argument &argument, llvm::SmallPtrSetImpl<Buffer *> &buffers) {
  if (argument.pointees.empty() && argument.buffer)
    buffers.insert(argument.buffer);
  for (const Argument &pointee : argument.pointees)
    collectBuffers(pointee, buffers);
}

LogicalResult Binder::checkDisjoint() {
  for (Attribute entry : fields.getAs<ArrayAttr>("disjoint")) {
    auto pair = dyn_cast<ArrayAttr>(entry);
    if (!pair || pair.size() != 2)
      continue;
    auto first = dyn_cast<StringAttr>(pair[0]), second = dyn_cast<StringAttr>(pair[1]);
    const Argument *a = first ? find(first.getValue()) : nullptr;
    const Argument *b = second ? find(second.getValue()) : nullptr;
    if (!a || !b)
      continue;
    // Buffers that own their memory overlap only when they are one. About memory of the caller's,
    // who knows whether strided tensors in it meet, the caller has been asked already.
    llvm::SmallPtrSet<Buffer *, 4> ofA, ofB;
    collectBuffers(*a, ofA);
    collectBuffers(*b, ofB);
    if (llvm::any_of(ofA, [&](Buffer *buffer) { return ofB.contains(buffer); }))
      return tk::emit<diag::RunOverlap>(placeOf(*a), a->name, b->name);
  }
  return success();
}

/// "N = 1000, BLOCK = 256": the names of an expression with their values.
static void listNames(Attribute expr, const Names &names, Names &used) {
  if (auto name = dyn_cast<StringAttr>(expr))
    if (auto found = names.find(name.getValue()); found != names.end())
      used.insert(*found);
  if (auto list = dyn_cast<ArrayAttr>(expr))
    for (Attribute operand : list.getValue().drop_front(list.empty() ? 0 : 1))
      listNames(operand, names, used);
}

LogicalResult Binder::checkRequire(const Names &names) {
  for (Attribute entry : fields.getAs<ArrayAttr>("require")) {
    Attribute expr = entry;
    std::string text = expressionText(expr);
    if (auto dictionary = dyn_cast<DictionaryAttr>(entry)) {
      expr = dictionary.get("expr");
      text = textOf(dictionary, "text").str();
    }
    std::string problem;
    std::optional<int64_t> holds = expr ? evaluate(expr, names, problem) : std::optional<int64_t>();
    if (!holds)
      return tk::emit<diag::RunExpression>(kernel.getLoc(), text, problem);
    if (*holds)
      continue;
    Names used;
    listNames(expr, names, used);
    std::string values;
    for (const auto &[name, value] : used)
      values += (values.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    return tk::emit<diag::RunRequireFalse>(kernel.getLoc(), text,
                                           values.empty() ? "it is constant" : values);
  }
  return success();
}

LogicalResult Binder::evaluateGrid(Binding &binding) {
  auto grid = fields.getAs<ArrayAttr>("grid");
  for (size_t axis = 0; axis < 3; ++axis) {
    std::string problem;
    std::optional<int64_t> side = evaluate(grid[axis], binding.names, problem);
    if (!side)
      return tk::emit<diag::RunExpression>(kernel.getLoc(), expressionText(grid[axis]), problem);
    binding.grid[axis] = *side;
  }
  return checkGrid(kernel, binding.grid);
}

LogicalResult tk::interp::checkGrid(KernelOp kernel, const int64_t (&side)[3]) {
  auto complain = [&](const char *why) {
    return tk::emit<diag::RunGridBad>(kernel.getLoc(), side[0], side[1], side[2], why);
  };
  if (side[0] < 0 || side[1] < 0 || side[2] < 0)
    return complain("a side is negative");
  if (side[0] == 0 || side[1] == 0 || side[2] == 0)
    return success();                             // launches nothing
  constexpr int64_t kMaxPrograms = INT32_MAX - 1; // an id fits the shadows
  if (side[0] > kMaxPrograms || side[1] > kMaxPrograms / side[0] ||
      side[2] > kMaxPrograms / (side[0] * side[1]))
    return complain("the interpreter runs fewer than 2^31 programs");
  return success();
}

LogicalResult Binder::bind(Binding &binding) {
  if (failed(matchArguments(binding)))
    return failure();
  binding.names = names();
  for (auto [i, entry] : llvm::enumerate(entries.getAsRange<DictionaryAttr>())) {
    const Argument *argument = binding.arguments[i];
    if (argument && argument->buffer && failed(checkSides(entry, *argument, binding.names)))
      return failure();
  }
  if (failed(checkDisjoint()) || failed(checkRequire(binding.names)))
    return failure();
  return evaluateGrid(binding);
}

Names tk::interp::bindNames(KernelOp kernel, ArrayRef<Argument> args, const Options &options) {
  return Binder(kernel, args, options).names();
}

FailureOr<Binding> tk::interp::bind(KernelOp kernel, ArrayRef<Argument> args,
                                    const Options &options) {
  Binding binding;
  if (failed(Binder(kernel, args, options).bind(binding)))
    return failure();
  return binding;
}
