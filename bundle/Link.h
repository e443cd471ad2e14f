//===- Link.h - many bundles become one ----------------------------------------------===//
#pragma once

#include "bundle/Bundle.h"
#include <optional>

namespace tk {

/// A bundle and what messages call it: a file, or the unit that it holds.
struct LinkInput {
  std::string name;
  Bundle bundle;
};

/// Two inputs that do not go together.
struct LinkConflict {
  std::string first, second; // names of inputs
  std::string what;          // "kernel `k`: `args` differ"
};

/// Joins the variants of kernels that are the same by name and instance, in an order that does not
/// depend on that of `inputs`; equal images are kept once. `conflict` is set on failure.
std::optional<Bundle> linkBundles(std::vector<LinkInput> inputs, LinkConflict &conflict);

} // namespace tk
