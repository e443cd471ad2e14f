//===- Tuner.cpp - candidates, shapes, and what came out -------------------===//
#include "Tuner.h"

#include "Error.h"
#include "TableLookup.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tkctune {

using State = Outcome::State;
using tkcrt::fail;

/// A candidate whose least possible time is this many times the best candidate's is left out.
constexpr double kHopelessModel = 4;

Tuner::~Tuner() {
  gpu.close();
  tkc_driver_release(driver);
}

void Tuner::warn(const std::string &text) const {
  if (options.warn)
    options.warn(options.user, text.c_str());
}

int64_t memoryGib(const DeviceFacts &device) {
  return tkcrt::gibOf(static_cast<uint64_t>(device.memoryBytes));
}

tkc_status Tuner::open(const tkc_tune_desc &desc, tkc_error *err) {
  options = desc;
  if (desc.search > TKC_TUNE_HALVING)
    return fail(err, TKC_E_ARG,
                "tkc_tune_desc.search is %u, needed TKC_TUNE_EXHAUSTIVE or "
                "TKC_TUNE_HALVING",
                desc.search);
  if (desc.rounds < 0 || desc.budget_ms < 0 || desc.margin < 0 || desc.timeout_ms < 0)
    return fail(err, TKC_E_ARG,
                "tkc_tune_desc: rounds, budget_ms, margin and timeout_ms can't be negative");
  if (desc.shards ? desc.shard < 1 || desc.shard > desc.shards : desc.shard != 0)
    return fail(err, TKC_E_ARG, "shard %u of %u: needed 1 to the number of shards", desc.shard,
                desc.shards);
  if (desc.timeout_ms > 0)
    gpu.setTimeout(desc.timeout_ms);
  search.method = desc.search == TKC_TUNE_HALVING ? Method::Halving : Method::Exhaustive;
  search.rounds = desc.rounds ? desc.rounds : search.rounds;
  search.margin = desc.margin > 0 ? desc.margin : search.margin;
  timing.budgetMs = desc.budget_ms > 0 ? desc.budget_ms : timing.budgetMs;
  timing.flushBytes = desc.flush_bytes;
  producer = desc.producer ? desc.producer : "";
  if (tkc_status status = tkc_driver_open(desc.driver, &driver, err))
    return status;
  if (tkc_status status = gpu.open(desc.driver, desc.device, desc.context, err))
    return status;
  if (desc.cache)
    cache.open(desc.cache); // what is wrong with it is a warning
  return TKC_OK;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

tkc_status Tuner::add(const tkc_bundle_desc &desc, const char *name, const tkc_const *consts,
                      uint32_t n, const char *label, uint32_t flags, tkc_error *err) {
  auto source = std::make_shared<Source>();
  if (tkc_status status = readSource(desc, *source, err))
    return status;
  const Json *kernel = nullptr;
  if (tkc_status status =
          findKernelJson(source->document, name ? name : "", consts, n, kernel, err))
    return status;
  if (!member(*kernel, "args") || !member(*kernel, "variants"))
    return fail(err, TKC_E_CORRUPT, "the kernel's JSON has no args or no variants");
  for (const Candidate &other : candidates)
    if (other.kernel && ((*other.kernel)["kernel"] != (*kernel)["kernel"] ||
                         (*other.kernel)["args"] != (*kernel)["args"]))
      return fail(err, TKC_E_ABI,
                  "candidates must be of one kernel: name or parameters differ from "
                  "those added before");
  for (Candidate &candidate : candidatesOf(source, *kernel, flags & TKC_TUNE_AS_SHIPPED)) {
    candidate.label = label ? label : "";
    candidates.push_back(std::move(candidate));
  }
  return TKC_OK;
}

void Tuner::addFailed(const char *configId, const char *reason) {
  Candidate candidate;
  candidate.configId = configId;
  candidate.failure = reason;
  candidates.push_back(std::move(candidate));
}

tkc_status Tuner::giveCode(size_t index, const tkc_bundle_desc &desc, tkc_error *err) {
  Candidate &old = candidates[index];
  auto source = std::make_shared<Source>();
  if (tkc_status status = readSource(desc, *source, err))
    return status;
  const Json *kernel = nullptr;
  std::string name = old.kernel ? old.kernel->at("kernel").get<std::string>() : "";
  if (tkc_status status =
          findKernelJson(source->document, name, old.consts.data(), old.consts.size(), kernel, err))
    return status;
  for (Candidate &candidate : candidatesOf(source, *kernel, false)) {
    if (candidate.configId != old.configId)
      continue;
    candidate.label = old.label;
    old = std::move(candidate);
    return TKC_OK;
  }
  return fail(err, TKC_E_NO_VARIANT, "the bundle has no configuration `%s`", old.configId.c_str());
}

void Tuner::markFailed(size_t index, const char *reason) {
  candidates[index].failure = reason;
}

tkc_status Tuner::needKernel(tkc_error *err) const {
  for (const Candidate &candidate : candidates)
    if (candidate.kernel)
      return TKC_OK;
  std::string why = candidates.empty() ? "none was added" : candidates.front().failure;
  return fail(err, TKC_E_NO_VARIANT, "there is no candidate to time: %s", why.c_str());
}

static const Json &kernelOf(const std::vector<Candidate> &candidates) {
  return *std::find_if(candidates.begin(), candidates.end(), [](const Candidate &candidate) {
            return candidate.kernel;
          })->kernel;
}

tkc_status Tuner::plan(const Problem &problem, Plan &out, tkc_error *err) const {
  if (tkc_status status = needKernel(err))
    return status;
  return out.fromProblem(kernelOf(candidates), problem, gpu.facts().sms, err);
}

//===----------------------------------------------------------------------===//
// Before timing
//===----------------------------------------------------------------------===//

/// What fails, does not fit or can't be fast needs no launch.
void Tuner::leaveOut(const Plan &plan, std::vector<Outcome> &outcomes) const {
  std::vector<double> least(candidates.size(), 0);
  double best = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate &candidate = candidates[i];
    Outcome &outcome = outcomes[i];
    size_t item = results.size() * candidates.size() + i;
    if (options.shards && item % options.shards != options.shard - 1) {
      outcome.state = State::OtherShard;
      outcome.why = "another shard times it";
      continue;
    }
    if (!candidate.failure.empty() || !candidate.kernel) {
      outcome.state = State::Failed;
      outcome.why = candidate.failure;
      continue;
    }
    Footprint need = footprintOf(candidate, plan);
    outcome.why = whyPruned(candidate, plan);
    if (outcome.why.empty())
      outcome.why = whyUnfit(gpu.facts(), need);
    if (!outcome.why.empty()) {
      outcome.state = State::LeftOut;
      continue;
    }
    least[i] = leastTime(gpu.facts(), need);
    if (least[i] > 0 && (best == 0 || least[i] < best))
      best = least[i];
  }
  for (size_t i = 0; i < candidates.size(); ++i)
    if (outcomes[i].state == State::Timed && least[i] > kHopelessModel * best) {
      char text[160];
      snprintf(text, sizeof(text), "it needs at least %.1f us, another one %.1f us", least[i],
               best);
      outcomes[i].state = State::LeftOut;
      outcomes[i].why = text;
    }
}

