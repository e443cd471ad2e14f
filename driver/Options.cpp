//===- Options.cpp - the command line as one struct -----------------------------===//
//
// Converts and checks what OptionTable read. The first mistake is the one reported.
//
//===----------------------------------------------------------------------===//

#include "driver/Options.h"
#include "backends/target/Targets.h"
#include "bundle/Embed.h"
#include "driver/OptionTable.h"
#include "driver/Units.h"
#include "frontend/SemaScope.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"

using namespace tk;
using llvm::StringRef;

namespace {

/// Checks RawOptions and fills CompileOptions; keeps the first mistake only.
class Converter {
public:
  Converter(RawOptions &raw, CommandLine &line) : raw(raw), line(line), to(line.options) {}

  void run(Command command) {
    switch (command) {
    case Command::Compile:
      line.action = CommandLine::Action::Compile;
      convertInputs();
      convertStages();
      convertTargets();
      convertLevels();
      convertLowering();
      convertBundle();
      break;
    case Command::Run:
      line.action = CommandLine::Action::Run;
      convertRun();
      convertLowering();
      break;
    case Command::Link:
    case Command::Extract:
    case Command::Size:
    case Command::Notices:
      line.action = CommandLine::Action::Bundle;
      convertBundleCommand();
      break;
    case Command::Tune:
    case Command::Merge:
    case Command::Bench:
      line.action = CommandLine::Action::Tune;
      convertTuning(command);
      convertTargets();
      convertLevels();
      convertLowering();
      break;
    case Command::Format:
      line.action = CommandLine::Action::Format;
      convertFormat();
      break;
    }
    convertInsight();
    for (const std::string &warning : raw.warnings)
      convertWarning(warning);
    if (!line.errors.empty())
      line.action = CommandLine::Action::Wrong;
  }

  template <const DiagSpec &Spec, class... Args>
  void wrong(int status, StringRef help, Args &&...args) {
    report(status, commandLineDiag<Spec>(help, std::forward<Args>(args)...));
  }

  /// The first mistake is kept.
  void report(int status, const DiagRecord &mistake) {
    if (!line.errors.empty())
      return;
    line.errors.push_back(mistake);
    line.status = status;
  }

private:
  void convertInputs();
  void convertStages();
  void convertOutputName();
  void convertTargets();
  bool convertTarget(StringRef name);
  void convertBundle();
  void convertEmbedding();
  void convertBundleCommand();
  void checkBundleStages();
  bool asksForUnits() const;
  void convertLowering();
  void convertLevels();
  void convertInsight();
  void convertRun();
  void convertOrder();
  void convertFormat();
  void convertTuning(Command command);
  void convertWarning(StringRef warning);

  /// An integer of [lowest, highest], if `text` was given.
  std::optional<int> integer(StringRef option, StringRef text, int lowest, int highest) {
    int result = 0;
    std::optional<DiagRecord> mistake = convertInteger(option, text, lowest, highest, result);
    if (mistake)
      report(2, *mistake);
    return mistake || text.empty() ? std::nullopt : std::optional(result);
  }

