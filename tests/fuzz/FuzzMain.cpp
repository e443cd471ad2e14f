//===- FuzzMain.cpp - tk-fuzz: generated programs through front end and engines ------===//
//
//   tk-fuzz --seed=1 --count=1000 [--seconds=60] [--inexact] [--machine] [--print] [--threads=2]
//
// Each program has to be accepted by the front end, must be run by the interpreter without a
// finding that is an error, and must give the same bytes when its instances run in order, in
// reverse and shuffled. --machine leaves out what has no machine code, --inexact takes functions
// whose results are rounded. A failure is made smaller and printed with what goes wrong; the exit
// status is then 1.
//
//===----------------------------------------------------------------------===//

#include "backends/interp/Interp.h"
#include "frontend/Frontend.h"
#include "frontend/Parser.h"
#include "tests/fuzz/Generator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace tk;
using namespace tk::fuzz;
using interp::Buffer;

namespace {
struct CommandLine {
  uint64_t seed = 1, count = 100;
  double seconds = 0; // 0: no limit
  unsigned threads = 1;
  bool print = false;
  Settings settings;
};

/// A context that keeps what is said.
struct Session {
  Session() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      if (diag.getSeverity() == DiagnosticSeverity::Error && said.empty())
        llvm::raw_string_ostream(said) << diag.getLocation() << ": " << diag.str();
    });
  }
  MLIRContext context;
  std::string said; // the first error
};
} // namespace

/// Integers over the whole range of their type, floats small integers, bytes from a seed.
static void fill(Buffer &buffer, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < buffer.elements; ++i) {
    uint8_t *element = buffer.data() + size_t(i) * interp::byteSize(buffer.dtype);
    if (interp::isFloat(buffer.dtype))
      interp::elementFromDouble(buffer.dtype, double(int64_t(random() % 17) - 8), element);
    else if (random() % 4 == 0)
      interp::elementFromInteger(buffer.dtype, int64_t(random()), element);
    else
      interp::elementFromInteger(buffer.dtype, int64_t(random() % 9) - 2, element);
  }
}

static std::vector<Buffer> makeBuffers(const Program &program) {
  std::vector<Buffer> buffers;
  for (const TensorArg &arg : program.tensors) {
    buffers.push_back(Buffer::make(arg.name, arg.dtype, arg.extents));
    if (arg.access != TensorArg::Access::Out)
      fill(buffers.back(), program.dataSeed + buffers.size());
  }
  return buffers;
}

/// Runs the kernel on `buffers`; what went wrong, or "".
static std::string runKernel(KernelOp kernel, const Program &program, std::vector<Buffer> &buffers,
                             interp::Order order, Session &session) {
  std::vector<interp::Argument> args;
  for (Buffer &buffer : buffers)
    args.push_back(interp::Argument::tensor(buffer.name, buffer));
  for (const ScalarArg &arg : program.scalars)
    args.push_back(interp::isFloat(arg.dtype)
                       ? interp::Argument::scalar(arg.name, arg.dtype, double(arg.value))
                       : interp::Argument::scalar(arg.name, arg.dtype, arg.value));
  interp::Options options;
  options.order = order;
  options.seed = program.dataSeed;
  FailureOr<interp::RunReport> report = interp::run(kernel, args, options);
  if (failed(report) || report->errors != 0)
    return "the run found an error: " + session.said;
  return "";
}

/// What is wrong with a program, or "".
static std::string faultOf(const Program &program) {
  Session session;
  SourceFile source("generated.tk", program.text);
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(session.context, source);
  if (failed(file))
    return "the parser refuses it: " + session.said;
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToTk(session.context, source, **file, LowerOptions());
  if (failed(module))
    return "the front end refuses it: " + session.said;
  KernelOp kernel = *(*module)->getOps<KernelOp>().begin();
  std::vector<Buffer> first;
  for (interp::Order order : {interp::Order::Forward, interp::Order::Reverse, interp::Order::Shuffle}) {
    std::vector<Buffer> buffers = makeBuffers(program);
    std::string fault = runKernel(kernel, program, buffers, order, session);
    if (!fault.empty())
      return fault;
    if (first.empty()) {
      first = std::move(buffers);
      continue;
    }
    for (size_t i = 0; i < first.size(); ++i)
      if (first[i].storage != buffers[i].storage)
        return "`" + first[i].name + "` depends on the order of the instances";
  }
  return "";
}

static Program generateFrom(std::vector<uint32_t> list, const Settings &settings) {
  Choices choices(std::move(list));
  return generate(choices, settings);
}

/// The part of a message that names its kind, so that a smaller program fails for the same reason.
static std::string kindOf(const std::string &fault) {
  size_t code = fault.find("TK");
  return fault.substr(0, 12) + (code == std::string::npos ? "" : fault.substr(code, 6));
}

static void report(uint64_t seed, const std::vector<uint32_t> &list, const std::string &fault,
                   const Settings &settings) {
  std::vector<uint32_t> small = reduce(list, 2000, [&](const std::vector<uint32_t> &candidate) {
    return kindOf(faultOf(generateFrom(candidate, settings))) == kindOf(fault);
  });
  Program program = generateFrom(small, settings);
  llvm::outs() << "seed " << seed << ": " << faultOf(program) << "\n" << program.text << "\n";
  llvm::outs().flush();
}

static bool parseWord(llvm::StringRef word, CommandLine &command) {
  auto number = [&](llvm::StringRef name, auto &value) {
    return word.consume_front(name) && !word.getAsInteger(10, value);
  };
  unsigned seconds = 0;
  if (number("--seconds=", seconds)) {
    command.seconds = seconds;
    return true;
  }
  if (word == "--print")
    return command.print = true;
  if (word == "--inexact") {
    command.settings.exact = false;
    return true;
  }
  if (word == "--machine")
    return command.settings.machineOnly = true;
  return number("--seed=", command.seed) || number("--count=", command.count) ||
         number("--threads=", command.threads);
}

int main(int argc, char **argv) {
  CommandLine command;
  for (int i = 1; i < argc; ++i)
    if (!parseWord(argv[i], command)) {
      llvm::errs() << "tk-fuzz: unknown word `" << argv[i] << "`\n";
      return 2;
    }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::atomic<uint64_t> next{0}, ran{0}, wrong{0}, lines{0};
  std::mutex lock;
  auto work = [&] {
    for (uint64_t i = next++; i < command.count; i = next++) {
      if (command.seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() > command.seconds)
        return;
      Choices choices(command.seed + i);
      Program program = generate(choices, command.settings);
      if (command.print)
        llvm::outs() << "# seed " << command.seed + i << "\n" << program.text << "\n";
      std::string fault = faultOf(program);
      ++ran;
      lines += uint64_t(llvm::StringRef(program.text).count('\n'));
      if (fault.empty())
        continue;
      std::lock_guard<std::mutex> guard(lock);
      if (++wrong <= 10)
        report(command.seed + i, choices.drawn(), fault, command.settings);
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < command.threads; ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  llvm::outs() << ran.load() << " programs of " << lines.load() / std::max<uint64_t>(ran, 1)
               << " lines on average, " << wrong.load() << " wrong\n";
  return wrong != 0;
}
