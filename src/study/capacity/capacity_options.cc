#include "study/capacity/capacity_options.h"

#include <string>

namespace inferscale {
namespace {

CapacitySearch read_search(ConfigReader& capacity) {
  const std::string search = capacity.choice(
      "search", {"rate", "trace_rate_scale", "replicas"}, "rate",
      "what is searched. rate: the highest rate of generated arrivals; trace_rate_scale: the "
      "highest workload.trace.rate_scale; replicas: the smallest deployment.replicas");
  if (search == "trace_rate_scale") return CapacitySearch::kTraceRateScale;
  return search == "replicas" ? CapacitySearch::kReplicas : CapacitySearch::kRate;
}

CapacityKeep read_keep(ConfigReader& capacity) {
  const std::string keep = capacity.choice(
      "keep", {"auto", "requests", "window"}, "auto",
      "what stays when a generated rate changes: the number of requests, or the time in which they "
      "arrive (workload.requests grows with the rate). auto: the window where something in the run "
      "has a time of its own (schedules, bursts, conversations, a warm-up, failures, scaling)");
  if (keep == "window") return CapacityKeep::kWindow;
  return keep == "requests" ? CapacityKeep::kRequests : CapacityKeep::kAuto;
}

void read_criterion(ConfigReader& capacity, CapacityOptions& options) {
  options.attainment =
      capacity.number("attainment", {.fallback = options.attainment,
                                     .min = 0,
                                     .max = 1,
                                     .above_min = true,
                                     .unit = "fraction",
                                     .doc = "goodput that every repetition must reach: requests "
                                            "that met the SLO / requests that arrived"});
  const auto drain = capacity.optional_number(
      "drain_within_s",
      {.min = 0,
       .max = 1e9,
       .unit = "s",
       .doc = "after the last arrival all requests must be finished within this time; null: 60 s, "
              "or a tenth of the time in which requests arrive where that is shorter, but not less "
              "than the TTFT or E2E target, and the longest time that a request of the run was in "
              "service"});
  if (drain) options.drain_within = Duration::from_seconds(*drain);
}

void read_bounds(ConfigReader& capacity, CapacityOptions& options) {
  const std::string_view unit = "requests/s";
  options.low = capacity.optional_number(
      "low", {.min = 0,
              .above_min = true,
              .unit = unit,
              .doc = "where the search begins, and no load below it is tried (a factor with "
                     "trace_rate_scale); null: it begins at the configured load"});
  options.high = capacity.optional_number("high", {.min = 0,
                                                   .above_min = true,
                                                   .unit = unit,
                                                   .doc = "no load above it is tried (a factor "
                                                          "with trace_rate_scale); null: as far "
                                                          "as loads are carried"});
  if (options.low && options.high && *options.low > *options.high) {
    capacity.fail("low", "expected at most study.capacity.high");
  }
  options.max_probes = capacity.integer("max_probes", {.fallback = options.max_probes,
                                                       .min = 2,
                                                       .max = 1000,
                                                       .unit = "loads",
                                                       .doc = "most loads that the search tries"});
  options.max_replicas = capacity.integer(
      "max_replicas", {.fallback = options.max_replicas,
                       .min = 1,
                       .max = 65536,
                       .unit = "replicas",
                       .doc = "the largest fleet that the search for the smallest one tries"});
}

// Keys that mean nothing for what is searched are errors, not ignored.
void check_keys(ConfigReader& capacity, const CapacityOptions& options) {
  if (capacity.is_describing()) return;
  const bool replicas = options.search == CapacitySearch::kReplicas;
  if (replicas) {
    for (const std::string_view key : {"low", "high"}) {
      if (!capacity.has(key)) continue;
      capacity.fail(key, "expected no such key with search: replicas (max_replicas bounds it)");
    }
  } else if (options.for_load) {
    capacity.fail("for_load", "expected it with search: replicas only");
  }
}

}  // namespace

CapacityOptions read_capacity_options(ConfigReader& study) {
  ConfigReader capacity = study.map("capacity", "the highest load that is carried");
  CapacityOptions options;
  options.search = read_search(capacity);
  options.for_load = capacity.optional_number(
      "for_load", {.min = 0,
                   .above_min = true,
                   .unit = "requests/s",
                   .doc = "with search: replicas, the load that the fleet must carry; null: the "
                          "configured one"});
  options.keep = read_keep(capacity);
  read_criterion(capacity, options);
  options.tolerance = capacity.number(
      "tolerance", {.fallback = options.tolerance,
                    .min = 1e-4,
                    .max = 1,
                    .unit = "fraction",
                    .doc = "the search ends when the lowest rate that failed is within this "
                           "fraction above the highest one that passed"});
  options.headroom = capacity.number(
      "headroom", {.fallback = options.headroom,
                   .min = 0,
                   .max = 0.99,
                   .unit = "fraction",
                   .doc = "the recommended load is the capacity less this fraction"});
  options.scan = capacity.integer(
      "scan", {.fallback = options.scan,
               .min = 0,
               .max = 1000,
               .unit = "loads",
               .doc = "loads below the capacity, evenly spaced, that are tried after the search: "
                      "for the plot, and to see whether a lower load fails"});
  read_bounds(capacity, options);
  check_keys(capacity, options);
  capacity.finish();
  return options;
}

}  // namespace inferscale
