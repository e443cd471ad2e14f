//===- RunCommand.cpp - tkc run
//------------------------------------------------------------------===//

#include "driver/RunCommand.h"
#include "driver/Expect.h"
#include "driver/Npy.h"
#include "driver/RunArgs.h"
#include "ir/diagnostics/Diagnostics.h"
#include <thread>

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
  void remember();
  ExpectNames expectNames();
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
    (void)tk::emit<diag::RunEngineNotBuilt>(module.getLoc(), options.engine);
  else
    (void)tk::emit<diag::RunEngineUnknown>(module.getLoc(), options.engine);
  return isPlanned ? 1 : 2;
}

int Command::chooseKernel() {
  std::string names;
  unsigned count = 0;
  for (KernelOp candidate : module.getOps<KernelOp>()) {
    auto field = candidate.getContract().getFields().getAs<StringAttr>("kernel");
    StringRef name = field ? field.getValue() : candidate.getSymName();
    if (options.kernel == name || options.kernel == candidate.getSymName() ||
        options.kernel.empty())
      kernel = kernel ? kernel : candidate;
    names += (names.empty() ? "" : ", ") + name.str();
    ++count;
  }
  if (!options.kernel.empty() && !kernel) {
    (void)withHelp(tk::emit<diag::RunNoKernel>(module.getLoc(), options.kernel),
                   "it has " + (names.empty() ? "none" : names));
    return 2;
  }
  if (options.kernel.empty() && count != 1) {
    (void)withHelp(tk::emit<diag::RunWhichKernel>(module.getLoc(), count, names),
                   "-k NAME chooses one");
    return 2;
  }
  return 0;
}

int Command::splitOutputs(ArrayRef<std::string> words, std::vector<Output> &outputs) {
  for (const std::string &word : words) {
    auto [name, path] = StringRef(word).split('=');
    if (!path.consume_front("@") || path.empty()) {
      (void)tk::emit<diag::RunBadArgument>(kernel.getLoc(), word, "is not NAME=@FILE.npy");
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
  (void)tk::emit<diag::RunOutputUnknown>(kernel.getLoc(), word, name);
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

static ExpectArray arrayOf(const Buffer &buffer) {
  ExpectArray array = ExpectArray::filled(buffer.extents);
  for (int64_t i = 0; i < array.size(); ++i)
    array.data[size_t(i)] = elementToDouble(
        buffer.dtype, buffer.data() + size_t(buffer.elementAt(i)) * byteSize(buffer.dtype));
  return array;
}

/// What the arrays held, for `x.before`.
void Command::remember() {
  if (options.expects.empty())
    return;
  for (const Buffer &buffer : inputs.buffers)
    before[buffer.name + ".before"] = arrayOf(buffer);
}

ExpectNames Command::expectNames() {
  ExpectNames names = before;
  for (const auto &[name, value] : bindNames(kernel, inputs.arguments, interp::Options()))
    if (!StringRef(name).contains('.'))
      names[name] = ExpectArray::number(double(value));
  for (const Argument &argument : inputs.arguments)
    if (!argument.buffer)
      names[argument.name] = ExpectArray::number(elementToDouble(argument.dtype, &argument.bits));
  for (const Buffer &buffer : inputs.buffers)
    names[buffer.name] = arrayOf(buffer);
  return names;
}

bool Command::writeFile(const Output &output, StringRef descr, ArrayRef<int64_t> shape,
                        StringRef bytes) {
  std::string problem;
  if (writeNpy(output.path, descr, shape, bytes, problem))
    return true;
  (void)tk::emit<diag::RunCannotWrite>(kernel.getLoc(), output.path, problem);
  return false;
}

bool Command::writeResults() {
  for (const std::string &name : options.prints)
    printArray(*inputs.find(name), out);
  bool isGood = true;
  for (const Output &output : outs) {
    const Buffer &buffer = *inputs.find(output.name); // row-major, as all arrays of a run
    StringRef bytes(reinterpret_cast<const char *>(buffer.data()),
                    size_t(buffer.elements) * byteSize(buffer.dtype));
    isGood &= writeFile(output, npyDescr(buffer.dtype), buffer.extents, bytes);
  }
  for (const Output &output : bounds) {
    const Buffer &buffer = *inputs.find(output.name);
    StringRef bytes(reinterpret_cast<const char *>(buffer.bounds.data()),
                    buffer.bounds.size() * sizeof(double));
    isGood &= writeFile(output, "<f8", buffer.extents, bytes);
  }
  return isGood;
}

bool Command::checkExpectations() {
  if (options.expects.empty())
    return true;
  ExpectNames names = expectNames();
  bool isGood = true;
  for (const std::string &text : options.expects)
    isGood &= checkExpectation(*module.getContext(), text, names);
  return isGood;
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
  if (int status = makeInputs(kernel, options.args, inputs))
    return status;
  if (int status = checkOutputs())
    return status;
  remember();
  interp::Options how;
  how.checks = options.checks;
  how.errorBounds = !bounds.empty();
  how.threads =
      options.threads ? options.threads : std::max(std::thread::hardware_concurrency(), 1u);
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
