// Workloads and doors for tests of clients.

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "workload/clients/client_source.h"

namespace inferscale {

// The requests of a list.
class ListSource final : public RequestSource {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (next_ == requests_.size()) return false;
    request = requests_[next_];
    request.id = static_cast<RequestId>(next_++);
    request.first_attempt = request.id;
    return true;
  }
  std::uint64_t size() const override { return requests_.size(); }

 private:
  std::vector<Request> requests_;
  std::size_t next_ = 0;
};

inline Request request_at(std::int64_t arrival_ns, std::uint32_t output_tokens = 8,
                          std::uint32_t session = Request::kNobody) {
  Request request;
  request.arrival = Instant::nanos(arrival_ns);
  request.prompt_tokens = 100;
  request.output_tokens = output_tokens;
  request.max_tokens = output_tokens + 1;
  request.session = session;
  return request;
}

// Plays the system: what arrives, and what is said about it, is up to each test. Times are in ns.
class ClientDoor {
 public:
  ClientDoor(std::vector<Request> requests, const ClientOptions& options, std::uint64_t seed = 1)
      : source_(
            make_client_source(std::make_unique<ListSource>(std::move(requests)), options, seed)) {}

  std::int64_t next_at() const { return source_->next_at().ns(); }
  std::int64_t next_leave() const { return source_->next_leave().ns(); }
  Request take() {
    const Instant at = source_->next_at();
    Request request;
    EXPECT_TRUE(source_->next(request));
    EXPECT_EQ(request.arrival, at);
    EXPECT_EQ(request.id, taken_);
    ++taken_;
    return request;
  }
  RequestId take_leaver() { return source_->take_leaver(); }
  void finish(RequestId id, std::int64_t at, std::int64_t first_token = 0) {
    Outcome outcome;
    outcome.status = OutcomeStatus::kFinished;
    outcome.first_token = Instant::nanos(first_token);
    outcome.finish = Instant::nanos(at);
    source_->ended(id, outcome, {}, Instant::nanos(at));
  }
  void answer(RequestId id, std::int64_t at, const Answer& answer) {
    Outcome outcome;
    outcome.status = answer.status == 503 ? OutcomeStatus::kDeferred : OutcomeStatus::kRefused;
    outcome.reason = Reason::kQueueDepth;
    source_->ended(id, outcome, answer, Instant::nanos(at));
  }
  void end(RequestId id, std::int64_t at, OutcomeStatus status) {
    Outcome outcome;
    outcome.status = status;
    source_->ended(id, outcome, {.status = 0, .retry_after = {}}, Instant::nanos(at));
  }
  ClientRecords records(std::int64_t end) {
    return *source_->take_records(Instant::nanos(end)).clients;
  }
  ReactiveSource& source() { return *source_; }

 private:
  std::unique_ptr<ReactiveSource> source_;
  RequestId taken_ = 0;
};

}  // namespace inferscale
