//===- Compile.cpp - the compiler as a call ------------------------------------------===//
//
// One object walks the stages from the input's to the last one wanted. Each step ends in `record`,
// which keeps the stage when it was asked for and says whether to go on.
//
//===----------------------------------------------------------------------===//

#include "driver/Compile.h"
#include "backends/metadata/KernelDescription.h"
#include "backends/metadata/Metadata.h"
#include "backends/nvptx/Nvptx.h"
#include "backends/nvptx/Ptxas.h"
#include "backends/target/Targets.h"
#include "driver/Crash.h"
#include "driver/Folders.h"
#include "driver/PassRunner.h"
#include "driver/PhaseTimes.h"
#include "driver/Readers.h"
#include "driver/Threads.h"
#include "driver/Tools.h"
#include "driver/UseLists.h"
#include "frontend/AstPrinter.h"
#include "frontend/Frontend.h"
#include "frontend/Lexer.h"
#include "frontend/Parser.h"
#include "ir/tk/TkDialect.h"
#include "ir/tkg/TkgDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "passes/Pipeline.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Path.h"

using namespace tk;
using llvm::StringRef;
using mlir::failed;

namespace {

class Compilation {
public:
  Compilation(const CompileOptions &options, const Input &input, const std::string &outputName,
              mlir::MLIRContext &context, mlir::TimingScope &timing)
      : options(options), input(input), outputName(outputName), context(context), timing(timing),
        loc(mlir::UnknownLoc::get(&context)), last(options.stages.back()) {
    if (last == Stage::Json) // needs the binary
      last = Stage::Sass;
    result.dependencies.push_back(input.path);
  }

  CompileResult run();

private:
  // One function a kind of input; each ends where the next begins.
  void fromSource();
  void fromMlir();
  void lower(mlir::ModuleOp module, Phase phase);
  void fromLlvmText();
  void fromLlvm(llvm::Module &module);
  void fromPtx(std::string ptx, bool generated);
  void finishInterpreted(mlir::ModuleOp module);
  void finishBinary(const nvptx::Assembler &assembler, nvptx::Assembly &&assembly);

  bool recordMlir(Stage stage, mlir::ModuleOp module);
  bool record(Stage stage, llvm::function_ref<std::string()> text);
  bool wants(Stage stage) const { return llvm::is_contained(options.stages, stage); }
  bool runPipelines(mlir::ModuleOp module, Phase phase);
  bool checkPasses(llvm::ArrayRef<const mlir::OpPassManager *> managers);
  bool checkStart(Stage stage);
  bool checkSourceOptions();
  bool selectTarget(StringRef inputTarget);
  void describe(StringRef kind, StringRef bytes,
                const llvm::StringMap<nvptx::Resources> &resources, const Producer &producer);
  Producer makeProducer() const;
  void fail(int status = 1) { result.status = status; }
  mlir::Location locationOf(StringRef symbol) const {
    auto found = symbolLocations.find(symbol);
    return found == symbolLocations.end() ? loc : found->second;
  }

  const CompileOptions &options;
  const Input &input;
  const std::string &outputName;
  mlir::MLIRContext &context;
  mlir::TimingScope &timing;
  mlir::Location loc;
  Stage last;
  CompileResult result;
  bool stageInput = false; // not .tk
  const Target *target = nullptr;
  std::optional<std::string> description;
  llvm::StringMap<mlir::Location> symbolLocations;
  std::optional<LinkedLibrary> linked;
  std::vector<ImportedFile> imported;
};

} // namespace

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The first stage asked for must not lie before the one the input holds.
bool Compilation::checkStart(Stage stage) {
  if (options.stages.front() >= stage)
    return true;
  emit<diag::StageBeforeInput>(loc, stageName(options.stages.front()), stageName(stage));
  fail(2);
  return false;
}

/// What only the front end reads is refused with any later stage.
bool Compilation::checkSourceOptions() {
  const LowerOptions &lower = options.lower;
  StringRef wrong = !lower.kernels.empty()     ? "--kernel"
                    : !lower.defines.empty()     ? "-D"
                    : lower.warps                ? "--warps"
                    : lower.stages               ? "--stages"
                    : lower.ctas                 ? "--ctas"
                    : lower.maxregs              ? "--maxregs"
                    : !lower.assumptions.empty() ? "--assume"
                    : !lower.includes.empty()    ? "-I"
                    : options.hasConfig          ? "--config"
                                                 : "";
  if (wrong.empty())
    return true;
  emit<diag::OptionNeedsSource>(loc, wrong);
  fail(2);
  return false;
}

