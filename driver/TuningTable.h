//===- TuningTable.h - which configuration is best where -------------------------------===//
//
// The file of --tuned: a JSON list of {kernel, instance, arch, sms, key, config_id}. `kernel` and
// `instance` (some or all of its values) say whose a record is; without them it is everybody's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "bundle/Bundle.h"
#include "frontend/Units.h"

namespace tk {

class TuningTable {
public:
  /// None after a diagnostic.
  static std::optional<TuningTable> read(llvm::StringRef path, mlir::MLIRContext &context);

  /// Whether some record is about this configuration of this instance.
  bool names(const KernelUnit &unit) const;

  /// Puts the records into the description as `tune.table`.
  void addTo(Bundle &bundle) const;

private:
  llvm::json::Array records;
};

} // namespace tk
