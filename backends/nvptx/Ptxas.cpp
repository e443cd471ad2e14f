//===- Ptxas.cpp - NVIDIA's assembler as a process ------------------------------===//
//
// ptxas reads and writes memory files by their names under /proc/self/fd, so no name reaches the
// binary and nothing is left on disk. What it says under -v is read by patterns that ptxas 11 to 13
// print alike; a line that is not known is ignored.
//
//===----------------------------------------------------------------------===//

#include "backends/nvptx/Ptxas.h"
#include "ir/diagnostics/Diagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace tk;
using namespace tk::nvptx;
using llvm::StringRef;

#ifndef TKC_PTXAS
#define TKC_PTXAS ""
#endif

//===----------------------------------------------------------------------===//
// Finding it
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kPtxIsPossible =
    "--emit=ptx needs no assembler; --ptxas=PATH names one";

/// A name without a folder is looked up on PATH, as a shell does, and that is said.
static mlir::FailureOr<Assembler> findOnPath(StringRef name, bool hermetic, mlir::Location loc) {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name);
  if (!found) {
    std::string why = name == "ptxas" ? "tkc was configured without one, and there is no ptxas on "
                                        "PATH"
                                      : "there is no `" + name.str() + "` on PATH";
    return withHelp(emit<diag::PtxasNotFound>(loc, why), kPtxIsPossible);
  }
  if (hermetic)
    return withHelp(emit<diag::PtxasHermetic>(loc, *found), "--ptxas=PATH names it");
  emit<diag::PtxasFromPath>(loc, *found);
  return Assembler{*found, Assembler::Origin::Path};
}

mlir::FailureOr<Assembler> nvptx::findPtxas(StringRef option, bool hermetic, mlir::Location loc) {
  std::string path = option.empty() ? TKC_PTXAS : option.str();
  if (path.empty())
    return findOnPath("ptxas", hermetic, loc);
  if (!StringRef(path).contains('/'))
    return findOnPath(path, hermetic, loc);
  if (llvm::sys::fs::can_execute(path) && !llvm::sys::fs::is_directory(path))
    return Assembler{path, option.empty() ? Assembler::Origin::Configured
                                          : Assembler::Origin::Option};
  std::string why = "`" + path + "`, " +
                    (option.empty() ? "which tkc was configured with," : "given by --ptxas,") +
                    " is no program that can be run";
  return withHelp(emit<diag::PtxasNotFound>(loc, why), kPtxIsPossible);
}

int nvptx::newestPtxOf(StringRef release) {
  // CUDA toolkit release notes and the PTX manual's "Release Notes" chapter.
  static constexpr struct {
    llvm::StringLiteral release;
    int ptx;
  } table[] = {{"11.0", 70}, {"11.1", 71}, {"11.2", 72}, {"11.3", 73}, {"11.4", 74}, {"11.5", 75},
               {"11.6", 76}, {"11.7", 77}, {"11.8", 78}, {"12.0", 80}, {"12.1", 81}, {"12.2", 82},
               {"12.3", 83}, {"12.4", 84}, {"12.5", 85}, {"12.6", 85}, {"12.7", 86}, {"12.8", 87},
               {"12.9", 88}, {"13.0", 90}, {"13.1", 91}};
  for (const auto &entry : table)
    if (entry.release == release)
      return entry.ptx;
  return 0;
}

//===----------------------------------------------------------------------===//
// Reading PTX and what ptxas says
//===----------------------------------------------------------------------===//

/// What follows the directive `name` on the first line that begins with it.
static StringRef directive(StringRef ptx, StringRef name) {
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    line = line.trim();
    if (line.consume_front(name) && !line.empty() && llvm::isSpace(line.front()))
      return line.trim();
    ptx = rest;
  }
  return {};
}

int nvptx::ptxVersionOf(StringRef ptx) {
  auto [majorText, minorText] = directive(ptx, ".version").split('.');
  int major = 0, minor = 0;
  minorText = minorText.take_while(llvm::isDigit);
  if (majorText.getAsInteger(10, major) || minorText.getAsInteger(10, minor))
    return 0;
  return major * 10 + minor;
}

StringRef nvptx::ptxTargetOf(StringRef ptx) {
  return directive(ptx, ".target").take_until([](char c) { return c == ',' || llvm::isSpace(c); });
}

/// "C7508" and "C7510" to "C7517" tell of speed that was lost.
static void parseNote(StringRef line, std::vector<PtxasNote> &notes) {
  static const llvm::Regex pattern("\\((C7508|C751[0-7])\\) *(.*)");
  llvm::SmallVector<StringRef> match;
  if (!line.contains("(C75") || !pattern.match(line, &match))
    return;
  StringRef symbol = match[2].rsplit("function '").second.take_until([](char c) {
    return c == '\'';
  });
  notes.push_back({symbol.str(), match[1].str(), match[2].trim().str()});
}

