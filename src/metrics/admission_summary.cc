#include "metrics/admission_summary.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace inferscale {
namespace {

// Signals within this part of their threshold are near it.
constexpr double kNear = 0.9;

std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

std::optional<double> ratio(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

bool is_of_engine(Reason reason) {
  return reason == Reason::kExceedsKvCache || reason == Reason::kExceedsModelLen ||
         reason == Reason::kQueueFull || reason == Reason::kReplicaFailed;
}

// Whether somebody let the attempt in, to be served or refused by the engine itself.
bool was_admitted(const Outcome& attempt) {
  return attempt.status != OutcomeStatus::kRefused && attempt.status != OutcomeStatus::kDeferred;
}

void count_endings(std::span<const Outcome> attempts, std::span<const Outcome> requests,
                   const ClientRecords* clients, AdmissionSummary& summary) {
  summary.requests = std::ssize(requests);
  summary.attempts = std::ssize(attempts);
  summary.amplification = ratio(summary.attempts, summary.requests);
  for (const Outcome& attempt : attempts) {
    if (attempt.status == OutcomeStatus::kRefused && is_of_engine(attempt.reason)) {
      ++summary.engine_refusals;
    }
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (clients != nullptr && clients->requests[i].status == RequestStatus::kElsewhere) {
      ++summary.elsewhere;
    } else if (requests[i].status == OutcomeStatus::kAbandoned) {
      ++summary.left;
    } else if (!requests[i].finished() && requests[i].status != OutcomeStatus::kUnfinished) {
      ++summary.gave_up;
    }
  }
}

// Of each request, whether any of its attempts was admitted.
std::vector<bool> admitted_requests(std::span<const Outcome> attempts, std::size_t requests,
                                    const ClientRecords* clients) {
  std::vector<bool> admitted(requests, false);
  for (std::size_t id = 0; id < attempts.size(); ++id) {
    if (was_admitted(attempts[id])) {
      admitted[clients == nullptr ? id : clients->request_of[id]] = true;
    }
  }
  return admitted;
}

// The first request that arrived when the warm-up was over.
std::size_t first_counted(std::span<const Outcome> requests, Instant measured_from) {
  const auto first = std::lower_bound(
      requests.begin(), requests.end(), measured_from,
      [](const Outcome& outcome, Instant instant) { return outcome.arrival < instant; });
  return static_cast<std::size_t>(first - requests.begin());
}

void fill_goodput(std::span<const Outcome> requests, std::size_t first,
                  const std::vector<bool>& admitted, const AdmissionFacts& facts,
                  AdmissionSummary& summary) {
  const std::span<const Outcome> counted = requests.subspan(first);
  summary.has_slo = facts.classes.any(facts.slo);
  summary.counted = std::ssize(counted);
  for (std::size_t i = first; i < requests.size(); ++i) {
    if (admitted[i]) ++summary.admitted;
    if (summary.has_slo && slo_met(facts.classes.slo(i, facts.slo), requests[i])) ++summary.met;
  }
  if (counted.empty()) return;
  const Duration window = counted.back().arrival - counted.front().arrival;
  summary.arrival_window_s = window.seconds();
  summary.offered_rps = ratio(static_cast<double>(summary.counted - 1), window.seconds());
  if (!summary.has_slo) return;
  summary.goodput = ratio(summary.met, summary.counted);
  summary.attainment_admitted = ratio(summary.met, summary.admitted);
  if (summary.offered_rps) summary.goodput_rps = *summary.goodput * *summary.offered_rps;
}

Liveness liveness_of(const SignalFigures& signal, const SignalThreshold& threshold) {
  if (signal.known == 0) return Liveness::kUnknown;
  if (threshold.below) {
    if (signal.min <= threshold.value) return Liveness::kLive;
    return signal.min * kNear <= threshold.value ? Liveness::kMarginal : Liveness::kInert;
  }
  if (signal.max >= threshold.value) return Liveness::kLive;
  return signal.max >= kNear * threshold.value ? Liveness::kMarginal : Liveness::kInert;
}

void judge_signal(const DecisionFigures& decisions, AdmissionSummary& summary) {
  if (!summary.threshold) return;
  const SignalThreshold& threshold = *summary.threshold;
  for (const SignalFigures& signal : decisions.signals) {
    if (signal.signal != threshold.signal) continue;
    summary.signal_reached = liveness_of(signal, threshold);
    if (signal.known == 0 || threshold.value <= 0) return;
    const double nearest = threshold.below ? signal.min : signal.max;
    const double room = threshold.below ? nearest - threshold.value : threshold.value - nearest;
    summary.signal_headroom = room / threshold.value;
  }
}

Liveness action_of(const DecisionFigures& decisions) {
  if (decisions.policy_decisions == 0) return Liveness::kUnknown;
  return decisions.policy_refusals > 0 ? Liveness::kLive : Liveness::kInert;
}

}  // namespace

std::string_view liveness_name(Liveness liveness) {
  switch (liveness) {
    case Liveness::kUnknown:
      return "unknown";
    case Liveness::kInert:
      return "inert";
    case Liveness::kMarginal:
      return "marginal";
    case Liveness::kLive:
      return "live";
  }
  return "unknown";
}

AdmissionSummary summarize_admission(std::span<const Outcome> attempts,
                                     std::span<const Outcome> requests,
                                     const ClientRecords* clients, const DecisionTally* decisions,
                                     const AdmissionFacts& facts) {
  CHECK(clients == nullptr ? attempts.size() == requests.size()
                           : clients->requests.size() == requests.size())
      << "requests that are not those of the attempts";
  AdmissionSummary summary{.policy = facts.policy,
                           .enforce = facts.enforce,
                           .admits_all = facts.admits_all,
                           .policy_failure = facts.policy_failure,
                           .sessions = facts.sessions,
                           .sessions_complete = facts.sessions_complete,
                           .never_made = facts.never_made,
                           .threshold = facts.threshold};
  count_endings(attempts, requests, clients, summary);
  const std::size_t first = first_counted(requests, facts.measured_from);
  fill_goodput(requests, first, admitted_requests(attempts, requests.size(), clients), facts,
               summary);
  summary.tokens = token_use(attempts, requests, clients, facts.slo, facts.classes);
  if (!facts.tenant_of.empty()) {
    summary.fairness = tenant_fairness(requests.subspan(first), facts.tenant_of.subspan(first),
                                       facts.tenant_weights, facts.slo, facts.classes.from(first));
  }
  if (facts.sessions) summary.completion = ratio(facts.sessions_complete, *facts.sessions);
  if (decisions == nullptr) return summary;
  summary.decisions = decisions->figures(clients);
  judge_signal(*summary.decisions, summary);
  summary.policy_acted = action_of(*summary.decisions);
  return summary;
}

}  // namespace inferscale
