// What admission bought, and what it cost: the figures of a run with a policy at the door, or with
// clients that come again. docs/metrics.md has the definitions.
//
// Two denominators, never mixed: **requests** (calls; goodput, attainment, latency) and
// **attempts** (presentations at the door; decisions). Goodput is of all requests that arrived; the
// attainment of those admitted never stands without it, since refusing more raises it.
//
// Goodput, attainment and fairness leave out requests of the warm-up, as everywhere; decisions,
// attempts and tokens are of the whole run.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/client_record.h"
#include "core/outcome.h"
#include "core/signal_threshold.h"
#include "core/slo.h"
#include "core/slo_class.h"
#include "metrics/admission_decisions.h"
#include "metrics/admission_tenants.h"
#include "metrics/admission_tokens.h"

namespace inferscale {

struct AdmissionFacts {
  std::string policy = "none";
  Slo slo;
  RequestClasses classes;                    // of the requests
  Instant measured_from;                     // the end of the warm-up
  double enforce = 1;                        // part of the traffic that was governed
  std::optional<SignalThreshold> threshold;  // scalar policies only
  bool admits_all = false;                   // by design, so that it never acts says nothing
  std::string policy_failure;                // why a decision of its own failed first, if any did
  std::span<const std::uint32_t> tenant_of;  // of each request; empty: they have none
  std::span<const double> tenant_weights;    // by tenant; empty: all the same
  std::optional<std::int64_t> sessions;      // that began; of agent programs
  std::int64_t sessions_complete = 0;
  std::int64_t never_made = 0;  // calls of theirs that never came to be
};

// How near something came to mattering.
enum class Liveness : std::uint8_t {
  kUnknown,   // nothing to judge it by
  kInert,     // far from it
  kMarginal,  // within a tenth of it
  kLive,
};
std::string_view liveness_name(Liveness liveness);  // "unknown", "inert", "marginal", "live"

struct AdmissionSummary {
  std::string policy;
  double enforce = 1;
  bool admits_all = false;
  std::string policy_failure;  // empty: none failed, or it did not say why

  std::int64_t requests = 0;  // that arrived
  std::int64_t attempts = 0;
  std::optional<double> amplification;  // attempts / requests
  // Requests that were refused, deferred or lost and did not come again, and whose clients left.
  std::int64_t gave_up = 0;
  std::int64_t left = 0;
  std::int64_t elsewhere = 0;        // went to another provider
  std::int64_t engine_refusals = 0;  // attempts that were admitted, and then refused by an engine

  // Of the requests that count: those that arrived after the warm-up.
  bool has_slo = false;
  std::int64_t counted = 0;
  std::int64_t met = 0;
  std::int64_t admitted = 0;                  // one of their attempts was
  std::optional<double> goodput;              // met / counted
  std::optional<double> attainment_admitted;  // met / admitted
  double arrival_window_s = 0;                // from the first arrival to the last
  std::optional<double> offered_rps;          // (counted - 1) / window
  std::optional<double> goodput_rps;          // goodput x offered: over the window, not the drain

  TokenUse tokens;
  TenantFairness fairness;
  std::optional<std::int64_t> sessions;
  std::int64_t sessions_complete = 0;
  std::optional<double> completion;  // complete / begun
  // Calls that never arrived, since their session had ended before: goodput of requests does not
  // know of them.
  std::int64_t never_made = 0;

  std::optional<DecisionFigures> decisions;  // none: nobody decided
  // Two facts: whether the signal came to the threshold, at whatever decision; and whether the
  // policy itself ever put somebody off or refused, enforced.
  std::optional<SignalThreshold> threshold;
  Liveness signal_reached = Liveness::kUnknown;
  std::optional<double> signal_headroom;  // (threshold - max) / threshold; negative: beyond it
  Liveness policy_acted = Liveness::kUnknown;
};

// `attempts` are the run's outcomes and `requests` the same folded (admission_fold.h); `clients`
// null: every attempt is a request. `decisions` null: there was no gate.
AdmissionSummary summarize_admission(std::span<const Outcome> attempts,
                                     std::span<const Outcome> requests,
                                     const ClientRecords* clients, const DecisionTally* decisions,
                                     const AdmissionFacts& facts);

}  // namespace inferscale
