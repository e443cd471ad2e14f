//===- TuneOptions.cpp - what tkc tune and tkc bench are asked for -------------------------===//

#include "driver/TuneOptions.h"
#include "driver/OptionTable.h"
#include "driver/Options.h"
#include "llvm/ADT/StringExtras.h"

using namespace tk;
using llvm::StringRef;

/// "M=4096,N=4096"; commas inside of parentheses belong to the value.
static std::optional<DiagRecord> splitWords(StringRef option, StringRef text,
                                            TuneOptions::Words &words) {
  int depth = 0;
  std::string word;
  auto take = [&]() -> std::optional<DiagRecord> {
    auto [name, value] = StringRef(word).split('=');
    if (name.trim().empty() || value.trim().empty())
      return commandLineDiag<diag::BadOptionValue>("write NAME=VALUE,NAME=VALUE", option, text);
    words.emplace_back(name.trim().str(), value.trim().str());
    word.clear();
    return std::nullopt;
  };
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || depth > 0)
      word += c;
    else if (std::optional<DiagRecord> wrong = take())
      return wrong;
  }
  return take();
}

static std::optional<DiagRecord> convertShard(StringRef text, TuneOptions &to) {
  auto [part, whole] = text.split('/');
  bool good =
      text.empty() || (!part.getAsInteger(10, to.shard) && !whole.getAsInteger(10, to.shards) &&
                       to.shard >= 1 && to.shard <= to.shards);
  if (good)
    return std::nullopt;
  return commandLineDiag<diag::BadOptionValue>("K/N: part K, from 1, of N", "--shard", text);
}

/// tkc tune merge A.json B.json -o ALL.json
static std::optional<DiagRecord> convertMerge(const RawOptions &raw, TuneOptions &to) {
  to.tables = raw.words;
  if (to.tables.empty())
    return commandLineDiag<diag::NoInput>("tkc tune merge A.json B.json -o ALL.json");
  if (to.output.empty())
    return commandLineDiag<diag::OptionNeedsValue>("name the table that they become", "-o");
  return std::nullopt;
}

/// `--why` times nothing and writes nothing.
static std::optional<DiagRecord> checkWhy(const RawOptions &raw) {
  const std::pair<StringRef, StringRef> unused[] = {{"-o", raw.output},
                                                    {"--cache", raw.cache},
                                                    {"--search", raw.search},
                                                    {"--rounds", raw.rounds},
                                                    {"--shard", raw.shard},
                                                    {"--timeout", raw.timeout}};
  for (const auto &[option, value] : unused)
    if (!value.empty())
      return commandLineDiag<diag::OptionOfOther>("drop it, or drop --why to time the file",
                                                  "tkc tune --why", option);
  return std::nullopt;
}

static std::optional<DiagRecord> checkInputs(const RawOptions &raw, StringRef command) {
  if (raw.words.empty())
    return commandLineDiag<diag::NoInput>(
        (command + " FILE.tk --shape N=4096; FILE.tkb is good too").str());
  if (raw.words.front() == "merge")
    return commandLineDiag<diag::OptionSyntax>(
        "tkc tune merge A.json B.json -o ALL.json",
        ("`merge` must be the first word after `" + command + "`").str());
  if (raw.words.size() > 1) {
    const std::string &second = raw.words[1];
    return commandLineDiag<diag::SeveralInputs>(
        StringRef(second).contains('=') ? "an extent or a scalar is given by --shape " + second
                                        : "one call times one file",
        raw.words[0], second);
  }
  if (raw.shapes.empty())
    return commandLineDiag<diag::OptionNeedsValue>(
        "a value for each extent and scalar of the kernel: --shape M=4096,N=4096", "--shape");
  if (raw.kernels.size() > 1)
    return commandLineDiag<diag::OptionSyntax>("call it once for each",
                                               ("`" + command + "` times one kernel").str());
  return std::nullopt;
}

std::optional<DiagRecord> tk::convertTune(const RawOptions &raw, Command command, TuneOptions &to) {
  to.action = command == Command::Merge   ? TuneOptions::Action::Merge
              : command == Command::Bench ? TuneOptions::Action::Bench
              : raw.why.empty()           ? TuneOptions::Action::Tune
                                          : TuneOptions::Action::Why;
  to.output = raw.output;
  to.cache = raw.cache;
  to.why = raw.why;
  to.baseline = raw.baseline;
  to.svg = raw.svg;
  to.json = raw.json;
  if (command == Command::Merge)
    return convertMerge(raw, to);
  if (std::optional<DiagRecord> wrong = checkInputs(raw, commandName(command)))
    return wrong;
  if (!raw.why.empty())
    if (std::optional<DiagRecord> wrong = checkWhy(raw))
      return wrong;
  if (!raw.kernels.empty())
    to.kernel = raw.kernels.front();
  for (const std::string &text : raw.shapes) {
    to.shapes.emplace_back();
    if (std::optional<DiagRecord> wrong = splitWords("--shape", text, to.shapes.back()))
      return wrong;
  }
  for (const std::string &text : raw.fills)
    if (std::optional<DiagRecord> wrong = splitWords("--fill", text, to.fills))
      return wrong;
  to.halving = raw.search == "halving";
  if (!raw.search.empty() && raw.search != "halving" && raw.search != "exhaustive")
    return commandLineDiag<diag::BadOptionValue>("exhaustive or halving", "--search", raw.search);
  if (std::optional<DiagRecord> wrong = convertInteger("--device", raw.device, 0, 4096, to.device))
    return wrong;
  if (std::optional<DiagRecord> wrong = convertInteger("--rounds", raw.rounds, 1, 1000, to.rounds))
    return wrong;
  if (std::optional<DiagRecord> wrong =
          convertInteger("--timeout", raw.timeout, 1, 86400, to.timeoutSeconds))
    return wrong;
  return convertShard(raw.shard, to);
}
