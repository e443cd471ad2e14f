//===- TuningTable.h - which configuration is best where -------------------------------===//
//
// The file of --tuned: a JSON list of {kernel, instance, dtypes, arch, sms, memory_gib, key,
// config_id}. `kernel` and `instance` (some or all of its values) say whose a record is; without
// them it is everybody's. `dtypes` and `memory_gib` narrow it, and may be missing too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "bundle/Bundle.h"
#include "frontend/Units.h"
#include "ir/diagnostics/Render.h"

namespace tk {

/// What the records of a table can be about.
struct TableSubject {
  llvm::StringRef file;
  std::vector<llvm::StringRef> kernels; // all that the file has
  std::vector<KernelUnit> units;        // of the kernels that are wanted, in all configurations
  bool hasAllInstances = true;          // -D leaves none out
};

class TuningTable {
public:
  /// None after a diagnostic.
  static std::optional<TuningTable> read(llvm::StringRef path, mlir::MLIRContext &context);

  /// Warns of records about what the file's kernels do not have, and when no record is about one
  /// of them; those of other files' kernels are passed over. Fails when the loader would refuse the
  /// bundle for a key of another length.
  mlir::LogicalResult check(const TableSubject &subject, mlir::MLIRContext &context) const;

  /// Whether some record is about this configuration of this instance.
  bool names(const KernelUnit &unit) const;

  /// Puts the records into the description as `tune.table`; what the loader would refuse is named.
  std::optional<DiagRecord> addTo(Bundle &bundle) const;

private:
  void reportUnused(const TableSubject &subject, bool namesItsKernels,
                    mlir::MLIRContext &context) const;

  std::string path;
  llvm::json::Array records;
  std::vector<std::pair<unsigned, unsigned>> places; // line and column of each record
};

} // namespace tk
