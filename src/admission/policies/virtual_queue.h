// The predicted wait of a request's group against its deadline, and the earliest deadline first:
// inspired by QLM (Patke and others, "Queue management for SLO-oriented large language model
// serving", SoCC 2024, arXiv 2407.00047).
//
// A group is one SLO class and one stretch of slo_granularity_s of deadlines. With N places in the
// batches of all replicas and m requests in flight or held in groups with an earlier deadline, it
// waits for a place and for the prompts before its own, whichever takes longer:
//
//   places   max(0, m + 1 - N) O / Theta,   Theta = N / (gamma + beta n + alpha l n / O)
//   prompts  prefills of those admitted that can't be done yet, and of those ahead, / replicas
//
// O and l are the mean predicted output and prompt of those ahead, n = N / replicas the batch of
// one replica, gamma, beta and alpha the service estimate's. Each place that is needed is one that
// an answer ahead has to leave. Theta is the token throughput of full batches, each of whose steps
// also computes the prompts that take the places which are left in it.
//
//   wait + prefill alone > deadline   refused: wait_too_long (rejected, or deferred)
//   otherwise                         admitted; with `pull_below`, once a replica has fewer than so
//                                     many in flight on the average, and held until then
//
// Those held are released by group, the earliest deadline first: that minimises the greatest
// lateness (J. R. Jackson 1955), so it meets all deadlines where any order does. Where none does,
// another order may be late by less in total.

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "admission/registry.h"

namespace inferscale {

struct VirtualQueueOptions {
  double slo_granularity_s = 0.1;
  std::optional<double> pull_below;  // requests in flight, a replica
  bool defers = true;                // else it rejects
};

// A group as the queue sees it, and what an order of groups comes to: by how much all of them
// together are late when they are served one after the other.
struct VirtualGroup {
  double tokens = 0;
  double deadline_s = 0;
};
double total_lateness_s(std::span<const VirtualGroup> in_order, double tokens_per_s);

const PolicyCard& virtual_queue_card();
PolicyFactory read_virtual_queue(ConfigReader& parameters);

}  // namespace inferscale
