#include "study/capacity_options.h"

namespace inferscale {

CapacityOptions read_capacity_options(ConfigReader& study) {
  ConfigReader capacity = study.map("capacity", "the highest load that is carried");
  CapacityOptions options;
  options.attainment =
      capacity.number("attainment", {.fallback = options.attainment,
                                     .min = 0,
                                     .max = 1,
                                     .above_min = true,
                                     .doc = "goodput that every repetition must reach: requests "
                                            "that met the SLO / requests that arrived"});
  const auto drain = capacity.optional_number(
      "drain_within_s",
      {.min = 0,
       .max = 1e9,
       .unit = "s",
       .doc = "after the last arrival all requests must be finished within this time; null: 60 s, "
              "or the E2E target where it is longer, and the longest time that a request of the "
              "run was in service"});
  if (drain) options.drain_within = Duration::from_seconds(*drain);
  options.tolerance = capacity.number(
      "tolerance", {.fallback = options.tolerance,
                    .min = 1e-4,
                    .max = 1,
                    .doc = "the search ends when the lowest rate that failed is within this "
                           "fraction above the highest one that passed"});
  options.headroom = capacity.number(
      "headroom", {.fallback = options.headroom,
                   .min = 0,
                   .max = 0.99,
                   .doc = "the recommended load is the capacity less this fraction"});
  options.low = capacity.optional_number(
      "low",
      {.min = 0,
       .above_min = true,
       .doc = "where the search begins, in requests/s (or as trace.rate_scale); null: found"});
  options.high = capacity.optional_number(
      "high", {.min = 0,
               .above_min = true,
               .doc = "no load above it is tried; null: as far as loads are carried"});
  options.max_probes = capacity.integer(
      "max_probes",
      {.fallback = options.max_probes, .min = 2, .max = 1000, .doc = "most loads that are tried"});
  options.max_replicas = capacity.integer(
      "max_replicas", {.fallback = options.max_replicas,
                       .min = 1,
                       .max = 65536,
                       .doc = "the largest fleet that the search for the smallest one tries"});
  capacity.finish();
  return options;
}

}  // namespace inferscale
