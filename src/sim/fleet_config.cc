#include "sim/fleet_config.h"

#include "catalog/deployment_options.h"
#include "sim/fleet_events_config.h"

namespace inferscale {
namespace {

constexpr std::int64_t kMostReplicas = 100'000;
constexpr std::string_view kInherits = "as in deployment; keys that are not written inherit";

ConfigReader inheriting(const ConfigReader& own, const ConfigReader& deployment) {
  return own.inheriting(deployment, {{.key = "hardware"},
                                     {.key = "parallel"},
                                     {.key = "precision"},
                                     {.key = "engine"},
                                     {.key = "latency", .chooser = "model"},
                                     {.key = "price_per_accelerator_hour"}});
}

std::int64_t read_count(ConfigReader& reader) {
  return reader.integer("replicas", {.fallback = 1,
                                     .min = 1,
                                     .max = kMostReplicas,
                                     .unit = "replicas",
                                     .doc = "how many there are at the start"});
}

// An autoscaler begins with a number that it would leave as it is.
void check_start(ConfigReader& reader, std::int64_t replicas,
                 const std::optional<ScalingOptions>& scaling) {
  if (!scaling || !scaling->autoscale) return;
  const AutoscaleOptions& range = *scaling->autoscale;
  if (replicas >= range.min && replicas <= range.max) return;
  reader.fail("replicas", "expected from " + std::to_string(range.min) + " to " +
                              std::to_string(range.max) + ", the autoscaler's min and max");
}

// Reads a group's map, which inherits from `deployment`; its own keys are left to be finished.
void read_kind(ConfigReader& own, const ModelSpec& model, GroupConfig& group) {
  group.replicas = read_count(own);
  if (own.is_describing()) {
    // Their keys are described where they are inherited from.
    for (const std::string_view key : {"hardware", "parallel", "precision", "engine", "latency",
                                       "price_per_accelerator_hour", "scaling"}) {
      own.raw(key, "as deployment." + std::string(key), kInherits, "inherited");
    }
    return;
  }
  group.deployment = read_replica(own, model);
  group.scaling = read_scaling(own);
  check_start(own, group.replicas, group.scaling);
}

std::vector<GroupConfig> read_groups(ConfigReader& deployment, const ModelSpec& model) {
  std::vector<GroupConfig> groups;
  for (ConfigReader& item :
       deployment.list("groups",
                       "replicas of different kinds behind one router; each inherits "
                       "what it does not say (docs/fleets.md)")) {
    ConfigReader own = inheriting(item, deployment);
    GroupConfig group;
    group.name = own.text("name", std::nullopt, "how reports and failures call it");
    for (const GroupConfig& other : groups) {
      if (other.name == group.name) own.fail("name", "expected a name that no other group has");
    }
    group.weight = own.number("weight", {.fallback = 1,
                                         .min = 0,
                                         .max = 1e6,
                                         .above_min = true,
                                         .unit = "ratio",
                                         .doc = "capacity of a replica against other groups'; "
                                                "routers divide load by it"});
    read_kind(own, model, group);
    own.finish();
    groups.push_back(std::move(group));
  }
  if (deployment.is_describing()) groups.clear();
  return groups;
}

LinkOptions read_link(ConfigReader& disaggregation) {
  ConfigReader reader = disaggregation.map("link", "what moves KV caches between the pools");
  LinkOptions link;
  link.base_latency = Duration::from_seconds(
      1e-6 * reader.number("base_latency_us", {.fallback = 20,
                                               .min = 0,
                                               .max = 1e9,
                                               .unit = "us",
                                               .doc = "what a transfer takes beside its bytes"}));
  link.bandwidth = 1e9 * reader.number("bandwidth_gb_s", {.fallback = 50,
                                                          .min = 1e-6,
                                                          .max = 1e6,
                                                          .unit = "GB/s",
                                                          .doc = "bytes/s that the link moves"});
  link.scale = reader.number("scale", {.fallback = 1,
                                       .min = 0,
                                       .max = 1000,
                                       .unit = "factor",
                                       .doc = "multiplies the time of every transfer"});
  const std::string sharing = reader.choice(
      "sharing", {"serial", "fair"}, "serial",
      "serial: one transfer after the other; fair: all that are under way share the bandwidth");
  link.sharing = sharing == "fair" ? LinkSharing::kFair : LinkSharing::kSerial;
  reader.finish();
  return link;
}

GroupConfig read_pool(ConfigReader& disaggregation, const ConfigReader& deployment,
                      std::string_view name, std::string_view doc, const ModelSpec& model,
                      RouterOptions* router) {
  ConfigReader own = inheriting(disaggregation.map(name, doc), deployment);
  GroupConfig group;
  group.name = name;
  read_kind(own, model, group);
  if (router != nullptr) {
    if (own.is_describing()) {
      own.raw("router", "as deployment.router",
              "chooses a decode replica when the prefill has ended", "{policy: least_load}");
    } else {
      *router = read_router(own);
    }
  }
  own.finish();
  return group;
}

void read_disaggregation(ConfigReader& deployment, const ModelSpec& model, FleetConfig& fleet) {
  std::optional<ConfigReader> reader = deployment.optional_map(
      "disaggregation",
      "prefill and decode on replicas of their own, joined by a link (docs/disaggregation.md)");
  if (!reader) return;
  SplitConfig split;
  std::vector<GroupConfig> pools;
  pools.push_back(read_pool(*reader, deployment, "prefill",
                            "replicas that prefill; deployment.router chooses among them", model,
                            nullptr));
  pools.push_back(read_pool(*reader, deployment, "decode", "replicas that decode", model,
                            &split.decode_router));
  split.link = read_link(*reader);
  reader->finish();
  if (reader->is_describing()) return;
  if (!fleet.groups.empty()) {
    deployment.fail("groups", "expected no groups beside disaggregation, which has its own two");
  }
  fleet.split = split;
  fleet.groups = std::move(pools);
}

void read_plain(const DeploymentConfig& base, std::int64_t replicas,
                std::optional<ScalingOptions> scaling, ConfigReader& deployment,
                FleetConfig& fleet) {
  if (fleet.groups.empty()) {
    check_start(deployment, replicas, scaling);
    fleet.groups.push_back({.name = "replicas",
                            .replicas = replicas,
                            .deployment = base,
                            .scaling = std::move(scaling)});
    return;
  }
  if (replicas != 1) {
    deployment.fail("replicas",
                    "expected 1 beside groups or disaggregation: each group has its "
                    "own number");
  }
  if (scaling) {
    deployment.fail("scaling", "expected it in the group that it is about: there are several");
  }
}

}  // namespace

DeploymentConfig read_replica(ConfigReader& deployment, const ModelSpec& model) {
  DeploymentConfig config{.model = model};
  config.hardware = read_hardware(deployment);
  const bool known = model.layers > 0 || deployment.is_describing();
  if (known) config.shape = read_deployment_shape(deployment, model, config.hardware);
  config.engine = read_engine_options(deployment);
  config.latency = read_latency_options(deployment);
  config.price_per_accelerator_hour = deployment.optional_number(
      "price_per_accelerator_hour",
      {.min = 0,
       .max = 1e9,
       .doc =
           "what an accelerator costs for an hour in which it is up, in whatever currency; null: "
           "not known, and studies say nothing of cost"});
  return config;
}

FleetConfig read_fleet(ConfigReader& deployment, const DeploymentConfig& base) {
  FleetConfig fleet;
  const std::int64_t replicas = read_count(deployment);
  fleet.router = read_router(deployment);
  fleet.groups = read_groups(deployment, base.model);
  read_disaggregation(deployment, base.model, fleet);
  std::optional<ScalingOptions> scaling = read_scaling(deployment);
  if (deployment.is_describing()) scaling = std::nullopt;
  read_plain(base, replicas, std::move(scaling), deployment, fleet);
  std::vector<NamedGroup> names;
  for (const GroupConfig& group : fleet.groups) {
    names.push_back({group.name, LifecycleOptions::Group{group.replicas, group.scaling}.most()});
  }
  fleet.failures = read_failures(deployment, names);
  return fleet;
}

}  // namespace inferscale