/// From the command line, else the input, else the default.
bool Compilation::selectTarget(StringRef inputTarget) {
  if (target)
    return true;
  StringRef name = options.target.empty() ? inputTarget : StringRef(options.target);
  if (!inputTarget.empty() && name != inputTarget) {
    emit<diag::TargetMismatch>(loc, inputTarget, name);
    fail(2);
    return false;
  }
  if (name.empty()) {
    name = kDefaultTarget;
    emit<diag::DefaultTarget>(loc, name);
  }
  target = findTarget(name);
  if (!target)
    emit<diag::UnknownTarget>(loc, name);
  else if (!target->supported)
    withHelp(emit<diag::TargetNotBuilt>(loc, name), "supported: " + supportedTargetNames());
  if (!target || !target->supported) {
    fail();
    return false;
  }
  if (options.verbose)
    llvm::errs() << "tkc: target " << name << '\n';
  return true;
}

/// Every pass that an option names is one of `managers`'.
bool Compilation::checkPasses(llvm::ArrayRef<const mlir::OpPassManager *> managers) {
  std::vector<std::string> names = options.printBefore;
  llvm::append_range(names, options.printAfter);
  if (!options.stopAfter.empty())
    names.push_back(options.stopAfter);
  for (const std::string &name : names) {
    bool known = (name == "all" && name != options.stopAfter) ||
                 llvm::any_of(managers, [&](auto *manager) { return hasPass(*manager, name); });
    if (known)
      continue;
    std::vector<std::string> all;
    for (const mlir::OpPassManager *manager : managers)
      for (const mlir::Pass &pass : manager->getPasses())
        all.push_back(pass.getArgument().str());
    withHelp(emit<diag::UnknownPass>(loc, name), "the passes are " + llvm::join(all, ", "));
    fail(2);
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Keeping stages
//===----------------------------------------------------------------------===//

/// Keeps `stage` if it is asked for; false when it is the last one needed.
bool Compilation::record(Stage stage, llvm::function_ref<std::string()> text) {
  bool dump = (options.saveTemps || !options.dumpDir.empty()) && isText(stage);
  if (wants(stage))
    result.artifacts.push_back({stage, text()});
  if (dump)
    result.intermediates.push_back({stage, text()});
  return stage < last;
}

bool Compilation::recordMlir(Stage stage, mlir::ModuleOp module) {
  orderUseLists(module);
  return record(stage, [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os, printingFlags(options));
    os << '\n';
    return text;
  });
}

/// What the front end emits.
static void loadSourceDialects(mlir::MLIRContext &context) {
  context.loadDialect<TkDialect, mlir::arith::ArithDialect, mlir::scf::SCFDialect>();
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

void Compilation::fromSource() {
  setActivity("reading the source");
  SourceFile source(input.path, input.text);
  mlir::TimingScope parsing = timing.nest("front end: parse");
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, source);
  if (failed(file))
    return fail();
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    printAst(**file, os);
    return text;
  };
  if (!record(Stage::Ast, print))
    return;
  parsing.stop();
  mlir::TimingScope lowering = timing.nest("front end: check and lower");
  loadSourceDialects(context);
  LowerError kind = LowerError::None;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      lowerToTk(context, source, **file, options.lower, &kind, &imported);
  lowering.stop();
  for (const ImportedFile &import : imported)
    if (!import.inLibrary)
      result.dependencies.push_back(import.path);
  if (failed(module))
    return fail(kind == LowerError::CommandLine ? 2 : 1);
  lower(**module, Phase::Emitted);
}

void Compilation::fromMlir() {
  setActivity("reading a stage file");
  mlir::TimingScope reading = timing.nest("read stage file");
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      readMlir(context, input.path, input.text);
  reading.stop();
  if (failed(module))
    return fail();
  lower(**module, *phaseOf(**module));
}

