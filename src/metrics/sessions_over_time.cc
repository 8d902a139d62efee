#include "metrics/sessions_over_time.h"

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace inferscale {
namespace {

class CountOverTime {
 public:
  CountOverTime(Instant end, std::size_t parts) : taken_ns_(parts, 0) {
    // Quotient and remainder apart: the product of both could overflow.
    const auto count = static_cast<std::int64_t>(parts);
    for (std::int64_t i = 0; i <= count; ++i) {
      edges_.push_back(end.ns() / count * i + end.ns() % count * i / count);
    }
  }

  void add(Instant from, Instant to) {
    const std::int64_t last = std::min(to.ns(), edges_.back());
    if (from.ns() >= last) return;
    const auto behind = std::upper_bound(edges_.begin(), edges_.end(), from.ns());
    auto part = static_cast<std::size_t>(behind - edges_.begin() - 1);
    for (std::int64_t at = from.ns(); at < last; at = edges_[++part]) {
      taken_ns_[part] += std::min(last, edges_[part + 1]) - at;
    }
  }
  std::vector<double> means() const {
    std::vector<double> means;
    for (std::size_t part = 0; part < taken_ns_.size(); ++part) {
      means.push_back(static_cast<double>(taken_ns_[part]) /
                      static_cast<double>(edges_[part + 1] - edges_[part]));
    }
    return means;
  }

 private:
  std::vector<std::int64_t> edges_;
  std::vector<std::int64_t> taken_ns_;
};

// REQUIRES: the call was ready.
Instant leave(const CallRecord& call, std::span<const Outcome> outcomes, Instant end) {
  if (call.status == CallStatus::kUnfinished) return end;
  const Outcome& outcome = outcomes[call.request];
  // Of a failed one the beginning of the last attempt is known, not always its end.
  return call.status == CallStatus::kFinished ? outcome.finish : outcome.arrival;
}

}  // namespace

SessionsOverTime sessions_over_time(const ProgramRecords& records,
                                    std::span<const Outcome> outcomes, Instant end,
                                    std::size_t parts) {
  CHECK(parts > 0) << "a run in no parts";
  if (end.ns() < static_cast<std::int64_t>(parts)) return {};
  CountOverTime sessions(end, parts);
  for (const SessionRecord& session : records.sessions) sessions.add(session.begin, session.end);
  CountOverTime turns(end, parts);
  for (const CallRecord& call : records.calls) {
    if (call.status == CallStatus::kNotReached) continue;
    turns.add(call.ready, leave(call, outcomes, end));
  }
  return {.sessions = sessions.means(), .turns = turns.means()};
}

}  // namespace inferscale
