//===- RunCommand.cpp - tkc run ------------------------------------------------------------===//

#include "driver/RunCommand.h"
#include "driver/CommandText.h"
#include "driver/Expect.h"
#include "driver/Npy.h"
#include "driver/RunAdvice.h"
#include "driver/Threads.h"
#include "ir/diagnostics/Diagnostics.h"

using namespace mlir;
using namespace tk;
using namespace tk::interp;
using llvm::StringRef;

namespace {
/// "NAME=@FILE" taken apart.
struct Output {
  std::string name, path;
};

class Command {
public:
  Command(const RunOptions &options, ModuleOp module, llvm::raw_ostream &out)
      : options(options), module(module), out(out) {}
  int run();

private:
  int checkEngine();
  int chooseKernel();
  int checkOutputs();
  int splitOutputs(ArrayRef<std::string> words, std::vector<Output> &outputs);
  bool knows(StringRef word, StringRef name);
  Location placeOf(StringRef word) {
    return placeOfWord(module.getContext(), options.commandLine, word);
  }
  interp::Options makeOptions() const;
  void remember();
  ExpectNames expectNames();
  bool nameValues(ExpectNames &names);
  bool writeResults();
  bool writeFile(const Output &output, StringRef descr, ArrayRef<int64_t> shape, StringRef bytes);
  bool checkExpectations();

  const RunOptions &options;
  ModuleOp module;
  llvm::raw_ostream &out;
  KernelOp kernel;
  RunInputs inputs;
  std::vector<Output> outs, bounds;
  ExpectNames before;
};
} // namespace

int Command::checkEngine() {
  if (options.engine == "interp")
    return 0;
  bool isPlanned = llvm::is_contained({"simt", "gpu", "compare"}, options.engine);
  if (isPlanned)
    (void)tk::emit<diag::RunEngineNotBuilt>(placeOf(options.engine), options.engine);
  else
    (void)withHelp(tk::emit<diag::RunEngineUnknown>(placeOf(options.engine), options.engine),
                   "`interp` is there, the CPU; `tkc tune` and `tkc bench` run on a GPU");
  return isPlanned ? 1 : 2;
}

int Command::chooseKernel() {
  std::string names;
  unsigned count = 0;
  for (KernelOp candidate : module.getOps<KernelOp>()) {
    StringRef name = nameOfKernel(candidate);
    if (options.kernel == name || options.kernel == candidate.getSymName() ||
        options.kernel.empty())
      kernel = kernel ? kernel : candidate;
    names += (names.empty() ? "" : ", ") + name.str();
    ++count;
  }
  if (!options.kernel.empty() && !kernel) {
    (void)withHelp(tk::emit<diag::RunNoKernel>(placeOf(options.kernel), options.kernel),
                   "it has " + (names.empty() ? "none" : names));
    return 2;
  }
  if (options.kernel.empty() && count != 1) {
    (void)withHelp(
        tk::emit<diag::RunWhichKernel>(placeBehindWords(module.getContext(), options.commandLine),
                                       count, names),
        count == 0 ? "write one" : "choose one: -k " + StringRef(names).split(',').first);
    return 2;
  }
  return 0;
}

int Command::splitOutputs(ArrayRef<std::string> words, std::vector<Output> &outputs) {
  for (const std::string &word : words) {
    auto [name, path] = StringRef(word).split('=');
    if (!path.consume_front("@") || path.empty()) {
      (void)withHelp(tk::emit<diag::RunBadArgument>(placeOf(word), word, "is not NAME=@FILE.npy"),
                     "for example " + name + "=@" + (path.empty() ? name + ".npy" : path));
      return 2;
    }
    if (!knows(word, name))
      return 1;
    outputs.push_back({name.str(), path.str()});
  }
  return 0;
}

bool Command::knows(StringRef word, StringRef name) {
  if (inputs.find(name))
    return true;
  std::vector<StringRef> names;
  for (const Argument &argument : inputs.arguments)
    if (argument.buffer)
      names.push_back(argument.name);
  StringRef near = nearName(name, names);
  (void)withHelp(tk::emit<diag::RunOutputUnknown>(placeOf(word), name),
                 near.empty() ? "its arrays are " + llvm::join(names, ", ")
                              : "did you mean `" + near.str() + "`?");
  return false;
}

int Command::checkOutputs() {
  if (int status = splitOutputs(options.outs, outs))
    return status;
  if (int status = splitOutputs(options.bounds, bounds))
    return status;
  for (const std::string &name : options.prints)
    if (!knows(name, name))
      return 1;
  return 0;
}

//===----------------------------------------------------------------------===//
// After the run
//===----------------------------------------------------------------------===//

/// Elements that nobody wrote are NaN where `checked`.
static ExpectArray arrayOf(const Buffer &buffer, bool checked) {
  ExpectArray array = ExpectArray::filled(buffer.extents);
  array.dtype = buffer.dtype;
  array.bits.assign(array.data.size(), 0);
  const size_t bytes = byteSize(buffer.dtype);
  for (int64_t i = 0; i < array.size(); ++i) {
    const uint8_t *element = buffer.data() + size_t(buffer.elementAt(i)) * bytes;
    if (checked && !buffer.written.empty() && !buffer.written[size_t(buffer.elementAt(i))]) {
      array.data[size_t(i)] = NAN;
      if (array.unwritten.empty())
        array.unwritten = buffer.name + coordinateText(buffer.extents, i);
      continue;
    }
    array.data[size_t(i)] = elementToDouble(buffer.dtype, element);
    std::memcpy(&array.bits[size_t(i)], element, bytes);
  }
  return array;
}