Json Tuner::cacheKey(const Candidate &candidate, const Plan &plan, const Json &fills) const {
  const DeviceFacts &device = gpu.facts();
  return {{"what", "time"},
          {"device", {device.name, device.arch(), device.sms, memoryGib(device)}},
          {"driver", device.driverVersion},
          {"kernel", (*candidate.kernel)["kernel"]},
          {"instance", candidate.instance()},
          {"config_id", candidate.configId},
          {"images", candidate.digests()},
          {"args", plan.key()},
          {"fills", fills},
          {"how",
           {search.method == Method::Halving, search.rounds, timing.budgetMs, timing.flushBytes,
            search.margin}}};
}

/// What failed with one time-out may be fine with another.
Json Tuner::failureKey(Json key) const {
  key["timeout_ms"] = gpu.timeout();
  return key;
}

/// What stands in the buffers is part of what is timed.
static Json fillsJson(const std::map<std::string, Fill> &fills) {
  Json result = Json::object();
  for (const auto &entry : fills)
    result[entry.first] = {static_cast<int>(entry.second.rule), entry.second.low,
                           entry.second.high};
  return result;
}

/// A record as `keep` writes it. The cache has checked that its bytes are whole, not who wrote
/// them.
static bool readOutcome(const Json &value, Outcome &out) {
  const Json *state = member(value, "state"), *why = member(value, "why");
  if (!state || !state->is_string() || !why || !why->is_string())
    return false;
  std::pair<const char *, double *> fields[] = {{"us", &out.summary.median},
                                                {"p20", &out.summary.p20},
                                                {"p80", &out.summary.p80},
                                                {"least", &out.summary.least}};
  for (auto &field : fields) {
    const Json *number = member(value, field.first);
    if (!number || !number->is_number())
      return false;
    *field.second = number->get<double>();
  }
  const Json *samples = member(value, "samples");
  if (!samples || !samples->is_number_unsigned())
    return false;
  out.summary.count = samples->get<size_t>();
  for (State known : {State::Timed, State::Stopped, State::Failed})
    if (*state == stateName(known)) {
      out.state = known;
      out.why = why->get<std::string>();
      out.fromCache = true;
      return known == State::Failed || (out.summary.count && out.summary.median > 0);
    }
  return false;
}

