#include "metrics/admission_fold.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr RequestId kNoAttempt = CallRecord::kNone;

// Which attempts a request's outcome is taken from.
struct Parts {
  RequestId first = kNoAttempt;
  RequestId first_token = kNoAttempt;  // the one whose first token was kept
  Instant stream_end = Instant::never();
};

std::uint16_t added(std::uint16_t a, std::uint16_t b) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(std::uint32_t{a} + b, kMost));
}

OutcomeStatus folded_status(const RequestRecord& request, const Outcome& last) {
  switch (request.status) {
    case RequestStatus::kUnfinished:
      return OutcomeStatus::kUnfinished;
    case RequestStatus::kFinished:
      return OutcomeStatus::kFinished;
    case RequestStatus::kTimedOut:
      return OutcomeStatus::kAbandoned;
    case RequestStatus::kGaveUp:
    case RequestStatus::kElsewhere:
      // The engine finished what the client did not get: its stream broke.
      return last.finished() ? OutcomeStatus::kAbandoned : last.status;
  }
  return OutcomeStatus::kUnfinished;
}

Reason folded_reason(OutcomeStatus status, const RequestRecord& request, const Outcome& last) {
  if (status == OutcomeStatus::kFinished || status == OutcomeStatus::kUnfinished) {
    return Reason::kNone;
  }
  if (last.reason != Reason::kNone || status != OutcomeStatus::kAbandoned) return last.reason;
  return request.status == RequestStatus::kTimedOut ? Reason::kClientGone : Reason::kStreamBroken;
}

Outcome begun(const RequestRecord& request, const Outcome& last) {
  Outcome folded = last;
  folded.arrival = request.first_arrival;
  folded.status = folded_status(request, last);
  folded.reason = folded_reason(folded.status, request, last);
  if (folded.finished()) {
    CHECK(last.finished()) << "a finished request whose last attempt did not finish";
  } else {
    folded.finish = Instant::never();
  }
  return folded;
}

// Adds what a kept attempt of a resumed stream, before or at the last one, told of its tokens.
void add_stream(const Outcome& attempt, bool is_last, const Slo& slo, Parts& parts,
                Outcome& folded) {
  if (parts.stream_end != Instant::never() && attempt.first_token >= parts.stream_end) {
    const Duration stall = attempt.first_token - parts.stream_end;
    folded.itl_max = std::max(folded.itl_max, stall);
    if (slo.itl && stall > *slo.itl) ++folded.gaps_over_limit;
  }
  parts.stream_end = attempt.finish;
  if (is_last) return;
  folded.itl_max = std::max(folded.itl_max, attempt.itl_max);
  folded.gaps_over_limit += attempt.gaps_over_limit;
  folded.preemptions = added(folded.preemptions, attempt.preemptions);
}

void add_attempt(std::span<const Outcome> attempts, RequestId id, const RequestRecord& request,
                 const Slo& slo, Parts& parts, Outcome& folded) {
  const Outcome& attempt = attempts[id];
  if (parts.first == kNoAttempt) {
    parts.first = id;
    folded.prompt_tokens = attempt.prompt_tokens;
  }
  if (request.first_token == Instant::never() || attempt.first_token == Instant::never()) return;
  if (parts.first_token == kNoAttempt && attempt.first_token == request.first_token) {
    parts.first_token = id;
    folded.start = attempt.start;
    folded.first_token = attempt.first_token;
    folded.cached_tokens = std::min(attempt.cached_tokens, folded.prompt_tokens);
  }
  if (request.resumed_tokens == 0 || parts.first_token == kNoAttempt) return;
  add_stream(attempt, id == request.last_attempt, slo, parts, folded);
}

}  // namespace

std::vector<Outcome> fold_attempts(std::span<const Outcome> attempts, const ClientRecords& clients,
                                   const Slo& slo, const RequestClasses& classes) {
  CHECK(clients.request_of.size() >= attempts.size()) << "attempts without a request";
  std::vector<Outcome> folded;
  folded.reserve(clients.requests.size());
  for (const RequestRecord& request : clients.requests) {
    CHECK(request.last_attempt < attempts.size()) << "a request without an attempt";
    folded.push_back(begun(request, attempts[request.last_attempt]));
    if (request.first_token == Instant::never() && folded.back().finished()) {
      CHECK(false) << "a finished request without a first token";
    }
    folded.back().output_tokens += request.resumed_tokens;
  }
  std::vector<Parts> parts(clients.requests.size());
  for (RequestId id = 0; id < attempts.size(); ++id) {
    const std::uint32_t index = clients.request_of[id];
    if (id > clients.requests[index].last_attempt) continue;  // of a client that is not there
    add_attempt(attempts, id, clients.requests[index], classes.slo(id, slo), parts[index],
                folded[index]);
  }
  return folded;
}

namespace {

RequestStatus request_status(CallStatus status) {
  switch (status) {
    case CallStatus::kFinished:
      return RequestStatus::kFinished;
    case CallStatus::kFailed:
      return RequestStatus::kGaveUp;
    case CallStatus::kNotReached:
    case CallStatus::kUnfinished:
      break;
  }
  return RequestStatus::kUnfinished;
}

void count_attempt(const Outcome& attempt, RequestRecord& request) {
  ++request.attempts;
  if (attempt.status == OutcomeStatus::kDeferred) ++request.deferred;
  if (attempt.status == OutcomeStatus::kRefused) ++request.rejected;
  if (attempt.status == OutcomeStatus::kAbandoned) ++request.left;
}

}  // namespace

ClientRecords client_records_of(const ProgramRecords& programs, std::span<const Outcome> attempts) {
  CHECK(programs.call_of.size() >= attempts.size()) << "attempts without a call";
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < programs.calls.size(); ++i) {
    if (programs.calls[i].request != CallRecord::kNone) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return programs.calls[a].ready < programs.calls[b].ready;
  });
  ClientRecords records;
  records.requests.reserve(order.size());
  std::vector<std::uint32_t> index_of(programs.calls.size(), 0);
  for (const std::uint32_t i : order) {
    const CallRecord& call = programs.calls[i];
    index_of[i] = static_cast<std::uint32_t>(records.requests.size());
    records.requests.push_back({.first_arrival = call.ready,
                                .last_attempt = call.request,
                                .first_token = attempts[call.request].first_token,
                                .status = request_status(call.status)});
  }
  records.request_of.resize(attempts.size());
  for (std::size_t id = 0; id < attempts.size(); ++id) {
    records.request_of[id] = index_of[programs.call_of[id]];
    count_attempt(attempts[id], records.requests[records.request_of[id]]);
  }
  return records;
}

}  // namespace inferscale
