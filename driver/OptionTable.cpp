//===- OptionTable.cpp - the options as they are declared ---------------------------===//
//
// Ways of CLI11 2.1.2 that are worked around: -MD and -MF are no legal names (they are rewritten
// first), a flag with an optional value swallows the next word unless it is declared as
// "--remarks{.*}", and lists do so without allow_extra_args(false).
//
//===----------------------------------------------------------------------===//

#include "driver/OptionTable.h"
#include "driver/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <CLI/CLI.hpp>

using namespace tk;
using llvm::StringRef;

namespace {

struct HelpLine {
  std::string group, spelling, text;
  bool hidden;
};

/// CLI11's application together with the lines of --help.
class OptionTable {
public:
  /// The options of a command, or all of them.
  OptionTable(RawOptions &raw, std::optional<Command> only) : app("", "tkc"), raw(raw) {
    app.set_help_flag();
    app.allow_extras();
    using enum Command;
    auto has = [&](std::initializer_list<Command> commands) {
      return !only || llvm::is_contained(commands, *only);
    };
    if (has({Compile})) {
      declareOutputs();
      declareTarget();
      declareBundle();
      declareTools();
      declareInsight();
    }
    if (has({Compile, Run, Tune, Bench}))
      declareCode();
    if (has({Run}))
      declareRun();
    if (has({Tune, Bench}))
      declareTune(has({Tune}), has({Bench}));
    if (has({Format}))
      declareFormat();
    if (only)
      declareShared(*only);
    declareGeneral(has({Compile, Run, Tune, Bench}));
    declareHidden(has({Compile, Run, Format}), has({Compile}));
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
    for (StringRef part : parts) {
      part.consume_front("!");
      names.push_back(part.take_until([](char c) { return c == '{'; }).str());
    }
  }

  void declareOutputs();
  void declareTarget();
  void declareCode();
  void declareBundle();
  void declareShared(Command command);
  void declareEmbedding();
  void declareTools();
  void declareInsight();
  void declareRun();
  void declareTune(bool tunes, bool compares);
  void declareFormat();
  void declareGeneral(bool compiles);
  void declareHidden(bool parses, bool compiles);

