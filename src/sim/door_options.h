// The door of a simulated fleet: an admission gate with what it is told, and how late.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "admission/gate_options.h"
#include "base/time.h"
#include "core/slo.h"

namespace inferscale {

// What one gate decides about.
enum class DoorScope : std::uint8_t {
  kFleet,    // all replicas; in a split those of both pools
  kPool,     // the replicas that requests arrive at; in a split the prefill pool
  kReplica,  // a gate for each replica, behind the router
};

struct DoorOptions {
  GateOptions gate;  // `replicas` is filled in by the run
  DoorScope scope = DoorScope::kFleet;
  // Pages are read at even intervals, and known so much later.
  Duration scrape_interval = Duration::nanos(100'000'000);
  Duration scrape_delay;
  bool reads_pages = false;  // some policy needs them, or decisions are recorded
  // Of requests, as the gate sees them.
  std::optional<Duration> ttft;
  std::optional<Duration> itl;
  std::vector<Slo> class_slos;  // by Request::slo_class, in place of these two; may be empty
  bool knows_requests = false;  // attempts of one request carry its id
};

}  // namespace inferscale
