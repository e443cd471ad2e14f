//===- Oracle.cpp - what must hold of a generated program --------------------------===//

#include "tests/fuzz/Oracle.h"
#include "tests/fuzz/SaveCase.h"
#include "backends/interp/Interp.h"
#include "driver/Compile.h"
#include "frontend/Frontend.h"
#include "frontend/Parser.h"
#include "ir/tk/TkDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tk;
using namespace tk::fuzz;
using interp::Buffer;

namespace {
/// A context that keeps the first error.
struct Session {
  Session() : context(createContext()) {
    context->loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
    context->getDiagEngine().registerHandler([this](Diagnostic &diag) {
      if (diag.getSeverity() == DiagnosticSeverity::Error && said.empty())
        llvm::raw_string_ostream(said) << diag.getLocation() << ": " << diag.str();
    });
  }
  std::unique_ptr<MLIRContext> context;
  std::string said;
};
} // namespace

void Coverage::add(const Coverage &other) {
  for (const auto &entry : other.operations)
    operations[entry.first()] += entry.second;
  for (size_t i = 0; i < features.size(); ++i)
    features[i] += other.features[i];
  programs += other.programs;
  withMachineCode += other.withMachineCode;
}

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
    buffers.push_back(arg.strides.empty()
                          ? Buffer::make(arg.name, arg.dtype, arg.extents)
                          : Buffer::makeStrided(arg.name, arg.dtype, arg.extents, arg.strides));
    if (arg.isFilled)
      fill(buffers.back(), program.dataSeed + buffers.size());
  }
  return buffers;
}

/// Runs the kernel on `buffers`; what went wrong, or "".
static std::string runKernel(KernelOp kernel, const Program &program, std::vector<Buffer> &buffers,
                             interp::Order order, Session &session) {
  std::vector<interp::Argument> args;
  for (size_t i = 0; i < buffers.size(); ++i)
    args.push_back(program.tensors[i].isAbsent
                       ? interp::Argument::absent(buffers[i].name)
                       : interp::Argument::tensor(buffers[i].name, buffers[i]));
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

static std::string runInOrders(KernelOp kernel, const Program &program, const OracleOptions &options,
                               Session &session) {
  static constexpr interp::Order kOrders[] = {interp::Order::Forward, interp::Order::Reverse,
                                              interp::Order::Shuffle};
  std::vector<Buffer> first;
  for (interp::Order order : llvm::ArrayRef(kOrders).take_front(options.orders)) {
    std::vector<Buffer> buffers = makeBuffers(program);
    std::string fault = runKernel(kernel, program, buffers, order, session);
    if (!fault.empty())
      return fault;
    if (first.empty()) {
      first = std::move(buffers);
      if (!options.saveAs.empty() && !saveCase(options.saveAs, program, makeBuffers(program), first))
        return "cannot write " + options.saveAs;
      continue;
    }
    for (size_t i = 0; i < first.size(); ++i)
      if (first[i].storage != buffers[i].storage)
        return "`" + first[i].name + "` depends on the order of the instances";
  }
  return "";
}

/// One stage to another; what the input's kind is, its name says. "" when it was made.
static std::string compileTo(Stage stage, const char *path, std::string &text) {
  Session session;
  CompileOptions options;
  options.target = "sm_90a";
  options.stages = {stage};
  options.verifyPhases = true;
  CompileResult result = compile(options, {path, text}, "generated", *session.context);
  if (result.status != 0 || result.artifacts.empty())
    return session.said.empty() ? "no error was reported" : session.said;
  text = std::move(result.artifacts.front().bytes);
  return "";
}

/// `isMade`: it has PTX. Without libdevice, which not every machine has, functions of it end at LLVM IR.
static std::string makeMachineCode(const Program &program, bool &isMade) {
  std::string text = program.text;
  std::string fault = compileTo(Stage::Llvm, "generated.tk", text);
  if (!fault.empty())
    return "the passes refuse it: " + fault;
  isMade = true;
  if (llvm::StringRef(text).contains("@__nv_"))
    return "";
  fault = compileTo(Stage::Ptx, "generated.ll", text);
  return fault.empty() ? "" : "the code generator refuses it: " + fault;
}

static void count(ModuleOp module, const Program &program, Coverage &coverage) {
  llvm::StringSet<> seen;
  module.walk([&](Operation *op) { seen.insert(op->getName().getStringRef()); });
  for (const auto &entry : seen)
    ++coverage.operations[entry.first()];
  for (size_t i = 0; i < kNumFeatures; ++i)
    coverage.features[i] += llvm::StringRef(program.text).contains(kFeatures[i].sign);
  ++coverage.programs;
}

std::string tk::fuzz::faultOf(const Program &program, const OracleOptions &options,
                              Coverage *coverage) {
  Session session;
  SourceFile source("generated.tk", program.text);
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(*session.context, source);
  if (failed(file))
    return "the parser refuses it: " + session.said;
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToTk(*session.context, source, **file, LowerOptions());
  if (failed(module))
    return "the front end refuses it: " + session.said;
  if (coverage)
    count(**module, program, *coverage);
  KernelOp kernel = *(*module)->getOps<KernelOp>().begin();
  std::string fault = runInOrders(kernel, program, options, session);
  if (!fault.empty() || !options.machineCode)
    return fault;
  bool isMade = false;
  fault = makeMachineCode(program, isMade);
  if (coverage)
    coverage->withMachineCode += isMade;
  return fault;
}
