//===- Options.cpp - the command line as one struct -----------------------------===//
//
// All options are declared here, each with the line of --help that shows it. CLI11 only splits the
// words: values stay strings and are converted below, so that every mistake gets one message of
// the same form. Ways of CLI11 2.1.2 that are worked around: -MD and -MF are no legal names (they
// are rewritten first), a flag with an optional value swallows the next word unless it is declared
// as "--remarks{.*}", and lists do so without allow_extra_args(false).
//
//===----------------------------------------------------------------------===//

#include "driver/Options.h"
#include "backends/target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include <CLI/CLI.hpp>

using namespace tk;
using llvm::StringRef;

namespace {

struct HelpLine {
  std::string group, spelling, text;
  bool hidden;
};

/// What CLI11 fills, before it is checked.
struct RawOptions {
  std::vector<std::string> inputs, emit, defines, assumptions, kernels, includes, warnings;
  std::vector<std::string> printBefore, printAfter;
  std::string output, metadata, dumpDir, depfilePath, target, config, warps, stages, ctas, maxregs;
  std::string ptxas, libdevice, stopAfter, optLevel, jobs, diagnostics, remarks, testCrash;
  bool saveTemps = false, depfile = false, hermetic = false, lineInfo = false, verbose = false;
  bool timePasses = false, verifyPhases = false, verifyDiagnostics = false;
  bool help = false, helpHidden = false, version = false;
};

/// CLI11's application together with the lines of --help.
class OptionTable {
public:
  explicit OptionTable(RawOptions &raw) : app("", "tkc"), raw(raw) {
    app.set_help_flag();
    app.allow_extras();
    app.add_option("input", raw.inputs)->allow_extra_args(false);
    declareOutputs();
    declareCode();
    declareTools();
    declareInsight();
    declareGeneral();
    declareHidden();
  }

  CLI::App app;
  std::vector<HelpLine> lines;
  std::vector<std::string> names; // for "did you mean"

private:
  void value(const char *cliNames, const char *spelling, const char *text, std::string &into) {
    app.add_option(cliNames, into)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    addLine(cliNames, spelling, text);
  }
  void list(const char *cliNames, const char *spelling, const char *text,
            std::vector<std::string> &into, char delimiter = '\0') {
    CLI::Option *option = app.add_option(cliNames, into)->allow_extra_args(false);
    if (delimiter)
      option->delimiter(delimiter);
    addLine(cliNames, spelling, text);
  }
  void flag(const char *cliNames, const char *spelling, const char *text, bool &into) {
    app.add_flag(cliNames, into)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    addLine(cliNames, spelling, text);
  }
  void addLine(StringRef cliNames, const char *spelling, const char *text) {
    lines.push_back({group, spelling, text, hidden});
    llvm::SmallVector<StringRef> parts;
    cliNames.split(parts, ',');
    for (StringRef part : parts)
      names.push_back(part.take_until([](char c) { return c == '{'; }).str());
  }

  void declareOutputs();
  void declareCode();
  void declareTools();
  void declareInsight();
  void declareGeneral();
  void declareHidden();