/// From a module in `phase` through the stages of MLIR.
void Compilation::lower(mlir::ModuleOp module, Phase phase) {
  Stage at = phase == Phase::Emitted   ? Stage::Tk
             : phase < Phase::Machine ? Stage::Tkg
                                      : Stage::LlvmDialect;
  if (stageInput && !checkStart(at))
    return;
  if (at == Stage::Tk && options.described && last == Stage::Tk)
    return finishInterpreted(module);
  if (at == Stage::Tk && options.stopAfter.empty() && !recordMlir(Stage::Tk, module))
    return;
  auto made = module->getAttrOfType<mlir::StringAttr>("tk.target");
  if (!selectTarget(made ? made.getValue() : ""))
    return;
  context.loadDialect<tkg::TkgDialect>(); // the passes make its operations
  module->setAttr("tk.target", mlir::StringAttr::get(&context, target->name));
  if (!runPipelines(module, phase))
    return;
  setActivity("translating to LLVM IR");
  mlir::TimingScope translating = timing.nest("translate to LLVM IR");
  for (mlir::Operation &op : *module.getBody())
    if (auto name = op.getAttrOfType<mlir::StringAttr>("sym_name"))
      symbolLocations.try_emplace(name.getValue(), op.getLoc());
  description = descriptionOf(module);
  llvm::LLVMContext llvmContext;
  mlir::FailureOr<std::unique_ptr<llvm::Module>> translated =
      nvptx::translateToLlvm(module, llvmContext, *target);
  translating.stop();
  if (failed(translated))
    return fail();
  if (description && !descriptionOf(**translated))
    setDescription(**translated, *description);
  fromLlvm(**translated);
}

/// Runs what lies between `phase` and Machine; false when it is time to stop.
bool Compilation::runPipelines(mlir::ModuleOp module, Phase phase) {
  mlir::OpPassManager toOrdered(mlir::ModuleOp::getOperationName());
  mlir::OpPassManager toMachine(mlir::ModuleOp::getOperationName());
  if (phase < Phase::Ordered)
    addPipeline(toOrdered, *target, phase);
  if (phase < Phase::Machine)
    nvptx::addMachinePasses(toMachine, *target);
  if (phase < Phase::Machine && options.lineInfo)
    nvptx::addLineTables(toMachine);
  if (!checkPasses({&toOrdered, &toMachine}))
    return false;
  const std::pair<mlir::OpPassManager *, Stage> steps[] = {{&toOrdered, Stage::Tkg},
                                                           {&toMachine, Stage::LlvmDialect}};
  for (auto [manager, stage] : steps) {
    bool tkg = stage == Stage::Tkg;
    setActivity(tkg ? "running the passes" : "lowering to the LLVM dialect");
    mlir::TimingScope running = timing.nest(tkg ? "passes" : "machine passes");
    PassOutcome outcome = runPasses(*manager, module, options, running);
    running.stop();
    if (outcome == PassOutcome::Failed) {
      result.oversized = oversizedOf(module);
      fail();
      return false;
    }
    if (outcome == PassOutcome::Stopped) {
      recordMlir(options.stages.back(), module);
      return false;
    }
    bool reached = !tkg || phase < Phase::Machine;
    if (options.stopAfter.empty() && reached && !recordMlir(stage, module))
      return false;
  }
  return true;
}

void Compilation::fromLlvmText() {
  setActivity("reading LLVM IR");
  if (!checkStart(Stage::Llvm))
    return;
  mlir::TimingScope reading = timing.nest("read stage file");
  llvm::LLVMContext llvmContext;
  nvptx::initializeLlvm();
  std::unique_ptr<llvm::Module> module =
      readLlvm(context, llvmContext, input.path, input.text);
  reading.stop();
  if (!module)
    return fail();
  description = descriptionOf(*module);
  if (!selectTarget(description ? targetOfDescription(*description) : ""))
    return;
  fromLlvm(*module);
}

/// LLVM's own reports become ours; its default handler would end the process.
static void onLlvmDiagnostic(const llvm::DiagnosticInfo *info, void *data) {
  auto &loc = *static_cast<mlir::Location *>(data);
  if (info->getSeverity() != llvm::DS_Error)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::DiagnosticPrinterRawOStream printer(os);
  info->print(printer);
  emit<diag::LlvmRejected>(loc, text);
}

