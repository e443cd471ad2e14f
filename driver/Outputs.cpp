//===- Outputs.cpp - which files a compile writes, and writing them ----------------===//

#include "driver/Outputs.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <unistd.h>

using namespace tk;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// True for "DIR/" and for a folder that is there.
static bool namesFolder(StringRef name) { return name.ends_with("/") || fs::is_directory(name); }

static std::string asFolder(StringRef name) {
  return name.ends_with("/") ? name.str() : name.str() + "/";
}

std::string OutputPlan::pathOf(Stage stage, const CompileOptions &options) const {
  if (folder.empty() && stage == Stage::Bundle && options.stages.front() == Stage::Assembly) {
    llvm::SmallString<256> beside(file);
    path::replace_extension(beside, stageExtension(stage));
    return beside.str().str();
  }
  if (folder.empty())
    return file;
  std::string stem = folder + stemOf(options.input).str();
  bool beside = stage == Stage::Json && llvm::is_contained(options.stages, Stage::Cubin);
  return stem + (beside ? ".cubin.json" : stageExtension(stage).str());
}

std::optional<DiagRecord> tk::planOutputs(const CompileOptions &options, OutputPlan &plan) {
  bool several = options.stages.size() > 1;
  Stage first = options.stages.front();
  plan.imageName = stemOf(options.input).str() + ".cubin";
  if (!options.output.empty() && namesFolder(options.output)) {
    plan.folder = asFolder(options.output);
  } else if (several && options.output.empty() && !options.dumpDir.empty()) {
    plan.folder = asFolder(options.dumpDir);
  } else if (several) {
    std::string what = options.output.empty() ? "standard output" : "`" + options.output + "`";
    return commandLineDiag<diag::SeveralStages>("name a folder with -o DIR/ or --dump-dir=DIR",
                                                options.stages.size(), what);
  } else if (!options.output.empty()) {
    plan.file = options.output;
    if (first == Stage::Cubin && options.output != "-")
      plan.imageName = path::filename(options.output).str();
    if (first == Stage::Ptx && options.output != "-")
      plan.imageName = path::filename(options.output).str();
  } else {
    bool toFile = !isText(first) || first == Stage::Assembly;
    plan.file = toFile ? (stemOf(options.input) + stageExtension(first)).str() : "-";
  }
  if (plan.file == "-" && first == Stage::Assembly)
    return commandLineDiag<diag::OptionSyntax>(
        "name a file: -o k.S", "assembly takes in the bundle that is written beside it");
  Stage last = options.stages.back();
  if (!options.metadata.empty() && last < Stage::Ptx)
    return commandLineDiag<diag::MetadataNeedsBinary>("", stageName(last));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static DiagRecord cannotWrite(StringRef name, std::error_code error) {
  return commandLineDiag<diag::CannotWrite>("", name, error.message());
}

/// Writes to an open descriptor and closes it, except standard output.
static std::error_code writeAndClose(int fd, StringRef bytes) {
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/fd != STDOUT_FILENO, /*unbuffered=*/true);
  os << bytes;
  os.flush();
  if (fd != STDOUT_FILENO)
    os.close();
  std::error_code error = os.error();
  os.clear_error(); // the destructor would end the process
  return error;
}

