#include "study/agents/sweep_points.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/check.h"
#include "base/config_json.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

const std::string kSource = "the sweep";
const std::string kRetention = "deployment.engine.retention.";

Setting number_setting(const std::string& key, double value) {
  return {key, number_node(value, kSource)};
}

Setting idle_setting(const std::string& idle) {
  return {kRetention + "idle", text_node(idle, kSource)};
}

Setting ttl_setting(const std::optional<double>& ttl_s) {
  ConfigNode value = ttl_s ? number_node(*ttl_s, kSource) : ConfigNode::null({kSource, 0});
  return {kRetention + "ttl_s", std::move(value)};
}

std::vector<SweepPoint> ttl_points(const AgentSweepOptions& options) {
  std::vector<SweepPoint> points;
  for (const std::optional<double>& ttl : options.ttl_s) {
    points.push_back({.name = ttl ? number_text(*ttl) + " s" : "never",
                      .strategy = "retain",
                      .value = ttl,
                      .settings = {{idle_setting("retain"), ttl_setting(ttl)}}});
  }
  return points;
}

// Keys of a policy are unknown keys beside another one. So where the configured router has some,
// the whole map is set, with what all policies share as it is configured.
class RouterSettings {
 public:
  explicit RouterSettings(const PreparedRun& base) {
    const ConfigNode* deployment = base.effective.find("deployment");
    const ConfigNode* router = deployment == nullptr ? nullptr : deployment->find("router");
    if (router == nullptr) return;
    for (const ConfigNode::Entry& entry : router->entries()) {
      if (entry.key == "policy") continue;
      const bool shared = entry.key == "staleness_s" || entry.key == "corrections";
      const bool homes = entry.key == "most_sessions";
      by_keys_ &= shared;
      if (shared || homes) kept_.push_back(entry);
    }
  }

  std::vector<Setting> of(const std::string& policy, std::optional<double> slack_ms) const {
    const std::string key = "deployment.router";
    if (by_keys_) {
      std::vector<Setting> settings = {{key + ".policy", text_node(policy, kSource)}};
      if (slack_ms) settings.push_back(number_setting(key + ".affinity_slack_ms", *slack_ms));
      return settings;
    }
    ConfigNode router = ConfigNode::map({kSource, 0});
    router.append("policy", text_node(policy, kSource), {kSource, 0});
    if (slack_ms) {
      router.append("affinity_slack_ms", number_node(*slack_ms, kSource), {kSource, 0});
    }
    for (const ConfigNode::Entry& entry : kept_) {
      if (entry.key == "most_sessions" && policy == "least_load") continue;
      router.append(entry.key, entry.value, {kSource, 0});
    }
    return {{key, std::move(router)}};
  }

 private:
  bool by_keys_ = true;
  std::vector<ConfigNode::Entry> kept_;
};

Result<std::vector<SweepPoint>> affinity_points(const Scenario& scenario) {
  const PreparedRun& base = scenario.base();
  std::int64_t replicas = 0;
  for (const GroupOptions& group : base.deployment.fleet.groups) {
    replicas += group.replicas * group.ranks;
  }
  if (replicas < 2) {
    return fail(ErrorCode::kInvalidConfig,
                "deployment.replicas: '1': expected at least 2: with one replica a router has "
                "nothing to choose, and every session stays where it is",
                scenario.label());
  }
  const RouterSettings router(base);
  std::vector<SweepPoint> points;
  const auto add = [&](const std::string& name, const std::string& policy,
                       std::optional<double> slack) {
    points.push_back(
        {.name = name, .strategy = policy, .value = slack, .settings = {router.of(policy, slack)}});
  };
  add("least_load", "least_load", {});
  for (const double slack : base.study.agents.affinity_slack_ms) {
    add("slack " + number_text(slack) + " ms", "bounded_affinity", slack);
  }
  add("session_affinity", "session_affinity", {});
  return points;
}

HostTierOptions configured_host(const PreparedRun& base) {
  const auto& retention = base.config.deployment.engine.retention;
  return retention.value_or(default_kv_retention()).host;
}

// Those of the options and the configured one, rising.
std::vector<double> bandwidths_of(const PreparedRun& base) {
  std::vector<double> bandwidths = base.study.agents.host_bandwidth_gb_s;
  const double own = configured_bandwidth_gb_s(base);
  const auto at = std::lower_bound(bandwidths.begin(), bandwidths.end(), own);
  if (at == bandwidths.end() || *at != own) bandwidths.insert(at, own);
  return bandwidths;
}

std::vector<SweepPoint> host_points(const PreparedRun& base) {
  const AgentSweepOptions& options = base.study.agents;
  std::vector<SweepPoint> points = {
      {.name = "recompute", .strategy = "recompute", .settings = {{idle_setting("recompute")}}},
      {.name = "retain", .strategy = "retain", .settings = {{idle_setting("retain")}}}};
  const std::vector<double> configured = {configured_host(base).capacity_bytes * 1e-9};
  const bool several = options.host_capacity_gb.size() > 1;
  for (const double capacity :
       options.host_capacity_gb.empty() ? configured : options.host_capacity_gb) {
    for (const double bandwidth : bandwidths_of(base)) {
      std::vector<Setting> settings = {
          idle_setting("offload"), number_setting(kRetention + "host.bandwidth_gb_s", bandwidth)};
      if (!options.host_capacity_gb.empty()) {
        settings.push_back(number_setting(kRetention + "host.capacity_gb", capacity));
      }
      points.push_back({.name = "offload " + number_text(bandwidth) + " GB/s" +
                                (several ? ", " + number_text(capacity) + " GB" : ""),
                        .strategy = "offload",
                        .value = bandwidth,
                        .capacity_gb = capacity,
                        .is_choice = bandwidth == configured_bandwidth_gb_s(base),
                        .settings = {std::move(settings)}});
    }
  }
  return points;
}

}  // namespace

std::string_view sweep_name(SweepKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"ttl_sweep", "affinity_sweep",
                                                      "memory_stress", "host_sweep"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<std::vector<SweepPoint>> sweep_points(SweepKind kind, const Scenario& scenario) {
  CHECK(kind != SweepKind::kMemory) << "budgets are multiples of what a run has shown";
  if (kind == SweepKind::kTtl) return ttl_points(scenario.base().study.agents);
  if (kind == SweepKind::kAffinity) return affinity_points(scenario);
  return host_points(scenario.base());
}

double configured_bandwidth_gb_s(const PreparedRun& base) {
  return configured_host(base).bytes_per_ns;  // GB/s are bytes per nanosecond
}

std::vector<Setting> full_retention() {
  return {idle_setting("retain"), ttl_setting({})};
}

Setting kv_cache_setting(double tokens) {
  return number_setting("deployment.engine.kv_cache_tokens", tokens);
}

}  // namespace inferscale
