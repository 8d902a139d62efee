// For tests: attempts, their requests and decisions, put together one by one.

#pragma once

#include <vector>

#include "core/client_record.h"
#include "core/decision_record.h"
#include "core/outcome.h"

namespace inferscale {

inline Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

// An attempt with a prompt of 100 tokens that asks for 10.
inline Outcome attempt_at(double arrival_s, OutcomeStatus status = OutcomeStatus::kUnfinished,
                          Reason reason = Reason::kNone) {
  Outcome outcome{.arrival = at(arrival_s)};
  outcome.prompt_tokens = 100;
  outcome.output_tokens = 10;
  outcome.status = status;
  outcome.reason = reason;
  return outcome;
}

inline Outcome finished_at(double arrival_s, double start_s, double first_token_s,
                           double finish_s) {
  Outcome outcome = attempt_at(arrival_s, OutcomeStatus::kFinished);
  outcome.start = at(start_s);
  outcome.first_token = at(first_token_s);
  outcome.finish = at(finish_s);
  return outcome;
}

// Requests are numbered from 0 in order of their first attempts.
struct AttemptedRequests {
  std::vector<Outcome> attempts;
  ClientRecords clients;

  void add(std::uint32_t request, const Outcome& attempt) {
    if (request >= clients.requests.size()) {
      clients.requests.resize(request + 1);
      clients.requests[request].first_arrival = attempt.arrival;
    }
    RequestRecord& record = clients.requests[request];
    record.last_attempt = static_cast<RequestId>(attempts.size());
    ++record.attempts;
    record.first_token = attempt.first_token;
    if (attempt.finished()) record.status = RequestStatus::kFinished;
    attempts.push_back(attempt);
    clients.request_of.push_back(request);
  }
  RequestRecord& of(std::uint32_t request) { return clients.requests[request]; }
};

// An enforced decision of the policy about a request that has just arrived.
inline DecisionRecord decision_at(double seconds, std::uint64_t request, const Decision& decision) {
  DecisionRecord record{.at = at(seconds)};
  record.request.request = request;
  record.decided = record.effective = decision;
  record.enforced = true;
  return record;
}

}  // namespace inferscale
