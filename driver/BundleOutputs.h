//===- BundleOutputs.h - the files that a bundle becomes ---------------------------------===//
#pragma once

#include "bundle/Bundle.h"
#include "driver/Outputs.h"

namespace tk {

/// The stages of `options`, made of `bundle`. Assembly takes in the bundle's file, which is written
/// beside it.
std::vector<Artifact> bundleArtifacts(const Bundle &bundle, const CompileOptions &options,
                                      const OutputPlan &plan);

} // namespace tk