  RawOptions &raw;
  const char *group = "";
  bool hidden = false;
};

void OptionTable::declareOutputs() {
  group = "Outputs";
  value("-o", "-o OUT",
        "file to write; its extension picks the stage: .cubin .ptx .ll\n"
        ".llvm.mlir .tkg.mlir .tk.mlir (also plain .mlir) .json .sass.\n"
        "OUT/ is a folder, - is standard output. Without -o text goes to\n"
        "standard output, a binary to STEM.cubin in this folder",
        raw.output);
  list("--emit", "--emit=STAGE[,STAGE]",
       "stages to write, whatever OUT's extension: ast tk tkg\n"
       "llvm-dialect llvm ptx cubin sass json. Several need -o DIR/ or\n"
       "--dump-dir",
       raw.emit, ',');
  value("--metadata", "--metadata=PATH", "where the JSON goes (default: OUT.json beside the binary)",
        raw.metadata);
  value("--dump-dir", "--dump-dir=DIR",
        "folder for every text stage on the way, or for the stages of\n--emit", raw.dumpDir);
  flag("--save-temps", "--save-temps", "write every text stage on the way beside OUT",
       raw.saveTemps);
  flag("--MD", "-MD", "write a dependency file for make and ninja", raw.depfile);
  value("--MF", "-MF FILE", "its name (default: OUT with the extension .d); implies -MD",
        raw.depfilePath);
}

void OptionTable::declareCode() {
  group = "What is compiled";
  value("--target", "--target=NAME", "chip, see `tkc targets` (default sm_90a, said in a note)",
        raw.target);
  list("-k,--kernel", "-k, --kernel=NAME", "one kernel of the file, may be repeated (default: all)",
       raw.kernels);
  list("-D", "-D NAME=VALUE", "compile-time parameter: integer, bool, dtype or string", raw.defines);
  value("--warps", "--warps=N", "warps of a block: a power of two up to 32", raw.warps);
  value("--stages", "--stages=N", "stages of a software pipeline", raw.stages);
  value("--ctas", "--ctas=N", "blocks of a cluster", raw.ctas);
  value("--maxregs", "--maxregs=N", "most registers of a thread, 16 to 255", raw.maxregs);
  list("--assume", "--assume=EXPR",
       "a fact about run-time parameters that the loader checks, like\n'N % 16 == 0'", raw.assumptions);
  value("--config", "--config=I", "which of the @tune configurations (default 0)", raw.config);
  value("-O", "-O0 -O1 -O2 -O3", "effort of LLVM and of the assembler (default -O3)", raw.optLevel);
  flag("-g", "-g", "line tables for profilers and debuggers; stages show places", raw.lineInfo);
  list("-I", "-I DIR", "folder in which imports are looked for", raw.includes);
}

void OptionTable::declareTools() {
  group = "Tools";
  value("--ptxas", "--ptxas=PATH",
        "the assembler (default: as tkc was configured, else PATH, which is\nsaid in a note)",
        raw.ptxas);
  value("--libdevice", "--libdevice=PATH",
        "libdevice.10.bc (default: as tkc was configured)", raw.libdevice);
  flag("--hermetic", "--hermetic", "refuse what is found on PATH", raw.hermetic);
}

void OptionTable::declareInsight() {
  group = "Looking inside";
  app.add_flag("--remarks{.*}", raw.remarks)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  addLine("--remarks{.*}", "--remarks[=REGEX]",
          "show remarks, or those whose \"TKnnnn: text\" matches");
  list("--print-ir-before", "--print-ir-before=PASS", "print the module before a pass, or `all`",
       raw.printBefore, ',');
  list("--print-ir-after", "--print-ir-after=PASS", "print the module after a pass, or `all`",
       raw.printAfter, ',');
  value("--stop-after", "--stop-after=PASS", "stop there and write the module", raw.stopAfter);
  flag("--verify-phases", "--verify-phases", "check the rules of the phase after every pass",
       raw.verifyPhases);
  flag("--time-passes", "--time-passes", "say where the time went", raw.timePasses);
  flag("-v", "-v", "say what is done and run, and what a kernel takes", raw.verbose);
}

void OptionTable::declareGeneral() {
  group = "Messages and the rest";
  value("--diagnostics", "--diagnostics=text|json", "form of messages (default text)",
        raw.diagnostics);
  list("-W", "-Wno-NAME -Werror[=NAME]",
       "hide a warning; make warnings, or one, errors. NAME is a code\n"
       "like TK2101 or a name like unused-name",
       raw.warnings);
  value("-j", "-j N", "threads to use; never changes the output", raw.jobs);
  flag("--version", "--version", "print the version", raw.version);
  flag("-h,--help", "-h, --help", "print this text", raw.help);
  flag("--help-hidden", "--help-hidden", "print it with the options for tests", raw.helpHidden);
}

void OptionTable::declareHidden() {
  group = "For tests";
  hidden = true;
  flag("--verify-diagnostics", "--verify-diagnostics",
       "compare what is reported with `expected-error {{text}}` comments", raw.verifyDiagnostics);
  value("--test-crash", "--test-crash=KIND",
        "crash while compiling: segv, abort, fatal or stack", raw.testCrash);
}

/// Checks RawOptions and fills CompileOptions; keeps the first mistake only.
class Converter {
public:
  Converter(RawOptions &raw, CommandLine &line) : raw(raw), line(line), to(line.options) {}

  void run() {
    convertInputs();
    convertStages();
    convertTarget();
    convertLowering();
    convertLevels();
    convertInsight();
    for (const std::string &warning : raw.warnings)
      convertWarning(warning);
    line.action = line.errors.empty() ? CommandLine::Action::Compile : CommandLine::Action::Wrong;
  }

  template <const DiagSpec &Spec, class... Args>
  void wrong(int status, StringRef help, Args &&...args) {
    if (!line.errors.empty())
      return;
    line.errors.push_back(commandLineDiag<Spec>(help, std::forward<Args>(args)...));
    line.status = status;
  }

private:
  void convertInputs();
  void convertStages();
  void convertOutputName();
  void convertTarget();
  void convertLowering();
  void convertLevels();
  void convertInsight();
  void convertWarning(StringRef warning);

  /// An integer of [lowest, highest], if `text` was given.
  std::optional<int> integer(StringRef option, StringRef text, int lowest, int highest) {
    if (text.empty())
      return std::nullopt;
    int result = 0;
    if (text.getAsInteger(10, result) || result < lowest || result > highest) {
      std::string help = llvm::formatv("an integer from {0} to {1}", lowest, highest).str();
      wrong<diag::BadOptionValue>(2, help, option, text);
      return std::nullopt;
    }
    return result;
  }