/// A candidate and what it is launched on: unlike the cache's key known before there is code.
static std::string faultKey(size_t index, const Plan &plan, const Json &fills) {
  return Json({index, plan.key(), fills}).dump();
}

void Tuner::lookUp(const Plan &plan, const Json &fills, std::vector<Outcome> &outcomes) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (outcomes[i].state != State::Timed)
      continue;
    auto fault = faults.find(faultKey(i, plan, fills));
    if (fault != faults.end()) {
      outcomes[i].state = State::Failed;
      outcomes[i].why = fault->second;
      outcomes[i].hasFaulted = true;
      continue;
    }
    Json value, key = cacheKey(candidates[i], plan, fills);
    Outcome found;
    if (!cache.find(key, value) && !cache.find(failureKey(key), value))
      continue;
    if (readOutcome(value, found))
      outcomes[i] = found;
    else
      warn("cache: a record has no time that can be read: ignored");
  }
}

void Tuner::keep(const Plan &plan, const Json &fills, const std::vector<Outcome> &outcomes) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Outcome &outcome = outcomes[i];
    bool isFound = outcome.state == State::Timed || outcome.state == State::Stopped;
    // A fault is the code's (which a key without a digest does not name); a lack of memory is the
    // day's.
    bool isFault = outcome.state == State::Failed && outcome.hasFaulted &&
                   !candidates[i].digests().empty();
    if (outcome.fromCache || (!isFound && !isFault))
      continue;
    const Summary &summary = outcome.summary;
    Json key = cacheKey(candidates[i], plan, fills);
    cache.store(isFault ? failureKey(key) : key, {{"state", stateName(outcome.state)},
                                                       {"why", outcome.why},
                                                       {"us", summary.median},
                                                       {"p20", summary.p20},
                                                       {"p80", summary.p80},
                                                       {"least", summary.least},
                                                       {"samples", summary.count}});
  }
}

tkc_status Tuner::markFaulted(size_t index, const Problem &problem, const char *reason,
                              tkc_error *err) {
  Plan planned;
  if (tkc_status status = plan(problem, planned, err))
    return status;
  faults[faultKey(index, planned, fillsJson(problem.fills))] = reason;
  return TKC_OK;
}

