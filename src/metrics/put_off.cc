#include "metrics/put_off.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace inferscale {

void PutOffTimes::note(const DecisionRecord& record) {
  const bool was_held = record.held || record.cause == DecisionCause::kHeld;
  if (!is_joined_ && !record.request.identity_is_known && !was_held) return;
  Kind kind = Kind::kRefused;
  if (record.effective.admitted()) kind = Kind::kAdmitted;
  if (record.effective.verdict == Verdict::kDefer) kind = Kind::kDeferred;
  if (events_.empty() && kind != Kind::kDeferred) return;
  events_.push_back({.request = record.request.request,
                     .packed = record.at.ns() * 4 + static_cast<std::int64_t>(kind)});
}

std::vector<double> PutOffTimes::seconds(const ClientRecords* clients) const {
  CHECK(!is_joined_ || clients != nullptr) << "decisions to be joined by records, without records";
  std::vector<Event> events = events_;
  for (Event& event : events) {
    if (!is_joined_) break;
    CHECK(event.request < clients->request_of.size())
        << "a decision about attempt " << event.request << ", which nobody made";
    event.request = clients->request_of[event.request];
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.request < b.request; });
  std::vector<double> all;
  std::optional<std::pair<Instant, Instant>> put_off;  // the first defer, and the last answer
  const auto end = [&] {
    if (put_off) all.push_back((put_off->second - put_off->first).seconds());
    put_off.reset();
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i > 0 && events[i].request != events[i - 1].request) end();
    const Kind kind = events[i].kind();
    const Instant at = events[i].at();
    if (!put_off && kind == Kind::kDeferred) put_off = {at, at};
    if (put_off) put_off->second = at;
    if (kind == Kind::kAdmitted) end();
  }
  end();
  return all;
}

}  // namespace inferscale
