#include "study/explore/bounded_grid.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/config_json.h"
#include "replica/batch_scheduler.h"

namespace inferscale {
namespace {

const std::string kSource = "the bounded grid";

constexpr std::array<SchedulerKind, 3> kSchedulers = {
    SchedulerKind::kContinuousFcfs, SchedulerKind::kContinuousSjf, SchedulerKind::kContinuousSlo};
constexpr std::array<std::int64_t, 3> kBatches = {8, 16, 32};
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> kSplits = {{{1, 1}, {1, 2}, {2, 1}}};

ConfigNode whole(std::int64_t value) {
  return ConfigNode::scalar(std::to_string(value), false, {kSource, 0});
}

ConfigNode boolean(bool value) {
  return ConfigNode::scalar(value ? "true" : "false", false, {kSource, 0});
}

std::int64_t unit_of(const FleetConfig& fleet) {
  std::int64_t unit = fleet.groups.front().replicas;
  for (const GroupConfig& group : fleet.groups) unit = std::min(unit, group.replicas);
  return unit;
}

// Without a split, where the configuration has one.
std::vector<Setting> joined(const FleetConfig& fleet) {
  if (!fleet.split) return {};
  return {{"deployment.disaggregation", ConfigNode::null({kSource, 0})},
          {"deployment.replicas", whole(unit_of(fleet))}};
}

Candidate colocated(const FleetConfig& fleet, SchedulerKind scheduler, std::int64_t batch,
                    bool cached) {
  const std::string name(scheduler_name(scheduler));
  Candidate candidate{
      .name = name + ", batch " + std::to_string(batch) + (cached ? ", cached" : ""),
      .named = true,
      .settings = joined(fleet)};
  candidate.settings.push_back({"deployment.engine.scheduler", text_node(name, kSource)});
  candidate.settings.push_back({"deployment.engine.max_num_seqs", whole(batch)});
  candidate.settings.push_back({"deployment.engine.prefix_caching", boolean(cached)});
  return candidate;
}

Candidate split(const FleetConfig& fleet, std::int64_t prefill, std::int64_t decode, bool cached) {
  Candidate candidate{.name = std::to_string(prefill) + "P:" + std::to_string(decode) + "D" +
                              (cached ? ", cached" : ""),
                      .named = true,
                      .settings = {}};
  // The pools have numbers of their own.
  if (!fleet.split && unit_of(fleet) != 1) {
    candidate.settings.push_back({"deployment.replicas", whole(1)});
  }
  candidate.settings.push_back({"deployment.disaggregation.prefill.replicas", whole(prefill)});
  candidate.settings.push_back({"deployment.disaggregation.decode.replicas", whole(decode)});
  candidate.settings.push_back({"deployment.engine.prefix_caching", boolean(cached)});
  return candidate;
}

}  // namespace

Result<std::vector<Candidate>> bounded_grid(const PreparedRun& base) {
  const FleetConfig& fleet = base.config.fleet;
  const ConfigNode* deployment = base.effective.find("deployment");
  const ConfigNode* groups = deployment == nullptr ? nullptr : deployment->find("groups");
  if (groups != nullptr && !groups->items().empty()) {
    return fail(ErrorCode::kInvalidConfig,
                "deployment.groups: the bounded grid is for replicas of one kind: expected "
                "study.explore.grid or study.explore.candidates beside groups",
                groups->position().to_string());
  }
  std::vector<Candidate> candidates;
  for (const SchedulerKind scheduler : kSchedulers) {
    for (const std::int64_t batch : kBatches) {
      candidates.push_back(colocated(fleet, scheduler, batch, false));
    }
  }
  candidates.push_back(colocated(fleet, SchedulerKind::kContinuousSlo,
                                 base.config.deployment.engine.max_num_seqs, true));
  if (!base.study.explore.splits) return candidates;
  const std::int64_t unit = unit_of(fleet);
  for (const auto& [prefill, decode] : kSplits) {
    for (const bool cached : {false, true}) {
      candidates.push_back(split(fleet, prefill * unit, decode * unit, cached));
    }
  }
  return candidates;
}

}  // namespace inferscale