void Compilation::fromLlvm(llvm::Module &module) {
  llvm::LLVMContext &llvmContext = module.getContext();
  llvmContext.setDiagnosticHandlerCallBack(onLlvmDiagnostic, &loc);
  dropFolders(module);
  if (failed(nvptx::verify(module, [&](StringRef symbol) { return locationOf(symbol); })))
    return fail();
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.setModuleIdentifier(stemOf(input.path));
    module.print(os, nullptr);
    return text;
  };
  if (!record(Stage::Llvm, print))
    return;
  setActivity("optimizing and emitting PTX");
  mlir::TimingScope compiling = timing.nest("LLVM: to PTX");
  std::string libdevice;
  if (nvptx::needsLibdevice(module)) {
    mlir::FailureOr<Libdevice> found = findLibdevice(options, loc);
    if (failed(found))
      return fail();
    libdevice = found->path;
    linked = found->linked;
    result.dependencies.push_back(libdevice);
  }
  nvptx::initializeLlvm();
  bool isOneJob = !options.jobs && !jobserverAddress().empty(); // so make counts this process
  mlir::FailureOr<std::string> ptx = nvptx::compileToPtx(
      module, *target, libdevice, options.optLevel, isOneJob ? 1 : threadsOrAll(unsigned(options.jobs)), loc);
  compiling.stop();
  if (failed(ptx))
    return fail();
  if (description && !descriptionOfPtx(*ptx))
    *ptx = descriptionAsPtxComment(*description) + *ptx;
  fromPtx(std::move(*ptx), /*generated=*/true);
}

/// Bytes of shared memory that a launch of each kernel asks for, by symbol.
static llvm::StringMap<int64_t> dynamicSharedOf(StringRef description) {
  llvm::StringMap<int64_t> bytes;
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(description);
  if (!json) {
    llvm::consumeError(json.takeError());
    return bytes;
  }
  // The text may come with a PTX file, so nothing of its form is sure.
  auto each = [](const llvm::json::Array *list, auto visit) {
    for (size_t i = 0; list && i < list->size(); ++i)
      if (const llvm::json::Object *entry = (*list)[i].getAsObject())
        visit(*entry);
  };
  each(json->getAsArray(), [&](const llvm::json::Object &kernel) {
    each(kernel.getArray("variants"), [&](const llvm::json::Object &variant) {
      const llvm::json::Object *resources = variant.getObject("resources");
      if (std::optional<StringRef> symbol = variant.getString("symbol"); symbol && resources)
        bytes[*symbol] = resources->getInteger("shared_dynamic").value_or(0);
    });
  });
  return bytes;
}

void Compilation::fromPtx(std::string ptx, bool generated) {
  if (!generated && (!checkStart(Stage::Ptx) || !selectTarget(nvptx::ptxTargetOf(ptx))))
    return;
  description = descriptionOfPtx(ptx);
  if (!record(Stage::Ptx, [&] { return ptx; })) {
    if (!options.metadata.empty() || options.described)
      describe("ptx", ptx, {}, makeProducer());
    return;
  }
  mlir::FailureOr<nvptx::Assembler> assembler =
      nvptx::findPtxas(options.ptxas, options.hermetic, loc);
  if (failed(assembler))
    return fail();
  setActivity("running ptxas");
  mlir::TimingScope assembling = timing.nest("ptxas");
  nvptx::AssembleOptions how;
  how.optLevel = options.optLevel;
  how.lineInfo = options.lineInfo;
  how.inputName = generated ? "" : input.path;
  if (description)
    how.dynamicShared = dynamicSharedOf(*description);
  if (options.verbose)
    llvm::errs() << "tkc: run " << assembler->path << " --gpu-name=" << target->name << " -O"
                 << how.optLevel << '\n';
  mlir::FailureOr<nvptx::Assembly> assembly =
      nvptx::assemble(*assembler, ptx, *target, how, loc,
                      [&](StringRef symbol) { return locationOf(symbol); });
  assembling.stop();
  if (failed(assembly))
    return fail();
  if (options.verbose)
    llvm::errs() << assembly->log;
  finishBinary(*assembler, std::move(*assembly));
}

//===----------------------------------------------------------------------===//
// The binary and its description
//===----------------------------------------------------------------------===//

Producer Compilation::makeProducer() const {
  Producer producer;
  producer.tkc = tkcVersion();
  producer.llvm = llvmVersion();
  // The name alone, and no comments: a description is the same wherever the sources lie, and a
  // comment builds nothing again.
  auto addInput = [&](StringRef path, StringRef text, bool isSource) {
    producer.inputs.push_back(
        {llvm::sys::path::filename(path).str(), sha256Hex(isSource ? withoutTrivia(context, text) : text.str())});
  };
  addInput(input.path, input.text, !stageInput);
  for (const ImportedFile &import : imported)
    if (import.inLibrary)
      producer.inputs.push_back({import.path, sha256Hex(import.text)});
    else
      addInput(import.path, import.text, true);
  if (linked)
    producer.linked.push_back(*linked);
  return producer;
}