static bool hasBytes(StringRef name, StringRef bytes) {
  uint64_t size = 0;
  if (fs::file_size(name, size) || size != bytes.size())
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(name, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  return buffer && (*buffer)->getBuffer() == bytes;
}

namespace {
/// Temporary files that disappear unless they are renamed.
class Transaction {
public:
  ~Transaction() {
    for (auto &[temporary, target] : renames)
      if (!temporary.empty())
        fs::remove(temporary);
  }

  std::error_code add(const OutputFile &file);
  std::error_code commit(std::string &failed);

private:
  std::vector<std::pair<std::string, std::string>> renames;
};
} // namespace

std::error_code Transaction::add(const OutputFile &file) {
  if (file.path == "-")
    return writeAndClose(STDOUT_FILENO, file.bytes);
  // What a link points to is replaced, not the link.
  llvm::SmallString<256> target(file.path);
  if (fs::is_symlink_file(file.path))
    if (fs::real_path(file.path, target))
      target = file.path;
  if (fs::is_directory(target))
    return std::make_error_code(std::errc::is_a_directory);
  int fd = -1;
  if (fs::exists(target) && !fs::is_regular_file(target)) {
    if (std::error_code error = fs::openFileForWrite(target, fd, fs::CD_OpenExisting))
      return error;
    return writeAndClose(fd, file.bytes);
  }
  if (hasBytes(target, file.bytes))
    return {};
  llvm::SmallString<256> model(path::parent_path(target)), temporary;
  path::append(model, "." + path::filename(target).take_front(200) + ".%%%%%%%%");
  if (std::error_code error = fs::createUniqueFile(model, fd, temporary))
    return error;
  llvm::sys::RemoveFileOnSignal(temporary);
  renames.push_back({temporary.str().str(), target.str().str()});
  return writeAndClose(fd, file.bytes);
}

std::error_code Transaction::commit(std::string &failed) {
  for (auto &[temporary, target] : renames) {
    if (std::error_code error = fs::rename(temporary, target)) {
      failed = target;
      return error;
    }
    llvm::sys::DontRemoveFileOnSignal(temporary);
    temporary.clear();
  }
  return {};
}

int tk::statusOf(const DiagRecord &wrong) {
  return wrong.code == diag::OutputIsInput.code || wrong.code == diag::OptionSyntax.code ? 2 : 1;
}

/// A file that is written twice, or that was read. Only now is it known
/// what an import, a table or a library has read; nothing is written yet.
static std::optional<DiagRecord> checkTargets(llvm::ArrayRef<OutputFile> files, llvm::ArrayRef<std::string> inputs) {
  llvm::StringSet<> seen;
  for (const OutputFile &file : files) {
    if (file.path == "-")
      continue;
    if (!seen.insert(file.path).second)
      return commandLineDiag<diag::OptionSyntax>("give each its own name", "two outputs are called `" + file.path + "`");
    bool isInput = llvm::any_of(inputs, [&](const std::string &input) { return fs::equivalent(file.path, input); });
    if (isInput && !(file.mayBeThere && hasBytes(file.path, file.bytes)))
      return commandLineDiag<diag::OutputIsInput>("give the output another name", file.path);
  }
  return std::nullopt;
}

std::optional<DiagRecord> tk::writeFiles(llvm::ArrayRef<OutputFile> files, llvm::ArrayRef<std::string> inputs) {
  if (std::optional<DiagRecord> wrong = checkTargets(files, inputs))
    return wrong;
  Transaction transaction;
  for (const OutputFile &file : files)
    if (std::error_code error = transaction.add(file))
      return cannotWrite(file.path == "-" ? "standard output" : file.path, error);
  std::string failed;
  if (std::error_code error = transaction.commit(failed))
    return cannotWrite(failed, error);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What a compile writes
//===----------------------------------------------------------------------===//

/// A file name as make reads it.
static std::string escapeForMake(StringRef name) {
  std::string result;
  for (char c : name) {
    if (c == ' ' || c == '#' || c == '\\')
      result += '\\';
    if (c == '$')
      result += '$';
    result += c;
  }
  return result;
}

static OutputFile makeDepfile(const CompileOptions &options, llvm::ArrayRef<OutputFile> outputs,
                              const CompileResult &result) {
  std::string text, first = stemOf(options.input).str();
  for (const OutputFile &output : outputs)
    if (output.path != "-") {
      text += (text.empty() ? "" : " ") + escapeForMake(output.path);
      first = output.path;
    }
  if (text.empty())
    text = escapeForMake(first + stageExtension(options.stages.back()).str());
  text += ":";
  for (const std::string &dependency : result.dependencies)
    text += " \\\n  " + escapeForMake(dependency);
  if (!options.depfilePath.empty())
    return {options.depfilePath, text + "\n"};
  llvm::SmallString<256> name(first);
  path::replace_extension(name, ".d");
  return {name.str().str(), text + "\n"};
}

/// The JSON beside the binary, unless it is a stage that was asked for.
static void addDescription(const CompileOptions &options, const OutputPlan &plan,
                           const CompileResult &result, std::vector<OutputFile> &files) {
  if (result.description.empty())
    return;
  if (!options.metadata.empty()) {
    files.push_back({options.metadata, result.description});
    return;
  }
  std::string binary = plan.pathOf(Stage::Cubin, options);
  bool file = binary != "-" && (!fs::exists(binary) || fs::is_regular_file(binary));
  if (llvm::is_contained(options.stages, Stage::Cubin) &&
      !llvm::is_contained(options.stages, Stage::Json) && file)
    files.push_back({binary + ".json", result.description});
}

std::optional<DiagRecord> tk::writeResult(const CompileOptions &options, const OutputPlan &plan,
                                          const CompileResult &result) {
  std::vector<OutputFile> dumps, files, stages;
  std::string folders[] = {plan.folder, options.dumpDir};
  for (const std::string &folder : folders)
    if (!folder.empty())
      if (std::error_code error = fs::create_directories(folder, /*IgnoreExisting=*/true, fs::all_all))
        return cannotWrite(folder, error);
  for (const Artifact &artifact : result.artifacts)
    stages.push_back({plan.pathOf(artifact.stage, options), artifact.bytes,
                      /*mayBeThere=*/artifact.stage == Stage::Bundle &&
                          llvm::is_contained(options.stages, Stage::Assembly)});
  std::string beside = asFolder(path::parent_path(plan.file).empty()
                                    ? StringRef(".")
                                    : path::parent_path(plan.file));
  std::string dumpFolder = !options.dumpDir.empty() ? asFolder(options.dumpDir)
                           : !plan.folder.empty()   ? plan.folder
                                                    : beside;
  for (const Artifact &artifact : result.intermediates) {
    std::string name = dumpFolder + stemOf(options.input).str() +
                       (artifact.unit.empty() ? "" : "." + artifact.unit) +
                       stageExtension(artifact.stage).str();
    bool same = llvm::any_of(stages, [&](const OutputFile &f) { return f.path == name; });
    if (!same && !fs::equivalent(name, options.input))
      files.push_back({name, artifact.bytes});
  }
  addDescription(options, plan, result, files);
  if (options.depfile)
    files.push_back(makeDepfile(options, stages, result));
  // The stages come last: a build system looks at them.
  llvm::append_range(files, stages);
  return writeFiles(files, result.dependencies);
}