  RawOptions &raw;
  const char *group = "";
  bool hidden = false;
};

void OptionTable::declareOutputs() {
  group = "Outputs";
  value("-o", "-o OUT",
        "file to write; its extension picks the stage: .cubin .ptx .ll\n"
        ".llvm.mlir .tkg.mlir .tk.mlir (also plain .mlir) .json .sass,\n"
        ".tkb .o .S .h. OUT/ is a folder, - is standard output. Without -o\n"
        "text goes to standard output, a binary to STEM.cubin or STEM.tkb\n"
        "in this folder",
        raw.output);
  list("--emit", "--emit=STAGE[,STAGE]",
       "stages to write, whatever OUT's extension: ast tk tkg\n"
       "llvm-dialect llvm ptx cubin sass json, or of bundles: bundle\n"
       "object assembly header. Several need -o DIR/ or --dump-dir",
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

void OptionTable::declareTarget() {
  group = "Machine code";
  list("--target", "--target=NAME[,NAME]",
       "chip, see `tkc targets` (default sm_90a, said in a note). In a\n"
       "bundle several, also compute_80 (PTX) and cpu (interpreter)",
       raw.targets, ',');
  value("-O", "-O0 -O1 -O2 -O3", "effort of LLVM and of the assembler (default -O3)", raw.optLevel);
  flag("-g", "-g", "line tables for profilers and debuggers; stages show places", raw.lineInfo);
  flag("--asserts", "--asserts", "keep what `assert` claims: a launch stops where it is false", raw.asserts);
}

void OptionTable::declareBundle() {
  group = "Bundles (.tkb .o .S .h): several targets, instances, configurations";
  list("--fallback", "--fallback=compute_80", "PTX as well, which drivers compile for newer chips",
       raw.fallbacks, ',');
  flag("--with-interp", "--with-interp", "what the interpreter runs as well: target cpu",
       raw.withInterp);
  value("--tuned", "--tuned=TABLE",
        "JSON of the best configurations: goes into the bundle with those\nit names (--config=tuned, the default beside it)",
        raw.tuned);
  app.add_flag("--list-variants{text}", raw.listVariants)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  addLine("--list-variants{text}", "--list-variants[=json]", "print the units and compile nothing");
  value("--max-variants", "--max-variants=N", "more units are an error (default 256)",
        raw.maxVariants);
  declareEmbedding();
}

void OptionTable::declareEmbedding() {
  value("--host-target", "--host-target=TRIPLE",
        "machine of the object file: x86_64-linux, aarch64-linux\n(default: this one)",
        raw.hostTarget);
  value("--symbol-prefix", "--symbol-prefix=TEXT",
        "of the embedded bundle's two symbols (default tkc_bundle_)", raw.symbolPrefix);
}

/// What others take as well as `tkc FILE`, under which --help has the lines.
void OptionTable::declareShared(Command command) {
  if (command == Command::Link) {
    list("--emit", "--emit=STAGE[,STAGE]", "", raw.emit, ',');
    flag("--MD", "-MD", "", raw.depfile);
    value("--MF", "-MF FILE", "", raw.depfilePath);
    declareEmbedding();
  }
  if (command == Command::Link || command == Command::Extract)
    value("-o", "-o OUT", "", raw.output);
  if (command == Command::Tune || command == Command::Merge)
    value("-o,--out", "-o TABLE", "", raw.output);
  if (command == Command::Tune || command == Command::Bench) {
    declareTarget();
    declareTools();
  }
}

void OptionTable::declareTools() {
  group = "Tools";
  value("--ptxas", "--ptxas=PATH",
        "the assembler (default: as tkc was configured, else PATH); a name\n"
        "without a folder is looked up on PATH, which is said in a note",
        raw.ptxas);
  value("--libdevice", "--libdevice=PATH",
        "libdevice.10.bc (default: as tkc was configured)", raw.libdevice);
  flag("--hermetic", "--hermetic", "refuse what is found on PATH", raw.hermetic);
}

void OptionTable::declareInsight() {
  group = "Looking inside";
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

void OptionTable::declareCode() {
  group = "The kernel (also for `tkc run`)";
  list("-k,--kernel", "-k, --kernel=NAME", "one kernel of the file, may be repeated (default: all)",
       raw.kernels);
  list("-D", "-D NAME=VALUE",
       "compile-time parameter: integer, bool, dtype or string; NAME=A,B for\na bundle of both", raw.defines);
  value("--config", "--config=I|all|tuned",
        "which of the @tune configurations (default: the first that its\npreconditions and the chip admit); all and tuned make a bundle",
        raw.config);
  value("--warps", "--warps=N", "warps of a block: a power of two up to 32", raw.warps);
  value("--stages", "--stages=N", "stages of a software pipeline", raw.stages);
  value("--ctas", "--ctas=N", "blocks of a cluster (not built yet)", raw.ctas);
  value("--maxregs", "--maxregs=N", "most registers of a thread, 16 to 255", raw.maxregs);
  list("--assume", "--assume=EXPR",
       "a fact about run-time parameters that the loader checks, like\n'N % 16 == 0'",
       raw.assumptions);
  list("-I", "-I DIR", "folder in which imports are looked for", raw.includes);
}

void OptionTable::declareRun() {
  group = "tkc run FILE ARG...";
  lines.push_back({group, "NAME=RULE:DTYPE:SHAPE",
                   "an array: zeros ones full(v) arange rand randn randint(a,b) perm\n"
                   "empty; DTYPE and SHAPE (128x64) where the kernel leaves them open;\n"
                   "also :seed=N, :T (transposed in memory), :strides=40x1", false});
  lines.push_back({group, "NAME=@FILE.npy, NAME=[1,2]",
                   "an array from a file, from its elements; [ARRAY,ARRAY] where the\n"
                   "kernel takes a pointer to pointers", false});
  lines.push_back({group, "NAME=1000, NAME=OTHER",
                   "a scalar; the memory of another argument", false});
  value("--engine", "--engine=NAME", "interp (default); simt, gpu and compare are not built yet", raw.engine);
  list("--out", "--out NAME=@FILE.npy", "save an array afterwards", raw.outs);
  list("--print", "--print NAME", "print it", raw.prints);
  list("--let", "--let NAME=EXPR", "a name for a value that expectations use", raw.lets);
  list("--expect", "--expect=EXPR",
       "must hold afterwards, in f64 over whole arrays, like\n'allclose(y, x + 1, rtol=1e-5)'",
       raw.expects);
  list("--bound", "--bound NAME=@FILE.npy", "save how far engines may differ in an array",
       raw.bounds);
  value("--sms", "--sms=N", "processors of the device, for grids that ask (default 4)", raw.sms);
  value("--order", "--order=ORDER", "in which program instances run or take turns: forward (default),\n"
                                    "reverse or shuffle:SEED", raw.order);
  value("--live", "--live=N",
        "instances that are live at once where they wait for each other\n"
        "(default 64; all under @cooperative)", raw.live);
  flag("--check-bounds,!--no-check-bounds", "--no-check-bounds", "let accesses leave their array",
       raw.checkBounds);
  flag("--check-init,!--no-check-init", "--no-check-init", "let memory be read that nobody wrote",
       raw.checkInit);
  flag("--check-access,!--no-check-access", "--no-check-access",
       "let `in` be written and `out` be read", raw.checkAccess);
  flag("--check-races,!--no-check-races", "--no-check-races",
       "let program instances race", raw.checkRaces);
  flag("--check-arithmetic,!--no-check-arithmetic", "--no-check-arithmetic",
       "let integers be divided by zero or shifted too far", raw.checkArithmetic);
  flag("--check-nan", "--check-nan", "make the first NaN an error wherever it appears (default:\n"
                                     "a warning where it is stored)", raw.checkNan);
  flag("--no-check-nan", "--no-check-nan", "say nothing of NaN", raw.noCheckNan);
}

void OptionTable::declareTune(bool tunes, bool compares) {
  group = "tkc tune FILE --shape ...; tkc bench FILE --shape ... (also with -o TABLE, -k, -D, -j, ...)";
  list("--shape", "--shape=M=4096,N=64",
       "values of extents and scalars, and of x.e0, x.s0, p.span where the\n"
       "kernel leaves them open; may be repeated",
       raw.shapes);
  list("--fill", "--fill=x=RULE",
       "zeros, ones, rand, arange, perm or randint(LOW,HIGH); floats are\n"
       "random and integers 0 otherwise",
       raw.fills);
  value("--rounds", "--rounds=N", "turns of each configuration (default 5)", raw.rounds);
  value("--timeout", "--timeout=S", "seconds after which a launch counts as hung (default 10)", raw.timeout);
  value("--device", "--device=N", "which GPU (default 0)", raw.device);
  if (tunes) {
    value("--cache", "--cache=DIR", "tune: keep times there, so that nothing is timed twice", raw.cache);
    value("--search", "--search=HOW", "tune: exhaustive (default) or halving", raw.search);
    value("--shard", "--shard=K/N", "tune: part K of N of shapes and configurations", raw.shard);
    value("--why", "--why=TABLE", "tune: time nothing, say which record of TABLE a shape gets", raw.why);
  }
  if (compares) {
    value("--baseline", "--baseline=FILE", "bench: a bundle or source to compare with, A B A B",
          raw.baseline);
    value("--svg", "--svg=FILE", "bench: how the launches' times spread", raw.svg);
  }
  flag("--json", "--json", "print JSON", raw.json);
}

void OptionTable::declareFormat() {
  group = "tkc fmt FILE...";
  flag("--check", "--check", "name the files that would change, with status 1; write nothing",
       raw.fmtCheck);
  flag("--diff", "--diff", "print what would change; write nothing", raw.fmtDiff);
}

void OptionTable::declareGeneral(bool compiles) {
  group = "Messages and the rest";
  value("--diagnostics", "--diagnostics=text|json", "form of messages (default text)",
        raw.diagnostics);
  if (compiles) {
    app.add_flag("--remarks{.*}", raw.remarks)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    addLine("--remarks{.*}", "--remarks[=REGEX]",
            "show remarks, or those whose \"TKnnnn: text\" matches");
    list("-W", "-Wno-NAME -Werror[=NAME]",
         "hide a warning; make warnings, or one, errors. NAME is a code\n"
         "like TK2031 or a name like unused-parameter",
         raw.warnings);
    value("-j", "-j N", "threads to use; never changes the output", raw.jobs);
  }
  flag("--version", "--version", "print the version", raw.version);
  flag("-h,--help", "-h, --help", "print this text", raw.help);
  flag("--help-hidden", "--help-hidden", "print it with the options for tests", raw.helpHidden);
}

void OptionTable::declareHidden(bool parses, bool compiles) {
  group = "For tests";
  hidden = true;
  if (parses)
    flag("--verify-diagnostics", "--verify-diagnostics",
         "compare what is reported with `expected-error {{text}}` comments", raw.verifyDiagnostics);
  if (compiles)
    value("--test-crash", "--test-crash=KIND",
          "crash while compiling: segv, abort, fatal, stack or malloc", raw.testCrash);
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
  StringRef last = names.rsplit(',').second, name = last.empty() ? names : last;
  return name == "--MF" || name == "--MD" ? name.drop_front().str() : name.str();
}

StringRef tk::commandName(Command command) {
  switch (command) {
  case Command::Compile:
    return "tkc FILE";
  case Command::Run:
    return "tkc run";
  case Command::Format:
    return "tkc fmt";
  case Command::Link:
    return "tkc link";
  case Command::Extract:
    return "tkc extract";
  case Command::Size:
    return "tkc size";
  case Command::Notices:
    return "tkc notices";
  case Command::Tune:
    return "tkc tune";
  case Command::Merge:
    return "tkc tune merge";
  case Command::Bench:
    return "tkc bench";
  }
  llvm_unreachable("a command without a name");
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

/// A word that begins with `-` and that the command does not know: another one's option, or none.
static DiagRecord refuseOption(StringRef word, Command command,
                               const std::vector<std::string> &names) {
  RawOptions unused;
  OptionTable all(unused, std::nullopt);
  StringRef name = word.starts_with("--") ? word.take_until([](char c) { return c == '='; })
                                          : word.take_front(2);
  if (!llvm::is_contained(all.names, name))
    return commandLineDiag<diag::UnknownOption>(nearestOption(word, names), word);
  return commandLineDiag<diag::OptionOfOther>("`tkc --help` lists the options of each command",
                                              commandName(command), spellAgain(name));
}

/// "--print NAME: print it", as the help has it, on one line.
static std::string usageOf(StringRef name, llvm::ArrayRef<HelpLine> lines) {
  for (const HelpLine &line : lines) {
    StringRef spelling = line.spelling;
    if (spelling != name && !spelling.starts_with((name + "=").str()) &&
        !spelling.starts_with((name + " ").str()) && !spelling.contains((", " + name + "=").str()))
      continue;
    std::string text = line.text;
    llvm::replace(text, '\n', ' ');
    return (spelling + ": " + text).str();
  }
  return "";
}

std::optional<DiagRecord> tk::parseWords(llvm::ArrayRef<const char *> words, Command command,
                                         RawOptions &raw) {
  OptionTable table(raw, command);
  std::vector<std::string> reversed; // as CLI11 takes them
  for (const char *word : llvm::reverse(words))
    reversed.push_back(rewriteWord(word));
  try {
    table.app.parse(reversed);
  } catch (const CLI::ArgumentMismatch &error) { // "--warps: 1 required TEXT missing"
    std::string name = StringRef(error.what()).split(':').first.str();
    return commandLineDiag<diag::OptionNeedsValue>(usageOf(spellAgain(name), table.lines),
                                                   spellAgain(name));
  } catch (const CLI::ParseError &error) {
    return commandLineDiag<diag::OptionSyntax>("`tkc --help` lists the options", error.what());
  }
  bool optionsEnded = false;
  for (const std::string &word : table.app.remaining()) {
    bool option = StringRef(word).starts_with("-") && word != "-" && !optionsEnded;
    if (option && word == "--")
      optionsEnded = true;
    else if (option && !raw.help && !raw.helpHidden)
      return refuseOption(word, command, table.names);
    else
      raw.words.push_back(word);
  }
  return std::nullopt;
}

std::string tk::helpText(bool hidden) {
  RawOptions raw;
  OptionTable table(raw, std::nullopt);
  std::string text = "Usage: tkc FILE [-o OUT] [OPTIONS]      compile a .tk file, or go on from a "
                     "stage that was written\n"
                     "       tkc run FILE ARG... [OPTIONS]    run a kernel on this machine\n"
                     "       tkc tune FILE --shape ...        time its configurations; -o TABLE keeps the best.\n"
                     "                                        `tkc tune merge TABLE... -o TABLE` joins tables\n"
                     "       tkc bench FILE --shape ...       time one, against --baseline=FILE\n"
                     "       tkc fmt [--check] FILE...        put .tk files into the one style; - is\n"
                     "                                        standard input, to standard output\n"
                     "       tkc link FILE.tkb... -o OUT      one bundle of several, or what embeds it\n"
                     "       tkc size FILE.tkb                bytes of each image and kernel\n"
                     "       tkc extract FILE.tkb -o DIR/     the images, each with its JSON\n"
                     "       tkc notices FILE.tkb             the licences of what is linked in\n"
                     "       tkc targets                      list the chips\n"
                     "       tkc explain TKnnnn               what a message means, examples, how to mend it\n";
  constexpr size_t column = 30;
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