  RawOptions &raw;
  CommandLine &line;
  CompileOptions &to;
};

void Converter::convertInputs() {
  static constexpr StringRef commands[] = {"run",     "bench", "tune",    "fmt",
                                           "explain", "lsp",   "report",  "targets",
                                           "link",    "size",  "notices", "extract"};
  if (raw.words.empty())
    return wrong<diag::NoInput>(2, "tkc FILE.tk -o FILE.cubin; `tkc --help` has the rest");
  if (raw.words.size() > 1) {
    for (const std::string &input : raw.words)
      if (llvm::is_contained(commands, input))
        return wrong<diag::CommandNotFirst>(2, "", input);
    StringRef first = raw.words[0], second = raw.words[1];
    std::string help = "one call compiles one file";
    if (second.contains('='))
      help = "-D " + second.str() + " gives a compile-time parameter; `tkc run` takes arguments";
    else if (!first.contains('.')) {
      llvm::ArrayRef<StringRef> names(commands);
      StringRef nearest = nearestName(first, names);
      help = nearest.empty() ? "the commands are " + llvm::join(names, ", ")
                             : "did you mean `tkc " + nearest.str() + "`?";
    }
    return wrong<diag::SeveralInputs>(2, help, first, second);
  }
  if (raw.words[0].empty())
    return wrong<diag::NoInput>(2, "the name of the input is empty");
  to.input = raw.words[0];
}

/// What there is in place of a stage that is not built.
static StringRef helpForLater(StringRef name) {
  return name.ends_with("fatbin") ? "a bundle holds code for several chips: -o FILE.tkb" : "";
}

void Converter::convertStages() {
  for (const std::string &name : raw.emit) {
    StageLookup found = findStage(name);
    if (found.notBuiltYet)
      return wrong<diag::ToolNotBuiltYet>(1, helpForLater(name), "stage `" + name + "`");
    if (!found.stage)
      return wrong<diag::UnknownStage>(2, "the stages are " + stageNames(), name);
    if (!llvm::is_contained(to.stages, *found.stage))
      to.stages.push_back(*found.stage);
  }
  llvm::sort(to.stages);
  to.output = raw.output;
  to.stopAfter = raw.stopAfter;
  if (to.stages.empty())
    convertOutputName();
  else if (!raw.stopAfter.empty())
    wrong<diag::OptionSyntax>(2, "drop --emit: --stop-after writes the module as it is there",
                              "`--stop-after` and `--emit` exclude each other");
  checkBundleStages();
  to.metadata = raw.metadata;
  to.dumpDir = raw.dumpDir;
  to.saveTemps = raw.saveTemps;
  to.depfilePath = raw.depfilePath;
  to.depfile = raw.depfile || !raw.depfilePath.empty();
}

/// A bundle holds binaries: no stage of one kernel stands beside it or goes into a file of its kind.
void Converter::checkBundleStages() {
  if (!line.errors.empty())
    return;
  bool bundle = isBundleStage(to.stages.back());
  if (bundle && !isBundleStage(to.stages.front()))
    return wrong<diag::MixedBundleStages>(2, "write the stages of one kernel in a call of their own",
                                          stageName(to.stages.front()),
                                          stageName(to.stages.back()));
  StageLookup named = findStageOfOutput(raw.output);
  if (named.stage && isBundleStage(*named.stage) && !bundle)
    return wrong<diag::MixedBundleStages>(
        2, "drop --emit, or name the file " + stageExtension(to.stages.back()).str(),
        stageName(to.stages.back()), raw.output);
  if (bundle && !raw.metadata.empty())
    wrong<diag::MetadataNeedsBinary>(2, "the JSON stands in the bundle; `tkc extract` writes it",
                                     stageName(to.stages.back()));
}

/// What several units, or one that is no binary of a chip, come from.
bool Converter::asksForUnits() const {
  bool images = llvm::any_of(raw.targets, isImageTarget), link = !line.bundle.name.empty();
  return link || raw.targets.size() > 1 || images || !raw.fallbacks.empty() || raw.withInterp ||
         raw.config == "all" || raw.config == "tuned" || !raw.tuned.empty();
}

/// Without --emit the output's extension says what is wanted.
void Converter::convertOutputName() {
  StringRef name = raw.output;
  bool folder = name.ends_with("/") || llvm::sys::fs::is_directory(name);
  if (!raw.stopAfter.empty()) {
    to.stages = {Stage::Tkg};
    if (!name.empty() && name != "-" && !folder && !name.ends_with(".mlir"))
      wrong<diag::UnknownOutputExtension>(2, "--stop-after writes MLIR: name it .mlir", name);
    return;
  }
  to.stages = {asksForUnits() ? Stage::Bundle : Stage::Cubin};
  if (name.empty() || name == "-" || folder)
    return;
  StageLookup found = findStageOfOutput(name);
  if (found.notBuiltYet)
    return wrong<diag::ToolNotBuiltYet>(1, helpForLater(name),
                                        "the output of `" + name.str() + "`");
  if (!found.stage)
    return wrong<diag::UnknownOutputExtension>(
        2, "--emit=STAGE says it; the extensions are in `tkc --help`", name);
  to.stages = {*found.stage};
}

bool Converter::convertTarget(StringRef name) {
  if (name == "native") {
    wrong<diag::ToolNotBuiltYet>(1, "name the chip, see `tkc targets`", "`--target=native`");
    return false;
  }
  if (name == "cpu" || fallbackChip(name))
    return true;
  const Target *target = findTarget(name);
  if (target && target->supported)
    return true;
  if (target) {
    wrong<diag::TargetNotBuilt>(1, "supported: " + supportedTargetNames(), name);
    return false;
  }
  StringRef nearest = nearestTarget(name);
  std::string help = isImageTarget(name) ? "PTX for newer chips is " + fallbackNames()
                     : nearest.empty()   ? "`tkc targets` lists them"
                                         : "did you mean `" + nearest.str() + "`?";
  wrong<diag::UnknownTarget>(2, help, name);
  return false;
}

void Converter::convertTargets() {
  for (const std::string &name : raw.targets)
    if (!convertTarget(name))
      return;
  to.onlyImageTargets = !raw.targets.empty() && llvm::all_of(raw.targets, isImageTarget);
  std::vector<std::string> all = raw.targets;
  for (const std::string &name : raw.fallbacks) {
    if (!fallbackChip(name))
      return wrong<diag::BadFallback>(2, "PTX for newer chips is " + fallbackNames(), name);
    all.push_back(name);
  }
  if (raw.withInterp)
    all.push_back("cpu");
  for (const std::string &name : all)
    if (!llvm::is_contained(to.targets, name))
      to.targets.push_back(name);
  if (to.targets.size() == 1)
    to.target = to.targets.front();
}

void Converter::convertEmbedding() {
  to.hostTarget = raw.hostTarget;
  if (!raw.hostTarget.empty() && !elfMachineOf(raw.hostTarget))
    return wrong<diag::UnknownHostTarget>(
        2, "for " + hostTargetNames() + "; other machines assemble -o k.S", raw.hostTarget);
  if (raw.symbolPrefix.empty())
    return;
  to.symbolPrefix = raw.symbolPrefix;
  if (!llvm::Regex("^[A-Za-z_][A-Za-z0-9_]*$").match(raw.symbolPrefix))
    wrong<diag::BadOptionValue>(2, "letters, digits and _", "--symbol-prefix", raw.symbolPrefix);
}

/// What only a bundle holds is refused for one binary.
void Converter::convertBundle() {
  to.tuned = raw.tuned;
  to.listVariants = raw.listVariants;
  to.maxVariants = size_t(integer("--max-variants", raw.maxVariants, 1, 65536).value_or(256));
  to.configs = raw.config == "all" ? CompileOptions::Configs::All
               : raw.config == "tuned" || (raw.config.empty() && !raw.tuned.empty())
                   ? CompileOptions::Configs::Tuned
                   : CompileOptions::Configs::One;
  convertEmbedding();
  if (!raw.listVariants.empty() && raw.listVariants != "text" && raw.listVariants != "json")
    return wrong<diag::BadOptionValue>(2, "text or json", "--list-variants", raw.listVariants);
  if (raw.config == "tuned" && raw.tuned.empty())
    return wrong<diag::BadOptionValue>(2, "--tuned=TABLE names them", "--config", "tuned");
  if (line.errors.empty() && asksForUnits() && raw.listVariants.empty() &&
      !isBundleStage(to.stages.front())) {
    StringRef what = raw.targets.size() > 1    ? "several targets"
                     : raw.withInterp          ? "images for the interpreter"
                     : !raw.tuned.empty()      ? "tuning tables"
                     : raw.fallbacks.size()    ? "several images"
                     : raw.config.size() && to.configs != CompileOptions::Configs::One
                         ? "several configurations"
                         : "PTX and images for the interpreter by --target";
    wrong<diag::NeedsBundle>(2, "-o FILE.tkb writes a bundle", what,
                             "a file of stage `" + stageName(to.stages.back()).str() + "`");
  }
}

/// tkc link, size, notices, extract.
void Converter::convertBundleCommand() {
  StringRef name = line.bundle.name;
  line.bundle.files = raw.words;
  if (raw.words.empty())
    return wrong<diag::NoInput>(2, "tkc " + name.str() + " FILE.tkb");
  if (raw.words.size() > 1 && name != "link")
    return wrong<diag::SeveralInputs>(2, "`tkc link` makes one bundle of several", raw.words[0],
                                      raw.words[1]);
  to.input = raw.words[0];
  if (name == "size" || name == "notices")
    return;
  if (raw.output.empty())
    return wrong<diag::OptionNeedsValue>(2, "name the output", "-o");
  to.output = raw.output;
  if (name == "extract")
    return;
  convertStages();
  if (line.errors.empty() && !isBundleStage(to.stages.front()))
    wrong<diag::OptionSyntax>(2, "name the output .tkb, .o, .S or .h",
                              "`tkc link` writes bundles and what embeds them");
  convertEmbedding();
}

void Converter::convertLowering() {
  LowerOptions &lower = to.lower;
  lower.kernels = raw.kernels;
  lower.assumptions = raw.assumptions;
  for (const std::string &define : raw.defines) {
    auto [name, value] = StringRef(define).split('=');
    if (name.empty() || name.size() == define.size())
      return wrong<diag::BadOptionValue>(2, "write -D NAME=VALUE", "-D", define);
    lower.defines.push_back({name.str(), value.str()});
  }
  lower.warps = integer("--warps", raw.warps, 1, 32);
  if (lower.warps && !llvm::isPowerOf2_32(*lower.warps))
    wrong<diag::BadOptionValue>(2, "a power of two up to 32", "--warps", raw.warps);
  lower.stages = integer("--stages", raw.stages, 1, 16);
  lower.maxregs = integer("--maxregs", raw.maxregs, 16, 255);
  lower.ctas = integer("--ctas", raw.ctas, 1, 16);
  if (lower.ctas && *lower.ctas != 1)
    wrong<diag::ToolNotBuiltYet>(1, "", "a cluster of blocks (`--ctas`)");
  lower.includes = raw.includes;
  to.hasConfig = !raw.config.empty();
  if (raw.config != "tuned" && raw.config != "all")
    lower.config = integer("--config", raw.config, 0, 1 << 20);
}

void Converter::convertLevels() {
  to.optLevel = integer("-O", raw.optLevel, 0, 3).value_or(3);
  to.lineInfo = raw.lineInfo;
  to.lower.asserts = raw.asserts;
  to.ptxas = raw.ptxas;
  to.libdevice = raw.libdevice;
  to.hermetic = raw.hermetic;
}

void Converter::convertInsight() {
  to.jobs = integer("-j", raw.jobs, 1, 1024).value_or(0);
  to.printBefore = raw.printBefore;
  to.printAfter = raw.printAfter;
  to.timePasses = raw.timePasses;
  to.verbose = raw.verbose;
  to.verifyPhases = raw.verifyPhases;
  to.verifyDiagnostics = raw.verifyDiagnostics;
  to.testCrash = raw.testCrash;
  if (!raw.remarks.empty()) {
    to.policy.showRemarks = true;
    to.policy.remarkFilter = raw.remarks;
    std::string reason;
    if (!llvm::Regex(raw.remarks).isValid(reason))
      wrong<diag::BadOptionValue>(2, "not a regular expression: " + reason, "--remarks",
                                  raw.remarks);
  }
  if (!raw.diagnostics.empty() && raw.diagnostics != "text" && raw.diagnostics != "json")
    wrong<diag::BadOptionValue>(2, "text or json", "--diagnostics", raw.diagnostics);
}

/// `tkc run`: the first word is the file, the others are arguments.
void Converter::convertRun() {
  if (raw.words.empty())
    return wrong<diag::NoInput>(2, "tkc run FILE.tk x=randn:f32:1024 --print y");
  RunOptions &to = line.run;
  to.file = raw.words.front();
  to.commandLine = line.options.commandLine;
  to.args.assign(raw.words.begin() + 1, raw.words.end());
  if (!raw.kernels.empty())
    to.kernel = raw.kernels.back();
  if (!raw.engine.empty())
    to.engine = raw.engine;
  to.outs = raw.outs;
  to.prints = raw.prints;
  to.lets = raw.lets;
  to.expects = raw.expects;
  to.bounds = raw.bounds;
  to.threads = unsigned(integer("-j", raw.jobs, 1, 1024).value_or(0));
  to.checks.bounds = raw.checkBounds;
  to.checks.init = raw.checkInit;
  to.checks.access = raw.checkAccess;
  to.checks.races = raw.checkRaces;
  to.checks.arithmetic = raw.checkArithmetic;
  if (raw.checkNan || raw.noCheckNan)
    to.checks.nan = raw.checkNan ? interp::NanCheck::Error : interp::NanCheck::Off;
  to.sms = integer("--sms", raw.sms, 1, 1 << 20).value_or(4);
  to.window = integer("--live", raw.live, 1, 1 << 20).value_or(64);
  convertOrder();
  if (raw.config == "all" || raw.config == "tuned")
    wrong<diag::BadOptionValue>(2, "a number: `tkc run` runs one", "--config", raw.config);
  line.options.input = to.file;
  line.options.stages = {Stage::Tk};
}

void Converter::convertOrder() {
  RunOptions &to = line.run;
  StringRef order = raw.order;
  if (order == "reverse")
    to.order = interp::Order::Reverse;
  else if (order.consume_front("shuffle:") && !order.getAsInteger(0, to.seed))
    to.order = interp::Order::Shuffle;
  else if (!order.empty() && order != "forward")
    wrong<diag::BadOptionValue>(2, "forward, reverse or shuffle:SEED", "--order", raw.order);
}

/// `tkc tune`, `tkc tune merge` and `tkc bench`.
void Converter::convertTuning(Command command) {
  if (std::optional<DiagRecord> mistake = convertTune(raw, command, line.tune))
    report(2, *mistake);
  if (!raw.words.empty())
    to.input = raw.words.front();
  if (raw.config == "all" || raw.config == "tuned")
    wrong<diag::BadOptionValue>(2, "a number; all of them is the default of `tkc tune`", "--config",
                                raw.config);
}

/// `tkc fmt`: every word is a file.
void Converter::convertFormat() {
  if (raw.words.empty())
    return wrong<diag::NoInput>(2, "tkc fmt FILE.tk; `-` is standard input");
  line.format = {raw.words, raw.fmtCheck, raw.fmtDiff};
}

/// The code of the warning called `name` ("TK2101" or "unused-name"), or 0.
static int warningCode(StringRef name) {
  for (const DiagSpec *spec : allDiagnostics())
    if (spec->severity == mlir::DiagnosticSeverity::Warning &&
        (name == "TK" + std::to_string(spec->code) || name == diagnosticName(*spec)))
      return spec->code;
  return 0;
}

void Converter::convertWarning(StringRef warning) {
  if (warning == "error") {
    to.policy.warningsAreErrors = true;
    return;
  }
  if (warning == "all") // all are on unless hidden
    return;
  std::vector<int> *codes = nullptr;
  StringRef name = warning;
  if (name.consume_front("error="))
    codes = &to.policy.errorWarnings;
  else if (name.consume_front("no-error="))
    codes = &to.policy.plainWarnings;
  else if (name.consume_front("no-"))
    codes = &to.policy.hiddenWarnings;
  int code = warningCode(name);
  if (!code)
    return wrong<diag::UnknownWarning>(2, "-Wno-TK2031 hides the warning with that code", name);
  if (codes)
    codes->push_back(code);
  if (code == diag::UnusedDefine.code && name != warning)
    to.lower.unknownDefines = codes != &to.policy.errorWarnings;
}

} // namespace

