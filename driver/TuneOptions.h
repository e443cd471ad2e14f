//===- TuneOptions.h - what tkc tune and tkc bench are asked for ---------------------------===//
#pragma once

#include "ir/diagnostics/Render.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tk {

struct RawOptions;
enum class Command;

struct TuneOptions {
  enum class Action { Tune, Merge, Why, Bench };
  using Words = std::vector<std::pair<std::string, std::string>>; // name and value

  Action action = Action::Tune;
  std::vector<Words> shapes; // "M=4096,N=4096"
  Words fills;               // "x=rand"
  std::string kernel;        // -k; empty: the only one
  std::string output;        // the table; empty: none is written
  std::string cache;         // a folder; empty: none
  std::string why;           // a table to explain
  std::string baseline;      // another bundle or source to compare with
  std::string svg;
  std::vector<std::string> tables; // to merge
  bool isCacheOwn = false;         // `cache` was made for this call alone
  bool halving = false, json = false;
  int device = 0, rounds = 0, timeoutSeconds = 0; // 0: the library's
  unsigned shard = 0, shards = 0;
};

/// The first mistake, if there is one. `command` is Tune, Merge or Bench.
std::optional<DiagRecord> convertTune(const RawOptions &raw, Command command, TuneOptions &to);

} // namespace tk
