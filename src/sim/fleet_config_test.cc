// Reading replicas, groups, pools, scaling and failures: what inherits what, and one error for each
// mistake, with the place where it is written.

#include "sim/fleet_config.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/models.h"
#include "sim/deployment.h"

namespace inferscale {
namespace {

struct Setting {
  const char* path;
  const char* value;
};

// Scalars at dotted paths, on one line of the file.
ConfigNode map_of(std::initializer_list<Setting> settings, int line) {
  ConfigNode map = ConfigNode::map({"run.yaml", line});
  for (const auto& [path, value] : settings) {
    EXPECT_TRUE(map.set_path(path, ConfigNode::scalar(value, false, {"run.yaml", line}))) << path;
  }
  return map;
}

ConfigNode list_of(std::vector<ConfigNode> items) {
  ConfigNode list = ConfigNode::list({"run.yaml", 9});
  for (ConfigNode& item : items) list.append(std::move(item));
  return list;
}

// The deployment that all tests begin with, on line 1.
ConfigNode deployment(std::initializer_list<Setting> settings = {}) {
  ConfigNode root = map_of({{"model", "llama-3.1-8b"},
                            {"hardware", "h100-sxm"},
                            {"engine.max_num_seqs", "64"},
                            {"engine.kv_block_tokens", "32"},
                            {"latency.model", "linear"},
                            {"latency.step_us", "1000"}},
                           1);
  for (const auto& [path, value] : settings) {
    EXPECT_TRUE(root.set_path(path, ConfigNode::scalar(value, false, {"run.yaml", 2})));
  }
  return root;
}

ConfigNode with(ConfigNode root, const char* path, ConfigNode value) {
  EXPECT_TRUE(root.set_path(path, std::move(value)));
  return root;
}

FleetConfig read(const ConfigNode& root, ConfigSession& session) {
  ConfigReader reader(root, session);
  const ModelSpec model = *find_model(reader.text("model", std::nullopt, ""));
  const DeploymentConfig base = read_replica(reader, model);
  FleetConfig fleet = read_fleet(reader, base);
  reader.finish();
  return fleet;
}

FleetConfig read_good(const ConfigNode& root) {
  ConfigSession session;
  FleetConfig fleet = read(root, session);
  EXPECT_FALSE(session.failed()) << session.error().to_string();
  return fleet;
}

void expect_error(const ConfigNode& root, const std::string& error) {
  ConfigSession session;
  read(root, session);
  ASSERT_TRUE(session.failed()) << "expected " << error;
  EXPECT_EQ(session.error().to_string(), error);
}

TEST(FleetConfig, OneReplicaByDefault) {
  const FleetConfig fleet = read_good(deployment());
  ASSERT_EQ(fleet.groups.size(), 1U);
  EXPECT_EQ(fleet.groups[0].name, "replicas");
  EXPECT_EQ(fleet.groups[0].replicas, 1);
  EXPECT_EQ(fleet.groups[0].deployment.engine.max_num_seqs, 64);
  EXPECT_FALSE(fleet.split);
  EXPECT_FALSE(fleet.failures.any());
  EXPECT_EQ(fleet.router.policy, RouterPolicy::kLeastLoad);
}

TEST(FleetConfig, GroupsInheritKeyByKey) {
  const FleetConfig fleet = read_good(with(
      deployment(), "groups",
      list_of({map_of({{"name", "big"}, {"replicas", "2"}, {"engine.max_num_seqs", "128"}}, 10),
               map_of({{"name", "other"},
                       {"hardware", "a100-80gb"},
                       {"parallel.tensor", "2"},
                       {"latency.model", "roofline"},
                       {"weight", "0.5"}},
                      11)})));
  ASSERT_EQ(fleet.groups.size(), 2U);
  const GroupConfig& big = fleet.groups[0];
  EXPECT_EQ(big.replicas, 2);
  EXPECT_EQ(big.weight, 1);
  EXPECT_EQ(big.deployment.engine.max_num_seqs, 128);
  EXPECT_EQ(big.deployment.engine.kv_block_tokens, 32);
  EXPECT_EQ(big.deployment.hardware.name, "h100-sxm");
  EXPECT_EQ(big.deployment.latency.linear.step_us, 1000);
  const GroupConfig& other = fleet.groups[1];
  EXPECT_EQ(other.weight, 0.5);
  EXPECT_EQ(other.deployment.hardware.name, "a100-80gb");
  EXPECT_EQ(other.deployment.shape.tensor, 2);
  EXPECT_EQ(other.deployment.engine.max_num_seqs, 64);
  // Another latency model: the coefficients of the deployment's are not its own.
  EXPECT_EQ(other.deployment.latency.kind, LatencyKind::kRoofline);
}

// The start of the message is enough where the rest lists all keys.
void expect_error_begins(const ConfigNode& root, const std::string& start) {
  ConfigSession session;
  read(root, session);
  ASSERT_TRUE(session.failed()) << "expected " << start;
  EXPECT_EQ(session.error().to_string().substr(0, start.size()), start);
}

TEST(FleetConfig, PricesAreInheritedAndMayBeUnknown) {
  EXPECT_EQ(read_good(deployment()).groups[0].deployment.price_per_accelerator_hour, std::nullopt);
  const ConfigNode two =
      list_of({map_of({{"name", "a"}}, 10),
               map_of({{"name", "b"}, {"price_per_accelerator_hour", "0.8"}}, 11)});
  const FleetConfig priced =
      read_good(with(deployment({{"price_per_accelerator_hour", "2.5"}}), "groups", two));
  EXPECT_EQ(priced.groups[0].deployment.price_per_accelerator_hour, 2.5);
  EXPECT_EQ(priced.groups[1].deployment.price_per_accelerator_hour, 0.8);
  const FleetConfig half = read_good(with(deployment(), "groups", two));
  EXPECT_EQ(half.groups[0].deployment.price_per_accelerator_hour, std::nullopt);
  EXPECT_EQ(half.groups[1].deployment.price_per_accelerator_hour, 0.8);
  expect_error_begins(deployment({{"price_per_accelerator_hour", "-1"}}),
                      "run.yaml:2: price_per_accelerator_hour: '-1': expected a number");
}

TEST(FleetConfig, MistakesInGroupsAreFoundWhereTheyAreWritten) {
  expect_error_begins(
      with(deployment(), "groups",
           list_of({map_of({{"name", "a"}, {"engine.max_num_sequences", "1"}}, 10)})),
      "run.yaml:10: unknown key 'groups[0].engine.");
  expect_error_begins(with(deployment(), "groups", list_of({map_of({{"replicas", "2"}}, 10)})),
                      "run.yaml:10: groups[0].name: missing");
  expect_error(with(deployment(), "groups",
                    list_of({map_of({{"name", "a"}}, 10), map_of({{"name", "a"}}, 11)})),
               "run.yaml:11: groups[1].name: 'a': expected a name that no other group has");
  // 5 does not divide the model's heads; the group inherits it from line 2.
  expect_error_begins(with(deployment({{"parallel.tensor", "4"}}), "groups",
                           list_of({map_of({{"name", "a"}, {"parallel.tensor", "5"}}, 10)})),
                      "run.yaml:10: groups[0].parallel.tensor: '5': expected a divisor");
}

TEST(FleetConfig, GroupsSayTheirOwnNumbers) {
  const ConfigNode groups = list_of({map_of({{"name", "a"}}, 10)});
  expect_error_begins(with(deployment({{"replicas", "3"}}), "groups", groups),
                      "run.yaml:2: replicas: '3': expected 1 beside groups");
  expect_error_begins(with(deployment({{"scaling.autoscale.max", "3"}}), "groups", groups),
                      "run.yaml:2: scaling: a map: expected it in the group that it is about");
  expect_error_begins(with(with(deployment(), "groups", groups), "disaggregation",
                           map_of({{"prefill.replicas", "1"}}, 5)),
                      "run.yaml:9: groups: a list: expected no groups beside disaggregation");
}

TEST(FleetConfig, PoolsOfASplit) {
  const FleetConfig fleet =
      read_good(with(deployment({{"router.policy", "prefix_aware"}}), "disaggregation",
                     map_of({{"prefill.replicas", "1"},
                             {"prefill.engine.max_num_batched_tokens", "4096"},
                             {"decode.replicas", "3"},
                             {"decode.router.policy", "least_kv"},
                             {"link.bandwidth_gb_s", "25"},
                             {"link.sharing", "fair"}},
                            5)));
  ASSERT_TRUE(fleet.split);
  ASSERT_EQ(fleet.groups.size(), 2U);
  EXPECT_EQ(fleet.groups[0].name, "prefill");
  EXPECT_EQ(fleet.groups[0].deployment.engine.max_num_batched_tokens, 4096);
  EXPECT_EQ(fleet.groups[1].replicas, 3);
  EXPECT_EQ(fleet.groups[1].deployment.engine.max_num_seqs, 64);
  EXPECT_EQ(fleet.router.policy, RouterPolicy::kPrefixAware);
  EXPECT_EQ(fleet.split->decode_router.policy, RouterPolicy::kLeastKv);
  EXPECT_EQ(fleet.split->link.bandwidth, 25e9);
  EXPECT_EQ(fleet.split->link.base_latency, Duration::nanos(20'000));
  EXPECT_EQ(fleet.split->link.sharing, LinkSharing::kFair);
}

TEST(FleetConfig, AStaticSplitIsServedContinuouslyAndSaysSo) {
  RunConfig config;
  config.fleet = read_good(with(deployment({{"engine.scheduler", "static_fcfs"}}), "disaggregation",
                                map_of({{"decode.replicas", "2"}}, 5)));
  const FleetDeployment derived = derive_fleet(config).value();
  for (const GroupOptions& group : derived.fleet.groups) {
    EXPECT_EQ(group.replica.scheduler, SchedulerKind::kContinuousFcfs);
  }
  ASSERT_EQ(derived.warnings.size(), 2U);
  EXPECT_EQ(derived.warnings[0],
            "The prefill pool asks for static_fcfs, which does not go with disaggregation: "
            "continuous_fcfs is simulated.");
  // 2 x 32 layers x 8 KV heads x 128 x 2 bytes
  EXPECT_EQ(derived.fleet.split->kv_bytes_per_token, 131'072);
}

TEST(FleetConfig, FailuresNameReplicasByNumberOrGroup) {
  const ConfigNode split = with(deployment(), "disaggregation",
                                map_of({{"prefill.replicas", "2"}, {"decode.replicas", "3"}}, 5));
  const FleetConfig fleet = read_good(with(
      split, "failures",
      list_of({map_of({{"replica", "1"}, {"at_s", "10"}}, 20),
               map_of({{"replica", "decode/2"}, {"at_s", "0.5"}, {"return_after_s", "3"}}, 21)})));
  ASSERT_EQ(fleet.failures.planned.size(), 2U);
  EXPECT_EQ(fleet.failures.planned[0].replica, 1U);
  EXPECT_FALSE(fleet.failures.planned[0].return_after);
  EXPECT_EQ(fleet.failures.planned[1].replica, 4U);
  EXPECT_EQ(fleet.failures.planned[1].at, Instant::nanos(500'000'000));
  EXPECT_EQ(fleet.failures.planned[1].return_after, Duration::from_seconds(3));
  for (const char* wrong : {"5", "-1", "decode/3", "prefill", "other/0", "decode/"}) {
    expect_error(
        with(split, "failures", list_of({map_of({{"replica", wrong}, {"at_s", "1"}}, 20)})),
        "run.yaml:20: failures[0].replica: '" + std::string(wrong) +
            "': expected a replica: 0 to 4, or prefill/0 to prefill/1, decode/0 to "
            "decode/2");
  }
}

TEST(FleetConfig, ScalingIsAScheduleOrAutoscale) {
  const FleetConfig fleet = read_good(
      with(deployment({{"scaling.startup_delay_s", "5"}, {"replicas", "2"}}), "scaling.schedule",
           list_of({map_of({{"at_s", "10"}, {"replicas", "4"}}, 12),
                    map_of({{"at_s", "20"}, {"replicas", "1"}}, 13)})));
  const ScalingOptions& scaling = *fleet.groups[0].scaling;
  EXPECT_EQ(scaling.startup_delay, Duration::from_seconds(5));
  ASSERT_EQ(scaling.schedule.size(), 2U);
  EXPECT_EQ(scaling.schedule[0].replicas, 4);
  const FleetConfig follows = read_good(deployment({{"scaling.autoscale.max", "9"}}));
  EXPECT_EQ(follows.groups[0].scaling->autoscale->max, 9);
  EXPECT_EQ(follows.groups[0].scaling->autoscale->target_utilisation, 0.7);
  expect_error(deployment({{"scaling.startup_delay_s", "5"}}),
               "run.yaml:2: scaling: expected a schedule or autoscale, one of them");
  expect_error(
      with(deployment(), "scaling.schedule",
           list_of({map_of({{"at_s", "10"}, {"replicas", "4"}}, 12),
                    map_of({{"at_s", "10"}, {"replicas", "1"}}, 13)})),
      "run.yaml:13: scaling.schedule[1].at_s: '10': expected a time after the one before it in "
      "the list");
  expect_error(deployment({{"scaling.autoscale.max", "2"}, {"scaling.autoscale.min", "3"}}),
               "run.yaml:2: scaling.autoscale.max: '2': expected at least min (3)");
}

TEST(FleetConfig, ASchedulerByDeadlinesNeedsOne) {
  RunConfig config;
  config.fleet = read_good(deployment());
  config.fleet.groups[0].deployment.engine.scheduler = SchedulerKind::kContinuousSlo;
  EXPECT_EQ(derive_fleet(config).error().message,
            "deployment.engine.scheduler: continuous_slo orders requests by their deadline: "
            "expected slo.e2e_ms");
  config.slo.e2e = Duration::from_seconds(10);
  EXPECT_EQ(derive_fleet(config).value().fleet.groups[0].replica.e2e_limit,
            Duration::from_seconds(10));
}

TEST(FleetConfig, DataParallelRanksShareTheAccelerators) {
  RunConfig config;
  config.fleet =
      read_good(deployment({{"parallel.data", "4"}, {"parallel.tensor", "2"}, {"replicas", "3"}}));
  const FleetDeployment derived = derive_fleet(config).value();
  EXPECT_EQ(derived.fleet.groups[0].ranks, 4);
  EXPECT_EQ(derived.fleet.groups[0].accelerators, 2);
  EXPECT_EQ(derived.accelerators(), 24);
}

TEST(FleetConfig, KeysAreDescribedOnce) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode empty = ConfigNode::map({});
  ConfigReader reader(empty, session);
  const DeploymentConfig base = read_replica(reader, {});
  read_fleet(reader, base);
  std::vector<std::string> paths;
  for (const KeyDescription& key : session.descriptions()) {
    paths.push_back(key.condition + "|" + key.path);
    EXPECT_FALSE(key.doc.empty()) << key.path;
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(std::adjacent_find(paths.begin(), paths.end()), paths.end());
  for (const char* path : {"|groups[].engine", "|disaggregation.decode.router",
                           "|scaling.schedule[].at_s", "|failures[].replica"}) {
    EXPECT_TRUE(std::binary_search(paths.begin(), paths.end(), path)) << path;
  }
  EXPECT_FALSE(std::binary_search(paths.begin(), paths.end(), "|groups[].engine.max_num_seqs"));
}

}  // namespace
}  // namespace inferscale
