#include "admission/policies/rate_limit.h"

#include <algorithm>
#include <array>
#include <vector>

#include "admission/policies/recent_callers.h"

namespace inferscale {
namespace {

// The latest admissions of a caller, the oldest first: a ring that grows up to `most` instants.
class Admissions {
 public:
  std::size_t count() const { return count_; }
  // REQUIRES: count() > 0.
  Instant oldest() const { return ring_[first_]; }

  void drop_until(Instant instant) {
    while (count_ > 0 && ring_[first_] <= instant) drop_oldest();
  }

  void add(Instant instant, std::size_t most) {
    if (count_ == most) drop_oldest();
    if (count_ == ring_.size()) grow(most);
    ring_[(first_ + count_) % ring_.size()] = instant;
    ++count_;
  }

 private:
  void drop_oldest() {
    first_ = (first_ + 1) % ring_.size();
    --count_;
  }

  void grow(std::size_t most) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.resize(std::min(most, std::max<std::size_t>(2 * ring_.size(), 4)));
  }

  std::vector<Instant> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class RateLimit final : public AdmissionPolicy {
 public:
  explicit RateLimit(const RateLimitOptions& options)
      : options_(options),
        window_(Duration::from_seconds(options.window_s)),
        callers_(options.most_callers),
        needs_{.request = needs_of(options.per)} {}

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    Admissions& admissions = admissions_of(request);
    admissions.drop_until(pool.now() - window_);
    if (admissions.count() < most()) return Decision::admit();
    if (!options_.defers) return Decision::reject(Reason::kRateLimit);
    return Decision::defer(Reason::kRateLimit, admissions.oldest() + window_ - pool.now());
  }

  void on_admit(const RequestView& request, Instant now) override {
    admissions_of(request).add(now, most());
  }

 private:
  std::size_t most() const { return static_cast<std::size_t>(options_.requests); }

  Admissions& admissions_of(const RequestView& request) {
    const RecentCallers::Seat seat = callers_.see(caller_in(options_.per, request));
    if (seat.place == by_place_.size()) by_place_.emplace_back();
    if (seat.is_new) by_place_[seat.place] = Admissions();
    return by_place_[seat.place];
  }

  RateLimitOptions options_;
  Duration window_;
  RecentCallers callers_;
  std::vector<Admissions> by_place_;
  PolicyNeeds needs_;
};

}  // namespace

const PolicyCard& rate_limit_card() {
  static constexpr std::array<ParameterNote, 5> kParameters = {{
      {"requests", "default", "one a second on average; what was sold to the caller"},
      {"window_s", "field", "requests a minute, as most doors count"},
      {"per", "field", "limits by tenant are what most doors have"},
      {"most_callers", "default", "bounds the memory"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "rate_limit",
      .summary = "admits `requests` of a caller in any window of window_s, which slides",
      .slo_awareness = "none",
      .signal_structure = "none",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_rate_limit(ConfigReader& parameters) {
  RateLimitOptions options;
  options.requests =
      parameters.integer("requests", {.fallback = options.requests,
                                      .min = 1,
                                      .max = 1'000'000,
                                      .unit = "requests",
                                      .doc = "that are admitted in a window of window_s"});
  options.window_s = parameters.number("window_s", {.fallback = options.window_s,
                                                    .min = 0,
                                                    .max = 1e6,
                                                    .above_min = true,
                                                    .unit = "s",
                                                    .doc = "length of the sliding window"});
  options.per = read_limit_scope(parameters, options.per, "admissions");
  options.most_callers = read_most_callers(parameters);
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<RateLimit>(options); };
}

}  // namespace inferscale