/// The number before ` what` in `line`, or 0.
static int64_t numberBefore(StringRef line, StringRef what) {
  size_t at = line.find(what);
  if (at == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(at).rtrim();
  size_t start = digits.find_last_not_of("0123456789");
  digits = digits.drop_front(start == StringRef::npos ? 0 : start + 1);
  int64_t value = 0;
  digits.getAsInteger(10, value);
  return value;
}

void nvptx::parsePtxasLog(StringRef log, llvm::StringMap<Resources> &resources,
                          std::vector<PtxasNote> &notes) {
  StringRef entry, properties;
  while (!log.empty()) {
    auto [line, rest] = log.split('\n');
    log = rest;
    parseNote(line, notes);
    if (line.contains("Compiling entry function '")) {
      entry = line.split('\'').second.split('\'').first;
      resources[entry];
    } else if (line.contains("Function properties for ")) {
      properties = line.split("Function properties for ").second.trim();
    } else if (line.contains("bytes stack frame") && properties == entry && !entry.empty()) {
      Resources &of = resources[entry];
      of.stackBytes = numberBefore(line, " bytes stack frame");
      of.spillStoreBytes = numberBefore(line, " bytes spill stores");
      of.spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (line.contains(": Used ") && !entry.empty()) {
      Resources &of = resources[entry];
      of.registers = numberBefore(line, " registers");
      of.sharedStaticBytes = numberBefore(line, " bytes smem");
    }
  }
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {
/// A file in memory with a name that child processes can open.
class MemoryFile {
public:
  explicit MemoryFile(const char *name) : fd(memfd_create(name, 0)) {}
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }

  bool isOpen() const { return fd >= 0; }
  std::string getPath() const { return "/proc/self/fd/" + std::to_string(fd); }

  bool write(StringRef bytes) const {
    while (!bytes.empty()) {
      ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written <= 0)
        return false;
      bytes = bytes.drop_front(size_t(written));
    }
    return true;
  }

  std::string read() const {
    std::string result;
    char buffer[65536];
    while (true) {
      ssize_t count = pread(fd, buffer, sizeof buffer, off_t(result.size()));
      if (count <= 0)
        return result;
      result.append(buffer, size_t(count));
    }
  }

private:
  int fd;
};
} // namespace

/// "13.0.88" out of "release 13.0, V13.0.88", as `ptxas --version` and its cubins have it.
static std::string findVersion(StringRef text) {
  StringRef rest = text.split("Cuda compilation tools, release ").second;
  StringRef exact = rest.take_front(40).split(", V").second;
  exact = exact.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  if (!exact.empty())
    return exact.str();
  return rest.take_while([](char c) { return llvm::isDigit(c) || c == '.'; }).str();
}

static std::string askVersion(StringRef path) {
  MemoryFile out("version");
  if (!out.isOpen())
    return "";
  std::string outPath = out.getPath();
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(outPath), StringRef("")};
  llvm::sys::ExecuteAndWait(path, {path, "--version"}, std::nullopt, redirects, 10);
  return findVersion(out.read());
}