void Compilation::describe(StringRef kind, StringRef bytes,
                           const llvm::StringMap<nvptx::Resources> &resources,
                           const Producer &producer) {
  if (!description) {
    if (wants(Stage::Json)) {
      emit<diag::BadDescription>(loc, "the input has no `tk.description`");
      return fail();
    }
    emit<diag::DescriptionLost>(loc);
    return;
  }
  Image image{kind.str(), outputName, bytes.str()};
  llvm::Expected<std::string> text = writeDescription(*description, image, resources, producer);
  if (!text) {
    emit<diag::BadDescription>(loc, llvm::toString(text.takeError()));
    return fail();
  }
  result.description = std::move(*text);
}

void Compilation::finishBinary(const nvptx::Assembler &assembler, nvptx::Assembly &&assembly) {
  setActivity("writing the description");
  result.dependencies.push_back(assembler.path);
  Producer producer = makeProducer();
  producer.assemblerName = "ptxas";
  producer.assemblerVersion = assembly.version;
  producer.assemblerSha256 = digestOfAssembler(assembler);
  describe("cubin", assembly.cubin, assembly.resources, producer);
  if (result.status)
    return;
  if (wants(Stage::Sass)) {
    mlir::FailureOr<std::string> text =
        nvptx::disassemble(assembler, assembly.cubin, options.hermetic, loc);
    if (failed(text))
      return fail();
    record(Stage::Sass, [&] { return *text; });
  }
  if (wants(Stage::Json))
    result.artifacts.push_back({Stage::Json, result.description});
  if (wants(Stage::Cubin))
    result.artifacts.push_back({Stage::Cubin, std::move(assembly.cubin)});
}

/// The interpreter's image is the module with its places, for what it finds wrong in a launch.
void Compilation::finishInterpreted(mlir::ModuleOp module) {
  dropFolders(module);
  orderUseLists(module);
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  description = describeInterpreted(module);
  describe("tk", text, {}, makeProducer());
  result.artifacts.push_back({Stage::Tk, std::move(text)});
}

CompileResult Compilation::run() {
  crashOnPurpose(options.testCrash);
  std::optional<Stage> kind = stageOfInputName(input.path);
  if (!kind)
    kind = stageOfInputText(input.text);
  if (!kind) {
    withHelp(emit<diag::UnknownInput>(loc, input.path), "tkc reads .tk, .mlir, .ll and .ptx files");
    fail();
  } else if (*kind == Stage::Ast) {
    fromSource();
  } else if (checkSourceOptions()) {
    stageInput = true;
    if (*kind == Stage::Tk)
      fromMlir();
    else if (*kind == Stage::Llvm)
      fromLlvmText();
    else
      fromPtx(input.text, /*generated=*/false);
  }
  return std::move(result);
}

mlir::OwningOpRef<mlir::ModuleOp> tk::compileToTk(const CompileOptions &options,
                                                  const Input &input, mlir::MLIRContext &context,
                                                  int &status) {
  status = 1;
  setActivity("reading the source");
  if (stageOfInputName(input.path) == Stage::Tk) {
    mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
        readMlir(context, input.path, input.text);
    return failed(module) ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(*module);
  }
  SourceFile source(input.path, input.text);
  llvm::FailureOr<std::unique_ptr<ast::File>> file = parseFile(context, source);
  if (failed(file))
    return {};
  loadSourceDialects(context);
  LowerError kind = LowerError::None;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      lowerToTk(context, source, **file, options.lower, &kind);
  if (!failed(module))
    return std::move(*module);
  status = kind == LowerError::CommandLine ? 2 : 1;
  return {};
}

CompileResult tk::compile(const CompileOptions &options, const Input &input,
                          const std::string &outputName, mlir::MLIRContext &context) {
  PhaseTimes times(options.timePasses);
  mlir::TimingScope root = times.getRootScope();
  CompileResult result = Compilation(options, input, outputName, context, root).run();
  root.stop();
  times.print(llvm::errs());
  return result;
}
