//===- Table.h - what was found to be fast, for version control ------------===//
// A table is a JSON array of records, one a line, in one order: docs/tuning.md describes it. It
// names configurations by value, so that it outlives a release of the compiler, and it is what
// `tkc --tuned` compiles into a bundle and what the loader reads.
#ifndef TKC_TUNE_TABLE_H
#define TKC_TUNE_TABLE_H

#include "Json.h"

namespace tkctune {

using tkcrt::Json;

/// An array of records; a malformed one is TKC_E_CORRUPT with its place.
tkc_status parseTable(const std::string &text, Json &table, tkc_error *err);

/// Sorts, and of records with equal keys keeps one: of those for the same shapes the fastest, and
/// the next fastest as its runner-up. The order in which records come does not matter.
Json mergeRecords(const Json &records);

/// One record a line.
std::string printTable(const Json &table);

/// What a launch looks for.
struct TableQuery {
  std::string kernel, arch;
  Json instance, dtypes;
  int64_t sms = 0, memoryGib = 0;
  std::vector<int64_t> key;
  std::string onMiss; ///< "default", "nearest", "error"
  std::string spaceHash;
};

/// TKC_E_CORRUPT with the place of a record of this kernel whose key has another length: the loader
/// refuses the table for it.
tkc_status checkKeys(const Json &table, const TableQuery &query, tkc_error *err);

/// The record that wins, or null, and why in `reason`.
const Json *findRecord(const Json &table, const TableQuery &query, std::string &reason);

/// 16 hexadecimal digits of what a kernel's configurations and keys are.
std::string spaceHash(const Json &tune);

} // namespace tkctune

#endif
