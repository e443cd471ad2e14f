//===- Names.h - names of a shape and expressions over them ----------------===//
#ifndef TKC_TUNE_NAMES_H
#define TKC_TUNE_NAMES_H

#include "Expr.h"

#include <map>
#include <string>

namespace tkctune {

using tkcrt::Json;

/// The values that a kernel's expressions (docs/metadata.md) see: `M`, `x.s0`, `sms`.
class Names {
public:
  void set(const std::string &name, int64_t value) { values[name] = value; }
  const int64_t *find(const std::string &name) const;

  /// A name without a value is TKC_E_ARG; `what` begins the message.
  tkc_status evaluate(const Json &expr, const std::string &what, int64_t &out,
                      tkc_error *err) const;

private:
  std::map<std::string, int64_t> values;
};

} // namespace tkctune

#endif