  RawOptions &raw;
  CommandLine &line;
  CompileOptions &to;
};

void Converter::convertInputs() {
  static constexpr llvm::StringLiteral commands[] = {"run",    "bench", "tune",   "fmt",
                                                     "explain", "lsp",  "report", "targets"};
  if (raw.inputs.empty())
    return wrong<diag::NoInput>(2, "tkc FILE.tk -o FILE.cubin; `tkc --help` has the rest");
  if (raw.inputs.size() > 1) {
    for (const std::string &input : raw.inputs)
      if (llvm::is_contained(commands, input))
        return wrong<diag::CommandNotFirst>(2, "", input);
    return wrong<diag::SeveralInputs>(2, "one call compiles one file", raw.inputs[0],
                                      raw.inputs[1]);
  }
  if (raw.inputs[0].empty())
    return wrong<diag::NoInput>(2, "the name of the input is empty");
  to.input = raw.inputs[0];
}

void Converter::convertStages() {
  for (const std::string &name : raw.emit) {
    StageLookup found = findStage(name);
    if (found.notBuiltYet)
      return wrong<diag::ToolNotBuiltYet>(1, "", "stage `" + name + "`");
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
  to.metadata = raw.metadata;
  to.dumpDir = raw.dumpDir;
  to.saveTemps = raw.saveTemps;
  to.depfilePath = raw.depfilePath;
  to.depfile = raw.depfile || !raw.depfilePath.empty();
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
  to.stages = {Stage::Cubin};
  if (name.empty() || name == "-" || folder)
    return;
  StageLookup found = findStageOfOutput(name);
  if (found.notBuiltYet)
    return wrong<diag::NotBuiltYet>(1, "", "the output of `" + name.str() + "`");
  if (!found.stage)
    return wrong<diag::UnknownOutputExtension>(
        2, "--emit=STAGE says it; the extensions are in `tkc --help`", name);
  to.stages = {*found.stage};
}

void Converter::convertTarget() {
  if (raw.target.empty())
    return;
  if (StringRef(raw.target).contains(','))
    return wrong<diag::ToolNotBuiltYet>(1, "compile for one target a call",
                                    "a bundle of several targets");
  if (raw.target == "native")
    return wrong<diag::ToolNotBuiltYet>(1, "name the chip, see `tkc targets`", "`--target=native`");
  const Target *target = findTarget(raw.target);
  if (!target) {
    StringRef nearest = nearestTarget(raw.target);
    std::string help = nearest.empty() ? "`tkc targets` lists them"
                                       : "did you mean `" + nearest.str() + "`?";
    return wrong<diag::UnknownTarget>(2, help, raw.target);
  }
  if (!target->supported)
    return wrong<diag::TargetNotBuilt>(1, "supported: " + supportedTargetNames(), raw.target);
  to.target = raw.target;
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
  if (raw.config == "tuned" || raw.config == "all")
    return wrong<diag::ToolNotBuiltYet>(1, "name one configuration by its number",
                                    "`--config=" + raw.config + "`");
  to.hasConfig = !raw.config.empty();
  lower.config = integer("--config", raw.config, 0, 1 << 20).value_or(0);
  if (!raw.includes.empty())
    wrong<diag::ToolNotBuiltYet>(1, "", "import (`-I`)");
}

void Converter::convertLevels() {
  to.optLevel = integer("-O", raw.optLevel, 0, 3).value_or(3);
  to.jobs = integer("-j", raw.jobs, 1, 1024).value_or(1);
  to.lineInfo = raw.lineInfo;
  to.ptxas = raw.ptxas;
  to.libdevice = raw.libdevice;
  to.hermetic = raw.hermetic;
}

void Converter::convertInsight() {
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

/// UnusedName becomes unused-name.
static std::string kebabCase(std::string_view name) {
  std::string result;
  for (char c : name) {
    if (llvm::isUpper(c) && !result.empty())
      result += '-';
    result += llvm::toLower(c);
  }
  return result;
}

/// The code of the warning called `name` ("TK2101" or "unused-name"), or 0.
static int warningCode(StringRef name) {
  for (const DiagSpec *spec : allDiagnostics())
    if (spec->severity == mlir::DiagnosticSeverity::Warning &&
        (name == "TK" + std::to_string(spec->code) || name == kebabCase(spec->name)))
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
    return wrong<diag::UnknownWarning>(2, "-Wno-TK2101 hides the warning with that code", name);
  if (codes)
    codes->push_back(code);
}

} // namespace

/// -MD and -MF are spelt --MD and --MF for CLI11.
static std::string rewriteWord(StringRef word) {
  if (word == "-MD" || word == "-MF" || word.starts_with("-MF="))
    return "-" + word.str();
  if (word.starts_with("-MF"))
    return "--MF=" + word.drop_front(3).str();
  return word.str();
}

/// The way back, for messages; of several names the last.
static std::string spellAgain(StringRef names) {
  StringRef name = names.rsplit(',').second.empty() ? names : names.rsplit(',').second;
  return name == "--MF" ? "-MF" : name.str();
}

static std::string nearestOption(StringRef word, const std::vector<std::string> &names) {
  StringRef name = word.take_until([](char c) { return c == '='; });
  StringRef best;
  unsigned bestDistance = 3;
  for (const std::string &candidate : names) {
    unsigned distance = name.edit_distance(candidate, true, bestDistance);
    if (candidate.size() > 2 && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best.empty() ? "`tkc --help` lists the options" : "did you mean `" + best.str() + "`?";
}

/// The command that is the first word, if it is one.
static std::optional<CommandLine> parseCommand(llvm::ArrayRef<const char *> args) {
  CommandLine line;
  StringRef word = args.size() > 1 ? args[1] : "";
  line.words.assign(args.begin() + std::min<size_t>(2, args.size()), args.end());
  if (word == "run")
    line.action = CommandLine::Action::Run;
  else if (word == "targets" && line.words.empty())
    line.action = CommandLine::Action::Targets;
  else if (word == "explain" && line.words.size() == 1)
    line.action = CommandLine::Action::Explain;
  else if (word == "targets" || word == "explain")
    line.errors.push_back(commandLineDiag<diag::OptionSyntax>(
        "", word == "targets" ? "`tkc targets` takes no arguments"
                              : "`tkc explain` takes one code, like TK3007"));
  else if (llvm::is_contained({"bench", "tune", "fmt", "lsp", "report"}, word)) {
    line.errors.push_back(commandLineDiag<diag::ToolNotBuiltYet>("", "`tkc " + word.str() + "`"));
    line.status = 1;
  } else
    return std::nullopt;
  return line;
}

CommandLine tk::parseCommandLine(llvm::ArrayRef<const char *> args) {
  if (std::optional<CommandLine> command = parseCommand(args))
    return *command;
  CommandLine line;
  for (const char *arg : args)
    line.options.commandLine.push_back(arg);
  RawOptions raw;
  OptionTable table(raw);
  Converter converter(raw, line);
  std::vector<std::string> words; // CLI11 takes them last first
  for (const char *arg : llvm::reverse(args.drop_front()))
    words.push_back(rewriteWord(arg));
  try {
    table.app.parse(words);
  } catch (const CLI::ArgumentMismatch &error) { // "--warps: 1 required TEXT missing"
    std::string name = StringRef(error.what()).split(':').first.str();
    converter.wrong<diag::OptionNeedsValue>(2, "", spellAgain(name));
    return line;
  } catch (const CLI::ParseError &error) {
    converter.wrong<diag::OptionSyntax>(2, "`tkc --help` lists the options", error.what());
    return line;
  }
  line.options.jsonDiagnostics = raw.diagnostics == "json";
  if (raw.help || raw.helpHidden) {
    line.action = raw.help ? CommandLine::Action::Help : CommandLine::Action::HelpHidden;
    return line;
  }
  for (const std::string &word : table.app.remaining()) {
    if (StringRef(word).starts_with("-") && word != "-")
      converter.wrong<diag::UnknownOption>(2, nearestOption(word, table.names), word);
    else
      raw.inputs.push_back(word);
  }
  converter.run();
  return line;
}

std::string tk::helpText(bool hidden) {
  RawOptions raw;
  OptionTable table(raw);
  std::string text = "Usage: tkc FILE [-o OUT] [OPTIONS]      compile a .tk file, or go on from a "
                     "stage that was written\n"
                     "       tkc run FILE.tk ARG...           run a kernel on this machine\n"
                     "       tkc targets                      list the chips\n"
                     "       tkc explain TKnnnn               explain a message\n";
  constexpr size_t column = 28;
  std::string group;
  for (const HelpLine &line : table.lines) {
    if (line.hidden && !hidden)
      continue;
    if (line.group != group)
      text += "\n" + (group = line.group) + ":\n";
    std::string left = "  " + line.spelling;
    left.resize(std::max(column, left.size() + 1), ' ');
    llvm::SmallVector<StringRef> parts;
    StringRef(line.text).split(parts, '\n');
    for (auto [i, part] : llvm::enumerate(parts))
      text += (i ? std::string(column, ' ') : left) + part.str() + "\n";
  }
  text += "\nExit status: 0 good, 1 errors in the input, 2 a wrong command line, 3 an internal "
          "error.\n";
  return text;
}