static std::string printVersion(int tenths) {
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// The release, "13.0", of the version "13.0.88".
static StringRef releaseOf(StringRef version) {
  auto [major, rest] = version.split('.');
  return version.take_front(major.size() + 1 + rest.split('.').first.size());
}

/// The lines that tell of an error, without ptxas's own name and that of the memory file.
static llvm::SmallVector<std::string> errorLines(StringRef log, unsigned &line) {
  static const llvm::Regex pattern("^ptxas ?([^;]*, line ([0-9]+);)? *(error|fatal) *: (.*)$");
  llvm::SmallVector<std::string> result;
  line = 0;
  for (StringRef text : llvm::split(log, '\n')) {
    llvm::SmallVector<StringRef> match;
    if (!pattern.match(text, &match) || match[4].contains("aborted due to errors"))
      continue;
    if (result.empty())
      match[2].getAsInteger(10, line);
    result.push_back(match[4].trim().str());
  }
  return result;
}

/// Says why ptxas gave no binary.
static mlir::LogicalResult reportFailure(const Assembler &assembler, StringRef ptx, StringRef log,
                                         StringRef reason, const Target &target,
                                         const AssembleOptions &options, mlir::Location loc) {
  static const llvm::Regex tooOld("Unsupported .version ([0-9.]+); current version is '([0-9.]+)'");
  static const llvm::Regex noTarget("Value 'sm_[0-9a-z]+' is not defined for option 'gpu-name'");
  std::string version = askVersion(assembler.path);
  std::string shown = version.empty() ? "version not known" : version;
  int wanted = ptxVersionOf(ptx), newest = newestPtxOf(releaseOf(version));
  llvm::SmallVector<StringRef> match;
  constexpr StringRef newer = "name a newer assembler with --ptxas=PATH";
  if (tooOld.match(log, &match))
    return withHelp(emit<diag::PtxasTooOld>(loc, assembler.path, shown, match[2], match[1]), newer);
  if (newest && newest < wanted)
    return withHelp(emit<diag::PtxasTooOld>(loc, assembler.path, shown, printVersion(newest),
                                            printVersion(wanted)),
                    newer);
  if (noTarget.match(log))
    return withHelp(
        emit<diag::PtxasTargetUnknown>(loc, assembler.path, shown, StringRef(target.name)), newer);
  unsigned line = 0;
  llvm::SmallVector<std::string> errors = errorLines(log, line);
  if (line && !options.inputName.empty())
    loc = mlir::FileLineColLoc::get(loc.getContext(), options.inputName, line, 1);
  if (errors.empty())
    errors.push_back(reason.empty() ? log.trim().str() : reason.str());
  mlir::InFlightDiagnostic diag = emit<diag::PtxasFailed>(loc, errors.front());
  for (const std::string &error : llvm::drop_begin(errors))
    diag.attachNote() << error;
  return diag;
}

/// Spills and warnings of ptxas, each at its kernel.
static void reportNotes(const Assembly &assembly, llvm::ArrayRef<PtxasNote> notes,
                        const llvm::StringMap<int64_t> &dynamicShared,
                        llvm::function_ref<mlir::Location(StringRef)> locOf) {
  for (const PtxasNote &note : notes)
    emit<diag::PtxasLoss>(locOf(note.symbol), note.code, note.symbol, note.text);
  llvm::SmallVector<StringRef> symbols(assembly.resources.keys());
  llvm::sort(symbols);
  for (StringRef symbol : symbols) {
    const Resources &of = assembly.resources.find(symbol)->second;
    emit<diag::KernelResources>(locOf(symbol), symbol, of.registers,
                                of.sharedStaticBytes + dynamicShared.lookup(symbol));
    if (of.spillStoreBytes || of.spillLoadBytes)
      emit<diag::KernelSpills>(locOf(symbol), symbol, of.spillStoreBytes, of.spillLoadBytes,
                               of.stackBytes);
  }
}

/// Gives every `.file "name"` the time and size 1: for one that has none ptxas looks for a file of
/// that name in the folder it runs in, and its time would get into the line table.
static std::string pinFileTimes(StringRef ptx) {
  std::string result;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    result += line;
    if (line.ltrim().starts_with(".file") && line.rtrim().ends_with("\""))
      result += ", 1, 1";
    if (ptx.size() > line.size())
      result += '\n';
    ptx = rest;
  }
  return result;
}

/// One run of ptxas.
static mlir::FailureOr<Assembly> assembleOnce(const Assembler &assembler, StringRef ptx, const Target &target,
                                              const AssembleOptions &options, mlir::Location loc,
                                              std::vector<PtxasNote> &notes) {
  MemoryFile in("ptx"), out("cubin"), log("log");
  bool written = in.write(ptx.contains(".file") ? pinFileTimes(ptx) : ptx.str());
  if (!in.isOpen() || !out.isOpen() || !log.isOpen() || !written)
    return emit<diag::PtxasNotRun>(loc, assembler.path, "no memory file for its input");
  std::string gpu = "--gpu-name=" + std::string(target.name);
  std::string level = "-O" + std::to_string(options.optLevel);
  std::string inPath = in.getPath(), outPath = out.getPath(), logPath = log.getPath();
  llvm::SmallVector<StringRef> args = {assembler.path, "-v", gpu, level, inPath, "-o", outPath};
  if (options.lineInfo)
    args.push_back("-lineinfo");
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(logPath), StringRef(logPath)};
  std::string reason;
  bool notStarted = false;
  int status = llvm::sys::ExecuteAndWait(assembler.path, args, std::nullopt, redirects,
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &reason,
                                         &notStarted);
  if (notStarted || status == -1)
    return emit<diag::PtxasNotRun>(loc, assembler.path, reason);
  Assembly result;
  result.log = log.read();
  result.cubin = out.read();
  if (status == 0 && result.cubin.empty())
    reason = "it wrote no binary";
  if (status != 0 || result.cubin.empty())
    return reportFailure(assembler, ptx, result.log, reason, target, options, loc);
  parsePtxasLog(result.log, result.resources, notes);
  result.version = findVersion(result.cubin);
  if (result.version.empty())
    result.version = askVersion(assembler.path);
  return result;
}