tkc_status Tuner::missing(const Problem &problem, uint8_t *out, size_t count, tkc_error *err) {
  if (count != candidates.size())
    return fail(err, TKC_E_ARG, "there are %zu candidates, not %zu", candidates.size(), count);
  Plan planned;
  if (tkc_status status = plan(problem, planned, err))
    return status;
  std::vector<Outcome> outcomes(count);
  leaveOut(planned, outcomes);
  lookUp(planned, fillsJson(problem.fills), outcomes);
  for (size_t i = 0; i < count; ++i)
    out[i] = outcomes[i].state == State::Timed && !outcomes[i].fromCache;
  return TKC_OK;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

void Tuner::describeProgress(const std::vector<Trial> &trials, const std::vector<size_t> &wanted) {
  if (!options.progress)
    return;
  size_t running =
      static_cast<size_t>(std::count_if(trials.begin(), trials.end(), [](const Trial &trial) {
        return trial.state == Trial::State::Running;
      }));
  size_t leader = leaderOf(trials);
  std::string text = "shape " + std::to_string(results.size() + 1) + ": " +
                     std::to_string(running) + " of " + std::to_string(trials.size()) + " running";
  if (leader < trials.size()) {
    char time[40];
    snprintf(time, sizeof(time), " %.2f us", summarize(trials[leader].samples).median);
    text += ", best " + candidates[wanted[leader]].configId + time;
  }
  options.progress(options.user, text.c_str());
}

static State stateOf(const Trial &trial) {
  switch (trial.state) {
  case Trial::State::Running:
    return State::Timed;
  case Trial::State::Stopped:
    return State::Stopped;
  case Trial::State::Failed:
    return State::Failed;
  case Trial::State::CutShort:
    return State::CutShort;
  }
  return State::Failed;
}

tkc_status Tuner::timeAll(Session &session, const std::vector<size_t> &wanted,
                          std::vector<Outcome> &outcomes, tkc_error *err) {
  if (tkc_status status = session.open(err))
    return status;
  std::vector<Trial> trials(wanted.size());
  tkctune::search(search, trials,
                  [&](size_t i, double share, std::vector<double> &samples, std::string &why) {
                    if (options.launching && !gpu.isLost())
                      options.launching(options.user, static_cast<uint32_t>(wanted[i]),
                                        candidates[wanted[i]].configId.c_str());
                    Turned turned = session.turn(i, share, samples, why);
                    describeProgress(trials, wanted);
                    return turned;
                  });
  for (size_t i = 0; i < wanted.size(); ++i) {
    Outcome &outcome = outcomes[wanted[i]];
    outcome.state = stateOf(trials[i]);
    outcome.why = trials[i].why;
    outcome.variant = session.variantOf(i);
    outcome.isHostBound = session.isHostBound(i);
    outcome.hasFaulted = session.hasFaulted(i);
    outcome.summary = summarize(trials[i].samples);
    outcome.samples = std::move(trials[i].samples);
  }
  return TKC_OK;
}

ShapeResult Tuner::begin(const Plan &plan, const Json &shape) const {
  ShapeResult result;
  result.shape = shape;
  result.dtypes = plan.dtypes();
  result.outcomes.resize(candidates.size());
  const Json &kernel = kernelOf(candidates);
  const Json *tune = member(kernel, "tune");
  const Json *key = tune ? member(*tune, "key") : nullptr;
  for (const Json &expr : key ? *key : Json::array()) {
    int64_t value = 0;
    if (plan.names.evaluate(expr, "tune.key", value, nullptr) == TKC_OK)
      result.key.push_back(value);
  }
  for (const Candidate &candidate : candidates)
    if (candidate.kernel) {
      Footprint need = footprintOf(candidate, plan);
      result.flops = need.flops;
      result.bytes = need.bytes;
    }
  return result;
}

/// The winner is the fastest of those that got all their turns; else of those given up.
void Tuner::rank(ShapeResult &result) {
  std::vector<std::pair<std::pair<bool, double>, size_t>> order;
  for (size_t i = 0; i < result.outcomes.size(); ++i) {
    const Outcome &outcome = result.outcomes[i];
    if (outcome.state == State::Timed || outcome.state == State::Stopped)
      order.push_back({{outcome.state == State::Stopped, outcome.summary.median}, i});
  }
  std::sort(order.begin(), order.end());
  if (!order.empty())
    result.winner = order[0].second;
  if (order.size() > 1)
    result.runnerUp = order[1].second;
}

tkc_status Tuner::tune(const Plan &plan, const std::map<std::string, Fill> &fills,
                       const Json &shape, const std::vector<tkc_arg> *launchOn, tkc_error *err) {
  ShapeResult result = begin(plan, shape);
  leaveOut(plan, result.outcomes);
  lookUp(plan, fillsJson(fills), result.outcomes);
  std::vector<size_t> wanted;
  std::vector<const Candidate *> timed;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (result.outcomes[i].state == State::Timed && !result.outcomes[i].fromCache) {
      wanted.push_back(i);
      timed.push_back(&candidates[i]);
    }
  Gpu::Current current(gpu);
  if (!wanted.empty()) {
    Session session(driver, gpu, plan, fills, timed, timing);
    if (tkc_status status = timeAll(session, wanted, result.outcomes, err))
      return status;
    for (Outcome &outcome : result.outcomes)
      outcome.samples.clear();
  }
  keep(plan, fillsJson(fills), result.outcomes);
  rank(result);
  results.push_back(result);
  bool isOthers =
      std::all_of(result.outcomes.begin(), result.outcomes.end(),
                  [](const Outcome &outcome) { return outcome.state == State::OtherShard; });
  if (result.winner == ShapeResult::kNone && !isOthers) {
    auto bad = std::find_if(result.outcomes.begin(), result.outcomes.end(),
                            [](const Outcome &outcome) { return !outcome.why.empty(); });
    return fail(err, TKC_E_NO_VARIANT, "none of the %zu candidates could be timed; the first: %s",
                candidates.size(), bad == result.outcomes.end() ? "" : bad->why.c_str());
  }
  if (!launchOn || result.winner == ShapeResult::kNone)
    return TKC_OK;
  Session session(driver, gpu, plan, fills, {&candidates[result.winner]}, timing);
  if (tkc_status status = session.open(err))
    return status;
  return session.launchOn(0, *launchOn, err);
}

static Json valuesJson(const Problem &problem) {
  Json result = Json::object();
  for (const auto &entry : problem.values)
    result[entry.first] = entry.second;
  return result;
}

tkc_status Tuner::tuneShape(const Problem &problem, tkc_error *err) {
  Plan planned;
  if (tkc_status status = plan(problem, planned, err))
    return status;
  return tune(planned, problem.fills, valuesJson(problem), nullptr, err);
}

tkc_status Tuner::tuneArgs(const tkc_arg *args, size_t count, uint32_t flags, tkc_error *err) {
  if (!options.context)
    return fail(err, TKC_E_ARG,
                "tkc_tune_args needs the context in which the memory was allocated "
                "in tkc_tune_desc.context");
  if (tkc_status status = needKernel(err))
    return status;
  Plan planned;
  if (tkc_status status = planned.fromArgs(kernelOf(candidates), args, count, gpu.facts().sms, err))
    return status;
  std::vector<tkc_arg> live(args, args + count);
  return tune(planned, {}, Json::object(), flags & TKC_TUNE_LAUNCH ? &live : nullptr, err);
}

tkc_status Tuner::bench(const Problem &problem, tkc_error *err) {
  Plan planned;
  if (tkc_status status = plan(problem, planned, err))
    return status;
  ShapeResult result = begin(planned, valuesJson(problem));
  result.isBench = true;
  std::vector<size_t> wanted;
  std::vector<const Candidate *> timed;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Outcome &outcome = result.outcomes[i];
    outcome.why = candidates[i].failure;
    if (!outcome.why.empty())
      outcome.state = State::Failed;
    else {
      wanted.push_back(i);
      timed.push_back(&candidates[i]);
    }
  }
  Gpu::Current current(gpu);
  Session session(driver, gpu, planned, problem.fills, timed, timing);
  search.method = Method::Exhaustive;
  search.margin = 1e9; // nobody is given up
  if (tkc_status status = timeAll(session, wanted, result.outcomes, err))
    return status;
  if (copyBandwidth == 0 && !gpu.isLost())
    if (tkc_status status = session.copyBandwidth(copyBandwidth, err))
      return status;
  rank(result);
  results.push_back(std::move(result));
  const Outcome &first = results.back().outcomes.front();
  if (!first.summary.count)
    return fail(err, TKC_E_NO_VARIANT, "the kernel could not be timed: %s", first.why.c_str());
  return TKC_OK;
}

} // namespace tkctune
