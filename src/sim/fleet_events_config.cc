#include "sim/fleet_events_config.h"

#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr double kLongestS = 1e9;
constexpr std::int64_t kMostReplicas = 100'000;

Duration seconds(ConfigReader& reader, std::string_view key, std::optional<double> fallback,
                 std::string_view doc) {
  return Duration::from_seconds(reader.number(
      key, {.fallback = fallback, .min = 0, .max = kLongestS, .unit = "s", .doc = doc}));
}

// A mean or an interval: not zero.
// Replicas that fail many times a second serve nobody and only cost time.
Duration failure_seconds(ConfigReader& reader, std::string_view key, std::string_view doc) {
  return Duration::from_seconds(
      reader.number(key, {.min = 1, .max = kLongestS, .unit = "s", .doc = doc}));
}

Duration positive_seconds(ConfigReader& reader, std::string_view key,
                          std::optional<double> fallback, std::string_view doc) {
  return Duration::from_seconds(reader.number(
      key, {.fallback = fallback, .min = 1e-6, .max = kLongestS, .unit = "s", .doc = doc}));
}

std::vector<ScalingStep> read_schedule(ConfigReader& scaling) {
  std::vector<ScalingStep> steps;
  for (ConfigReader& entry : scaling.list("schedule", "the number of replicas over time")) {
    ScalingStep step;
    step.at = Instant() + seconds(entry, "at_s", std::nullopt, "when it changes");
    step.replicas = entry.integer("replicas", {.min = 0,
                                               .max = kMostReplicas,
                                               .unit = "replicas",
                                               .doc = "how many there are from then on"});
    entry.finish();
    if (!steps.empty() && step.at <= steps.back().at && !entry.is_describing()) {
      entry.fail("at_s", "expected a time after the one before it in the list");
    }
    steps.push_back(step);
  }
  if (scaling.is_describing()) steps.clear();
  return steps;
}

AutoscaleOptions read_autoscale(ConfigReader& reader) {
  AutoscaleOptions options;
  options.min = reader.integer(
      "min", {.fallback = 1, .min = 1, .max = kMostReplicas, .unit = "replicas", .doc = "fewest"});
  options.max =
      reader.integer("max", {.min = 1, .max = kMostReplicas, .unit = "replicas", .doc = "most"});
  options.target_utilisation = reader.number(
      "target_utilisation", {.fallback = options.target_utilisation,
                             .min = 0,
                             .max = 1,
                             .above_min = true,
                             .unit = "fraction",
                             .doc = "running sequences over max_num_seqs that it aims at"});
  options.interval = positive_seconds(reader, "interval_s", 15.0,
                                      "how often it decides, by the mean over that time");
  options.cooldown =
      seconds(reader, "cooldown_s", 60.0, "how long it changes nothing after a change");
  reader.finish();
  if (options.max < options.min && !reader.is_describing()) {
    reader.fail("max", "expected at least min (" + std::to_string(options.min) + ")");
  }
  return options;
}

// "3", or "decode/0".
std::optional<std::uint32_t> replica_named(const std::string& text,
                                           std::span<const NamedGroup> groups) {
  const std::size_t slash = text.find('/');
  const bool has_group = slash != std::string::npos;
  const std::string group = has_group ? text.substr(0, slash) : std::string();
  const std::optional<std::int64_t> index = parse_whole(has_group ? text.substr(slash + 1) : text);
  if (!index || *index < 0) return std::nullopt;
  std::int64_t before = 0;
  for (const NamedGroup& one : groups) {
    if (has_group && one.name == group) {
      if (*index >= one.most) return std::nullopt;
      return static_cast<std::uint32_t>(before + *index);
    }
    before += one.most;
  }
  if (has_group || *index >= before) return std::nullopt;
  return static_cast<std::uint32_t>(*index);
}

std::string names_expected(std::span<const NamedGroup> groups) {
  std::int64_t all = 0;
  std::string text;
  for (const NamedGroup& group : groups) {
    all += group.most;
    text += (text.empty() ? "" : ", ") + group.name + "/0 to " + group.name + "/" +
            std::to_string(group.most - 1);
  }
  return "expected a replica: 0 to " + std::to_string(all - 1) + ", or " + text;
}

}  // namespace

std::optional<ScalingOptions> read_scaling(ConfigReader& reader) {
  std::optional<ConfigReader> scaling = reader.optional_map(
      "scaling", "the number of replicas changes during the run (docs/fleets.md)");
  if (!scaling) return std::nullopt;
  ScalingOptions options;
  options.startup_delay = seconds(*scaling, "startup_delay_s", 60.0,
                                  "from the start of a replica to its first request");
  options.schedule = read_schedule(*scaling);
  std::optional<ConfigReader> autoscale =
      scaling->optional_map("autoscale", "the number follows the load, in place of a schedule");
  if (autoscale) options.autoscale = read_autoscale(*autoscale);
  scaling->finish();
  if (!scaling->is_describing() && options.schedule.empty() != options.autoscale.has_value()) {
    scaling->fail("", "expected a schedule or autoscale, one of them");
  }
  return options;
}

FailureOptions read_failures(ConfigReader& deployment, std::span<const NamedGroup> groups) {
  FailureOptions options;
  for (ConfigReader& entry : deployment.list("failures", "replicas that break down")) {
    const std::string name = entry.text(
        "replica", std::nullopt,
        "which one: its number over all groups, from 0, or group/number; a replica with data "
        "parallel ranks fails as a whole");
    PlannedFailure failure;
    failure.at = Instant() + seconds(entry, "at_s", std::nullopt, "when it fails");
    const auto back = entry.optional_number(
        "return_after_s", {.min = 0,
                           .max = kLongestS,
                           .unit = "s",
                           .doc = "when it is back, with an empty cache; null: never"});
    if (back) failure.return_after = Duration::from_seconds(*back);
    entry.finish();
    if (entry.is_describing()) continue;
    const std::optional<std::uint32_t> replica = replica_named(name, groups);
    if (!replica) entry.fail("replica", names_expected(groups));
    failure.replica = replica.value_or(0);
    options.planned.push_back(failure);
  }
  if (auto rate = deployment.optional_map("failure_rate", "replicas fail at random")) {
    RandomFailures random;
    random.mtbf =
        failure_seconds(*rate, "mtbf_s", "mean time from coming up to a failure, exponential");
    random.mttr =
        failure_seconds(*rate, "mttr_s", "mean time from a failure to the return, exponential");
    rate->finish();
    if (!rate->is_describing()) options.random = random;
  }
  const std::string then = deployment.choice(
      "on_failure", {"retry", "lose"}, "retry",
      "what becomes of the requests of a replica that fails: they go to the router again, or end "
      "as lost");
  options.then = then == "lose" ? FailureOptions::Then::kLose : FailureOptions::Then::kRetry;
  options.max_retries = deployment.integer(
      "max_retries", {.fallback = 10,
                      .min = 0,
                      .max = 1000,
                      .unit = "times",
                      .doc = "a request whose replicas failed more often is lost"});
  return options;
}

}  // namespace inferscale
