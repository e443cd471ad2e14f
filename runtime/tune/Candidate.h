//===- Candidate.h - one configuration of a kernel -------------------------===//
#ifndef TKC_TUNE_CANDIDATE_H
#define TKC_TUNE_CANDIDATE_H

#include "Model.h"
#include "Plan.h"

#include <memory>

namespace tkctune {

/// A bundle's bytes, or a JSON with or without the image beside it.
struct Source {
  std::string data, json; ///< as tkc_bundle_desc takes them; no `json`: `data` is a bundle
  Json document;
  bool hasCode() const { return !data.empty(); }
};

/// Reads the JSON out of what the caller gave.
tkc_status readSource(const tkc_bundle_desc &desc, Source &out, tkc_error *err);

struct Candidate {
  std::string label;              ///< the caller's name for it, else empty
  std::shared_ptr<Source> source; ///< none: it did not compile
  const Json *kernel = nullptr;   ///< in source->document
  std::vector<tkc_const> consts;  ///< the instance, into `constTexts`
  std::vector<std::string> constTexts;
  std::string configId;
  Json config = Json::object();
  bool isPinned = false;        ///< its configuration is asked for by config_id
  std::vector<size_t> variants; ///< into the kernel's `variants`
  std::string failure;          ///< why it can't be timed at all

  /// Whether one of its variants has this index.
  bool hasVariant(int32_t index) const;
  /// Of all its images: what exactly is timed.
  Json digests() const;
  Json instance() const;
  /// Of its first variant's target: "sm_90a".
  std::string arch() const;
};

/// The kernel of the document with that name (empty: its only one) and those constants.
tkc_status findKernelJson(const Json &document, const std::string &name, const tkc_const *consts,
                          size_t count, const Json *&out, tkc_error *err);

/// Every configuration of a kernel for a chip; `asShipped`: one candidate that leaves the choice to
/// the bundle.
std::vector<Candidate> candidatesOf(std::shared_ptr<Source> source, const Json &kernel,
                                    bool asShipped);

/// What the candidate's greediest variant takes in a launch like this.
Footprint footprintOf(const Candidate &candidate, const Plan &plan);

/// Why the kernel's own `prune` leaves the configuration out; empty when it does not.
std::string whyPruned(const Candidate &candidate, const Plan &plan);

/// A field of an object, or null.
const Json *member(const Json &object, const char *key);

} // namespace tkctune

#endif
