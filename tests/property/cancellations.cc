// Callers who go: where a mistake would show.

#include <algorithm>

#include "base/random.h"
#include "property/scenario.h"

namespace inferscale {
namespace {

class Callers {
 public:
  Callers(const Scenario& scenario, const PlainRun& plain)
      : scenario_(scenario), plain_(plain), random_(scenario.seed, "cancellations") {
    for (RequestId id = 0; id < plain.outcomes.size(); ++id) {
      if (plain.outcomes[id].preemptions > 0) preempted_.push_back(id);
    }
  }

  std::vector<Cancellation> all() {
    const std::uint64_t requests = scenario_.requests.size();
    const std::uint64_t most[] = {3, requests / 4 + 1, requests};
    std::vector<Cancellation> cancellations;
    for (std::uint64_t i = random_.below(most[random_.below(3)] + 1); i > 0; --i) {
      const RequestId request = some_request();
      const bool at_stop = runs_at_stop(request) && random_.below(2) == 0;
      cancellations.push_back({.at = at_stop ? shortly_before_stop() : some_instant(request),
                               .request = request,
                               .before_wakes = random_.below(2) == 0});
    }
    return cancellations;
  }

 private:
  bool runs_at_stop(RequestId request) const {
    const Outcome& outcome = plain_.outcomes[request];
    return scenario_.stop && outcome.start < *scenario_.stop && *scenario_.stop < outcome.finish;
  }
  Instant shortly_before_stop() {
    const Duration before = Duration::nanos(static_cast<std::int64_t>(random_.below(3)));
    return std::max(Instant(), *scenario_.stop - before);
  }

  RequestId some_request() {
    const auto last = static_cast<RequestId>(scenario_.requests.size());
    const bool looks_for_stop = scenario_.stop && random_.below(2) == 0;
    for (RequestId id = 0; looks_for_stop && id < last; ++id) {
      if (runs_at_stop(id) && random_.below(3) == 0) return id;
    }
    if (!preempted_.empty() && random_.below(3) == 0) {
      return preempted_[random_.below(preempted_.size())];
    }
    return static_cast<RequestId>(random_.below(scenario_.requests.size()));
  }

  // Around the arrival, around one of the boundaries soon after it or after the start, at any of
  // those until the finish, or anywhere.
  Instant some_instant(RequestId request) {
    const Duration beside = Duration::nanos(static_cast<std::int64_t>(random_.below(3)) - 1);
    const Instant arrival = scenario_.requests[request].arrival;
    const Instant start = plain_.outcomes[request].start;
    switch (random_.below(5)) {
      case 0:
        return Instant::nanos(static_cast<std::int64_t>(
            random_.below(static_cast<std::uint64_t>(plain_.end.ns()) + 1)));
      case 1:
        return std::max(Instant(), arrival + beside);
      case 2:
        return std::max(Instant(), boundary_after(arrival, 40) + beside);
      case 3:
        return std::max(Instant(), boundary_before_finish(request) + beside);
      default:
        return std::max(Instant(), boundary_after(std::min(start, plain_.end), 4) + beside);
    }
  }

  Instant boundary_before_finish(RequestId request) {
    const Outcome& outcome = plain_.outcomes[request];
    if (!outcome.finished()) return plain_.end;
    const auto ns = static_cast<std::uint64_t>((outcome.finish - outcome.start).ns());
    const auto after = Duration::nanos(static_cast<std::int64_t>(random_.below(ns + 1)));
    return boundary_after(outcome.start + after, 1);
  }

  // One of the next `most`.
  Instant boundary_after(Instant at, std::int64_t most) {
    const auto first = std::lower_bound(plain_.boundaries.begin(), plain_.boundaries.end(), at);
    const std::int64_t choices = std::min<std::int64_t>(plain_.boundaries.end() - first, most);
    if (choices == 0) return at;
    return first[static_cast<std::ptrdiff_t>(random_.below(static_cast<std::uint64_t>(choices)))];
  }

  const Scenario& scenario_;
  const PlainRun& plain_;
  RandomStream random_;
  std::vector<RequestId> preempted_;
};

}  // namespace

void add_cancellations(Scenario& scenario, const PlainRun& plain) {
  scenario.cancellations = Callers(scenario, plain).all();
  std::sort(scenario.cancellations.begin(), scenario.cancellations.end(),
            [](const Cancellation& a, const Cancellation& b) {
              if (a.at != b.at) return a.at < b.at;
              return a.before_wakes != b.before_wakes ? b.before_wakes : a.request < b.request;
            });
}

}  // namespace inferscale