//===----------------------------------------------------------------------===//
// Disassembly
//===----------------------------------------------------------------------===//

static int64_t spilledBytes(const Assembly &assembly) {
  int64_t bytes = 0;
  for (const auto &entry : assembly.resources)
    bytes += entry.second.spillStoreBytes + entry.second.spillLoadBytes;
  return bytes;
}

/// The same text with `.minnctapersm 1` on entries that spilled: without it ptxas, once it spills, may go on
/// with half the registers that a thread of the block can have. Empty when there is nothing to change.
static std::string withAllRegisters(StringRef ptx, const Assembly &assembly) {
  std::string text;
  bool spills = false, changed = false;
  for (StringRef rest = ptx; !rest.empty();) {
    auto [line, more] = rest.split('\n');
    rest = more;
    text += (line + "\n").str();
    if (size_t at = line.find(".entry "); at != StringRef::npos) {
      StringRef name = line.substr(at + 7).take_until([](char c) { return c == '(' || c == ' '; });
      auto known = assembly.resources.find(name);
      spills = known != assembly.resources.end() && known->second.spillStoreBytes > 0;
    }
    if (spills && line.starts_with(".reqntid") && !rest.starts_with(".m")) {
      text += ".minnctapersm 1\n";
      changed = true;
    }
  }
  return changed ? text : "";
}

mlir::FailureOr<Assembly>
nvptx::assemble(const Assembler &assembler, StringRef ptx, const Target &target,
                const AssembleOptions &options, mlir::Location loc,
                llvm::function_ref<mlir::Location(StringRef)> locOf) {
  std::vector<PtxasNote> notes, otherNotes;
  mlir::FailureOr<Assembly> result = assembleOnce(assembler, ptx, target, options, loc, notes);
  if (failed(result))
    return result;
  // Text of the user's is assembled as it stands.
  std::string again = options.inputName.empty() && spilledBytes(*result) ? withAllRegisters(ptx, *result) : "";
  if (!again.empty()) {
    mlir::FailureOr<Assembly> other = assembleOnce(assembler, again, target, options, loc, otherNotes);
    if (succeeded(other) && spilledBytes(*other) < spilledBytes(*result)) {
      *result = std::move(*other);
      notes = std::move(otherNotes);
    }
  }
  reportNotes(*result, notes, options.dynamicShared, locOf);
  return result;
}

/// nvdisasm or cuobjdump; empty when there is neither.
static std::string findDisassembler(const Assembler &assembler, bool hermetic) {
  StringRef folder = llvm::sys::path::parent_path(assembler.path);
  for (StringRef name : {"nvdisasm", "cuobjdump"}) {
    llvm::SmallString<128> beside(folder);
    llvm::sys::path::append(beside, name);
    if (llvm::sys::fs::can_execute(beside))
      return beside.str().str();
  }
  if (!hermetic)
    for (StringRef name : {"nvdisasm", "cuobjdump"})
      if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name))
        return *found;
  return "";
}

mlir::FailureOr<std::string> nvptx::disassemble(const Assembler &assembler, StringRef cubin,
                                                bool hermetic, mlir::Location loc) {
  std::string tool = findDisassembler(assembler, hermetic);
  if (tool.empty())
    return withHelp(emit<diag::DisassemblerNotFound>(loc),
                    "both are part of a CUDA toolkit; put one beside ptxas or on PATH");
  MemoryFile in("cubin"), out("sass"), log("log");
  if (!in.isOpen() || !out.isOpen() || !log.isOpen() || !in.write(cubin))
    return emit<diag::PtxasNotRun>(loc, tool, "no memory file for its input");
  std::string inPath = in.getPath(), outPath = out.getPath(), logPath = log.getPath(), reason;
  llvm::SmallVector<StringRef> args = {tool};
  if (llvm::sys::path::filename(tool) == "cuobjdump")
    args.push_back("-sass");
  else if (cubin.contains(".debug_line")) // the line of each instruction, where it is known
    args.push_back("-g");
  args.push_back(inPath);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(outPath), StringRef(logPath)};
  int status = llvm::sys::ExecuteAndWait(tool, args, std::nullopt, redirects, 0, 0, &reason);
  if (status != 0) {
    std::string said = log.read();
    return emit<diag::DisassemblerFailed>(loc, tool,
                                          said.empty() ? reason : StringRef(said).trim().str());
  }
  return out.read();
}