/// What the arrays held, for `x.before`.
void Command::remember() {
  if (options.expects.empty())
    return;
  for (const Buffer &buffer : inputs.buffers)
    before[buffer.name + ".before"] = arrayOf(buffer, /*checked=*/false);
}

ExpectNames Command::expectNames() {
  ExpectNames names = before;
  for (const auto &[name, value] : bindNames(kernel, inputs.arguments, makeOptions()))
    if (!StringRef(name).contains('.'))
      names[name] = ExpectArray::number(double(value));
  for (const Argument &argument : inputs.arguments)
    if (!argument.buffer && !argument.isAbsent)
      names[argument.name] = ExpectArray::number(elementToDouble(argument.dtype, &argument.bits));
  for (const Buffer &buffer : inputs.buffers)
    names[buffer.name] = arrayOf(buffer, options.checks.init);
  for (const Argument &argument : inputs.arguments) // a second name of one buffer
    if (argument.buffer && argument.buffer->name != argument.name)
      names[argument.name] = names[argument.buffer->name];
  return names;
}

/// --let NAME=EXPRESSION, each of which sees those before it.
bool Command::nameValues(ExpectNames &names) {
  for (const std::string &text : options.lets) {
    auto [name, expression] = StringRef(text).split('=');
    if (name.empty() || expression.empty()) {
      (void)tk::emit<diag::RunBadArgument>(placeOf(text), text, "is not NAME=EXPRESSION");
      return false;
    }
    auto value = evaluateExpectation(*module.getContext(), expression.str(), names);
    if (!value)
      return false;
    names[name.trim().str()] = std::move(*value);
  }
  return true;
}

bool Command::writeFile(const Output &output, StringRef descr, ArrayRef<int64_t> shape,
                        StringRef bytes) {
  std::string problem;
  if (writeNpy(output.path, descr, shape, bytes, problem))
    return true;
  (void)tk::emit<diag::RunCannotWrite>(placeOf(output.name + "=@" + output.path), output.path,
                                       problem);
  return false;
}

/// The sides of an array of packed bytes.
static std::vector<int64_t> packedShape(const Buffer &buffer) {
  std::vector<int64_t> shape = buffer.extents;
  if (elementsPerByte(buffer.dtype) > 1 && !shape.empty())
    shape.back() = (shape.back() + 1) / 2;
  return shape;
}

bool Command::writeResults() {
  for (const std::string &name : options.prints)
    printArray(*inputs.find(name), out);
  bool isGood = true;
  for (const Output &output : outs) {
    const Buffer &buffer = *inputs.find(output.name);
    isGood &= writeFile(output, npyDescr(buffer.dtype), packedShape(buffer), packedBytes(buffer));
  }
  for (const Output &output : bounds) {
    const Buffer &buffer = *inputs.find(output.name);
    std::vector<double> values;
    for (int64_t i = 0; i < buffer.numElements(); ++i)
      values.push_back(buffer.bounds[size_t(buffer.elementAt(i))]);
    StringRef bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(double));
    isGood &= writeFile(output, "<f8", buffer.extents, bytes);
  }
  return isGood;
}

bool Command::checkExpectations() {
  if (options.expects.empty())
    return true;
  ExpectNames names = expectNames();
  bool isGood = nameValues(names);
  for (const std::string &text : options.expects)
    isGood &= checkExpectation(*module.getContext(), text, names);
  return isGood;
}

interp::Options Command::makeOptions() const {
  interp::Options how;
  how.checks = options.checks;
  how.errorBounds = !options.bounds.empty();
  how.threads = threadsOrAll(options.threads);
  how.sms = options.sms;
  how.order = options.order;
  how.seed = options.seed;
  how.window = options.window;
  how.out = &out;
  return how;
}

int Command::run() {
  if (int status = checkEngine())
    return status;
  auto phase = module->getAttrOfType<StringAttr>("tk.phase");
  if (phase && phase.getValue() != "Emitted") {
    (void)tk::emit<diag::RunWrongPhase>(module.getLoc(), phase.getValue());
    return 1;
  }
  if (int status = chooseKernel())
    return status;
  const interp::Options how = makeOptions();
  if (int status = makeInputs(kernel, options.args, how, inputs, options.commandLine))
    return status;
  if (int status = checkOutputs())
    return status;
  remember();
  FailureOr<RunReport> report = interp::run(kernel, inputs.arguments, how);
  if (failed(report))
    return 1;
  bool isGood = report->errors == 0;
  isGood &= writeResults();
  isGood &= checkExpectations();
  return isGood ? 0 : 1;
}

int tk::runCommand(const RunOptions &options, ModuleOp module, llvm::raw_ostream &out) {
  return Command(options, module, out).run();
}
