//===- Report.cpp - what came out, as JSON ---------------------------------===//
#include "Tuner.h"

#include "Table.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tkctune {

using State = Outcome::State;

const char *stateName(State state) {
  switch (state) {
  case State::Timed:
    return "timed";
  case State::Stopped:
    return "given up";
  case State::Failed:
    return "failed";
  case State::LeftOut:
    return "left out";
  case State::OtherShard:
    return "other shard";
  case State::CutShort:
    return "cut short";
  }
  return "unknown";
}

/// To a hundredth of a nanosecond: nobody measures more, and files stay readable.
static double rounded(double microseconds) {
  return std::round(microseconds * 1e5) / 1e5;
}

Json Tuner::deviceJson() const {
  const DeviceFacts &device = gpu.facts();
  Json json = {{"name", device.name},
               {"arch", device.arch()},
               {"sms", device.sms},
               {"memory_gib", memoryGib(device)},
               {"driver", device.driverVersion},
               {"pin_bytes_per_second", device.peakBandwidth()}};
  double flops = matrixFlopsPerClock(device.major, device.minor);
  if (flops > 0)
    json["matrix_flops_per_second_16bit"] =
        flops * device.sms * static_cast<double>(device.clockKhz) * 1e3;
  if (gpu.isLost())
    json["lost"] = gpu.whyLost();
  if (copyBandwidth > 0)
    json["copy_bytes_per_second"] = copyBandwidth;
  return json;
}

Json Tuner::outcomeJson(const Outcome &outcome, const Candidate &candidate) const {
  Json json = {{"config_id", candidate.configId},
               {"config", candidate.config},
               {"state", stateName(outcome.state)}};
  if (!candidate.label.empty())
    json["label"] = candidate.label;
  if (!outcome.why.empty())
    json["why"] = outcome.why;
  if (outcome.fromCache)
    json["cached"] = true;
  if (outcome.isHostBound)
    json["host_bound"] = true;
  if (outcome.variant >= 0 && candidate.kernel)
    json["variant"] = candidate.kernel->at("variants")[outcome.variant].value("id", "");
  if (!outcome.summary.count)
    return json;
  json["us"] = rounded(outcome.summary.median);
  json["p20"] = rounded(outcome.summary.p20);
  json["p80"] = rounded(outcome.summary.p80);
  json["least"] = rounded(outcome.summary.least);
  json["samples"] = outcome.summary.count;
  for (double sample : outcome.samples)
    json["times"].push_back(rounded(sample));
  return json;
}

Json Tuner::report() const {
  Json shapes = Json::array();
  for (const ShapeResult &result : results) {
    Json shape = {{"shape", result.shape}, {"key", result.key}, {"candidates", Json::array()}};
    if (result.flops > 0)
      shape["flops"] = result.flops;
    if (result.bytes > 0)
      shape["bytes"] = result.bytes;
    for (size_t i = 0; i < result.outcomes.size(); ++i)
      shape["candidates"].push_back(outcomeJson(result.outcomes[i], candidates[i]));
    if (result.winner != ShapeResult::kNone)
      shape["winner"] = result.winner;
    if (result.runnerUp != ShapeResult::kNone) {
      double best = result.outcomes[result.winner].summary.median;
      double next = result.outcomes[result.runnerUp].summary.median;
      shape["runner_up"] = result.runnerUp;
      if (best > 0)
        shape["margin"] = next / best - 1;
    }
    shapes.push_back(shape);
  }
  return {{"device", deviceJson()}, {"shapes", shapes}};
}

namespace {
/// One candidate over the shapes of one key.
struct Standing {
  size_t candidate = 0, shapes = 0;
  double logSum = 0;
  bool operator<(const Standing &other) const {
    if (shapes != other.shapes)
      return shapes > other.shapes; // who ran everywhere comes first
    return logSum / static_cast<double>(shapes) < other.logSum / static_cast<double>(other.shapes);
  }
  double microseconds() const { return rounded(std::exp(logSum / static_cast<double>(shapes))); }
};
} // namespace

/// Who was given up has a time too, of fewer launches: it is slow, which is what a mean has to
/// know.
static bool hasTime(const Outcome &outcome) {
  return outcome.state == State::Timed || outcome.state == State::Stopped;
}

/// The record of the shapes that share a key: the least geometric mean wins.
Json Tuner::recordOf(const std::vector<const ShapeResult *> &shapes) const {
  std::vector<Standing> standings;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Standing standing;
    standing.candidate = i;
    for (const ShapeResult *shape : shapes)
      if (hasTime(shape->outcomes[i])) {
        ++standing.shapes;
        standing.logSum += std::log(shape->outcomes[i].summary.median);
      }
    if (standing.shapes)
      standings.push_back(standing);
  }
  if (standings.empty())
    return nullptr;
  std::sort(standings.begin(), standings.end());
  const Candidate &best = candidates[standings[0].candidate];
  Json provenance = {{"us", standings[0].microseconds()},
                     {"device", gpu.facts().name},
                     {"driver", gpu.facts().driverVersion},
                     {"shapes", Json::array()}};
  if (!producer.empty())
    provenance["compiler"] = producer;
  for (const ShapeResult *shape : shapes)
    if (hasTime(shape->outcomes[standings[0].candidate]))
      provenance["shapes"].push_back(shape->shape);
  std::sort(provenance["shapes"].begin(), provenance["shapes"].end());
  if (standings.size() > 1)
    provenance["runner_up"] = {{"config_id", candidates[standings[1].candidate].configId},
                               {"us", standings[1].microseconds()}};
  const Json *tune = member(*best.kernel, "tune");
  return {{"kernel", (*best.kernel)["kernel"]},
          {"instance", best.instance()},
          {"arch", best.arch()},
          {"sms", gpu.facts().sms},
          {"memory_gib", memoryGib(gpu.facts())},
          {"dtypes", shapes.front()->dtypes},
          {"key", shapes.front()->key},
          {"config", best.config},
          {"config_id", best.configId},
          {"space_hash", spaceHash(tune ? *tune : Json::object())},
          {"provenance", provenance}};
}

Json Tuner::table() const {
  std::map<Json, std::vector<const ShapeResult *>> groups;
  for (const ShapeResult &result : results)
    if (!result.isBench)
      groups[result.key].push_back(&result);
  Json records = Json::array();
  for (const auto &group : groups) {
    Json record = recordOf(group.second);
    if (!record.is_null())
      records.push_back(record);
  }
  return mergeRecords(records);
}

} // namespace tkctune