/// The command that is the first word, if it is one.
static std::optional<CommandLine> parseCommand(llvm::ArrayRef<const char *> args) {
  CommandLine line;
  StringRef word = args.size() > 1 ? args[1] : "";
  line.words.assign(args.begin() + std::min<size_t>(2, args.size()), args.end());
  if (word == "targets" && line.words.empty())
    line.action = CommandLine::Action::Targets;
  else if (word == "explain" && line.words.size() == 1)
    line.action = CommandLine::Action::Explain;
  else if (word == "targets" || word == "explain")
    line.errors.push_back(
        word == "targets"
            ? commandLineDiag<diag::OptionSyntax>("", "`tkc targets` takes no arguments")
            : commandLineDiag<diag::OptionSyntax>(
                  "a code, TK2011 or 2011, or a name, shape-mismatch: the page of that message",
                  "`tkc explain` takes one code"));
  else if (llvm::is_contained({"lsp", "report"}, word)) {
    line.errors.push_back(commandLineDiag<diag::ToolNotBuiltYet>("", "`tkc " + word.str() + "`"));
    line.status = 1;
  } else
    return std::nullopt;
  return line;
}

std::optional<DiagRecord> tk::convertInteger(StringRef option, StringRef text, int lowest,
                                             int highest, int &to) {
  int value = 0;
  if (text.empty())
    return std::nullopt;
  if (text.getAsInteger(10, value) || value < lowest || value > highest)
    return commandLineDiag<diag::BadOptionValue>(
        llvm::formatv("an integer from {0} to {1}", lowest, highest).str(), option, text);
  to = value;
  return std::nullopt;
}

