//===- Program.cpp - one kernel of an image, ready to run -------------------------===//

#include "backends/cpu/Program.h"
#include "backends/cpu/Messages.h"
#include "backends/cpu/Parameters.h"
#include "ir/StageReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cstdio>
#include <thread>

using namespace mlir;
using namespace tk;
using namespace tk::cpu;
using llvm::StringRef;

/// What can only be a warning is not looked for: a caller is told of errors alone, and a finding of
/// any kind makes a launch run once more.
static interp::Options makeOptions() {
  interp::Options options;
  options.checks.arithmetic = false;
  options.checks.nan = interp::NanCheck::Off;
  options.threads = std::max(std::thread::hardware_concurrency(), 1u);
  return options;
}

namespace {
/// Where a device's `print` goes too: the C library's standard output, in the order of what the caller prints there.
class StandardOutput final : public llvm::raw_ostream {
public:
  StandardOutput() : raw_ostream(/*unbuffered=*/true) {}

private:
  void write_impl(const char *text, size_t size) override {
    std::fwrite(text, 1, size, stdout);
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  uint64_t written = 0;
};
} // namespace

static KernelOp findKernel(ModuleOp module, StringRef symbol, std::string &problem) {
  std::string names;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (kernel.getSymName() == symbol)
      return kernel;
    names += (names.empty() ? "" : ", ") + kernel.getSymName().str();
  }
  problem =
      "the image has no kernel `" + symbol.str() + "`; it has " + (names.empty() ? "none" : names);
  return {};
}

static int32_t load(StringRef image, StringRef symbol, tkc_cpu_program &program,
                    std::string &problem) {
  MLIRContext &context = program.context;
  context.loadDialect<TkDialect, arith::ArithDialect, scf::SCFDialect>();
  context.printOpOnDiagnostic(false);
  auto module = readMlir(context, symbol.str() + ".tk.mlir", image);
  if (failed(module))
    return TKC_CPU_E_IMAGE;
  program.module = std::move(*module);
  if (phaseOf(*program.module) != Phase::Emitted) {
    problem = "the image is of phase `" + phaseName(*phaseOf(*program.module)).str() +
              "`, the interpreter runs `Emitted`";
    return TKC_CPU_E_IMAGE;
  }
  KernelOp kernel = findKernel(*program.module, symbol, problem);
  if (!kernel)
    return TKC_CPU_E_IMAGE;
  if (failed(checkParameters(kernel)))
    return TKC_CPU_E_UNSUPPORTED;
  FailureOr<interp::Prepared> prepared = interp::Prepared::make(kernel, makeOptions());
  if (failed(prepared))
    return TKC_CPU_E_UNSUPPORTED;
  program.prepared = std::move(*prepared);
  return TKC_CPU_OK;
}

int32_t tk::cpu::loadProgram(StringRef image, StringRef symbol,
                             std::unique_ptr<tkc_cpu_program> &program, std::string &problem) {
  auto made = std::make_unique<tkc_cpu_program>();
  Messages::attachTo(made->context);
  Messages messages;
  const int32_t status = load(image, symbol, *made, problem);
  if (problem.empty())
    problem = messages.text();
  if (status != TKC_CPU_OK)
    return status;
  made->context.disableMultithreading(false); // it was, so that reading starts no threads
  program = std::move(made);
  return status;
}

int32_t tk::cpu::launchProgram(const tkc_cpu_program &program, const uint32_t (&grid)[3],
                               ArrayRef<uint8_t> params, std::string &problem) {
  Parameters parameters;
  if (!readParameters(program.prepared.getKernel(), params, parameters, problem))
    return TKC_CPU_E_PARAMS;
  Messages messages;
  const int64_t sides[3] = {grid[0], grid[1], grid[2]};
  StandardOutput out;
  interp::Options options = makeOptions();
  options.out = &out;
  FailureOr<interp::RunReport> report = program.prepared.launch(parameters.arguments, sides, options);
  problem = messages.text();
  if (failed(report))
    return TKC_CPU_E_UNSUPPORTED;
  return report->errors > 0 ? TKC_CPU_E_KERNEL : TKC_CPU_OK;
}
