//===- Tuner.h - candidates, shapes, and what came out ---------------------===//
#ifndef TKC_TUNE_TUNER_H
#define TKC_TUNE_TUNER_H

#include "Cache.h"
#include "Search.h"
#include "Session.h"
#include "tkc/tune.h"

namespace tkctune {

/// What became of one candidate for one shape.
struct Outcome {
  enum class State { Timed, Stopped, Failed, LeftOut, OtherShard, CutShort };
  State state = State::Timed;
  bool fromCache = false, isHostBound = false, hasFaulted = false;
  int32_t variant = -1;
  Summary summary;
  std::vector<double> samples; ///< of a benchmark
  std::string why;
};

struct ShapeResult {
  static constexpr size_t kNone = ~size_t(0);
  bool isBench = false;
  Json shape = Json::object(), key = Json::array(), dtypes;
  double flops = 0, bytes = 0;
  std::vector<Outcome> outcomes; ///< one a candidate
  size_t winner = kNone, runnerUp = kNone;
};

class Tuner {
public:
  explicit Tuner(Files &files) : cache(files, [this](const std::string &text) { warn(text); }) {}
  ~Tuner();

  tkc_status open(const tkc_tune_desc &desc, tkc_error *err);
  tkc_status add(const tkc_bundle_desc &desc, const char *kernel, const tkc_const *consts,
                 uint32_t n, const char *label, uint32_t flags, tkc_error *err);
  void addFailed(const char *configId, const char *reason);
  tkc_status giveCode(size_t index, const tkc_bundle_desc &desc, tkc_error *err);
  void markFailed(size_t index, const char *reason);

  tkc_status markFaulted(size_t index, const Problem &problem, const char *reason, tkc_error *err);

  tkc_status missing(const Problem &problem, uint8_t *out, size_t count, tkc_error *err);
  tkc_status tuneShape(const Problem &problem, tkc_error *err);
  tkc_status tuneArgs(const tkc_arg *args, size_t count, uint32_t flags, tkc_error *err);
  tkc_status bench(const Problem &problem, tkc_error *err);

  Json report() const;
  Json table() const;

  size_t numCandidates() const { return candidates.size(); }
  Cache &notes() { return cache; }

private:
  tkc_status plan(const Problem &problem, Plan &out, tkc_error *err) const;
  tkc_status needKernel(tkc_error *err) const;
  tkc_status tune(const Plan &plan, const std::map<std::string, Fill> &fills, const Json &shape,
                  const std::vector<tkc_arg> *launchOn, tkc_error *err);
  void leaveOut(const Plan &plan, std::vector<Outcome> &outcomes) const;
  void lookUp(const Plan &plan, const Json &fills, std::vector<Outcome> &outcomes);
  void keep(const Plan &plan, const Json &fills, const std::vector<Outcome> &outcomes);
  Json cacheKey(const Candidate &candidate, const Plan &plan, const Json &fills) const;
  Json failureKey(Json key) const;
  tkc_status timeAll(Session &session, const std::vector<size_t> &wanted,
                     std::vector<Outcome> &outcomes, tkc_error *err);
  ShapeResult begin(const Plan &plan, const Json &shape) const;
  static void rank(ShapeResult &result);
  void describeProgress(const std::vector<Trial> &trials, const std::vector<size_t> &wanted);
  Json deviceJson() const;
  Json outcomeJson(const Outcome &outcome, const Candidate &candidate) const;
  Json recordOf(const std::vector<const ShapeResult *> &shapes) const;
  void warn(const std::string &text) const;

  tkc_tune_desc options{};
  std::string producer;
  Cache cache;
  tkc_driver *driver = nullptr;
  Gpu gpu;
  SearchOptions search;
  TimingOptions timing;
  std::vector<Candidate> candidates;
  std::map<std::string, std::string> faults; ///< reasons, by `faultKey`
  std::vector<ShapeResult> results;
  double copyBandwidth = 0;
};

/// The memory's size as tables and caches name it.
int64_t memoryGib(const DeviceFacts &device);
const char *stateName(Outcome::State state);

} // namespace tkctune

struct tkc_tuner {
  tkctune::Files files;
  tkctune::Tuner tuner{files};
};

#endif