/// The command that the words behind the program's name begin with.
static Command findCommand(llvm::ArrayRef<const char *> words) {
  auto begins = [&](StringRef name) {
    llvm::SmallVector<StringRef> parts;
    name.split(parts, ' '); // the first is `tkc`
    return words.size() + 1 >= parts.size() &&
           llvm::all_of(llvm::enumerate(llvm::drop_begin(parts)),
                        [&](const auto &part) { return part.value() == words[part.index()]; });
  };
  using enum Command; // `tune merge` is looked for before `tune`
  for (Command command : {Run, Format, Link, Extract, Size, Notices, Merge, Tune, Bench})
    if (begins(commandName(command)))
      return command;
  return Compile;
}

CommandLine tk::parseCommandLine(llvm::ArrayRef<const char *> args) {
  if (std::optional<CommandLine> command = parseCommand(args))
    return *command;
  CommandLine line;
  line.options.commandLine.assign(args.begin(), args.end());
  llvm::ArrayRef<const char *> words = args.drop_front(std::min<size_t>(1, args.size()));
  Command command = findCommand(words);
  using enum Command;
  if (llvm::is_contained({Link, Extract, Size, Notices}, command))
    line.bundle.name = words.front();
  size_t skipped = command == Compile ? 0 : commandName(command).count(' ');
  RawOptions raw;
  std::optional<DiagRecord> wrong =
      parseWords(words.drop_front(skipped), command, raw);
  line.options.jsonDiagnostics = raw.diagnostics == "json";
  if (wrong)
    line.errors.push_back(*wrong);
  else if (raw.help || raw.helpHidden)
    line.action = raw.help ? CommandLine::Action::Help : CommandLine::Action::HelpHidden;
  else
    Converter(raw, line).run(command);
  return line;
}
