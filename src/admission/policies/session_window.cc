#include "admission/policies/session_window.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/recent_keys.h"

namespace inferscale {
namespace {

class SessionWindow final : public AdmissionPolicy {
 public:
  explicit SessionWindow(const SessionWindowOptions& options)
      : options_(options),
        interval_(Duration::from_seconds(options.interval_s)),
        idle_(Duration::from_seconds(options.idle_s)),
        window_(options.initial_sessions) {}

  const PolicyNeeds& needs() const override { return needs_; }
  std::optional<Duration> tick_interval() const override { return interval_; }
  std::optional<double> limit() const override { return window_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    expire(pool.now());
    if (active_.find(key_of(request)) != RecentKeys::kNone) return Decision::admit();
    if (static_cast<double>(active_.size()) + 1 <= window_) return Decision::admit();
    return Decision::defer(Reason::kSessionWindow);
  }

  void on_admit(const RequestView& request, Instant now) override {
    const std::uint64_t key = key_of(request);
    RecentKeys::Place place = active_.find(key);
    if (place == RecentKeys::kNone) {
      place = active_.add(key, 0);
      if (sessions_.size() <= place) sessions_.resize(place + 1);
      sessions_[place] = {};
    } else {
      active_.touch(place);
    }
    sessions_[place].seen = now;
    ++sessions_[place].calls;
  }

  void on_outcome(const RequestView& request, const AttemptEnd& end) override {
    const RecentKeys::Place place = active_.find(key_of(request));
    if (place == RecentKeys::kNone) return;
    --sessions_[place].calls;
    if (has_session(request)) {
      sessions_[place].seen = end.now;
      active_.touch(place);
    } else if (sessions_[place].calls <= 0) {
      active_.erase(place);
    }
  }

  void on_tick(const PoolView& pool) override {
    expire(pool.now());
    const Reading kv = pool.read(Signal::kKvUsedFraction);
    if (!kv.is_known()) return;
    if (kv.value < options_.kv_low) {
      window_ = std::min(static_cast<double>(options_.most_sessions), window_ + options_.increase);
      return;
    }
    const Reading hits = pool.read(Signal::kPrefixHitRate);
    if (kv.value > options_.kv_high && hits.is_known() && hits.value < options_.hit_rate) {
      window_ = std::max(1.0, window_ * options_.decrease);
    }
  }

 private:
  struct Session {
    Instant seen;            // its last admission or end
    std::int64_t calls = 0;  // in flight
  };

  static bool has_session(const RequestView& request) {
    return request.root_session != kNoCaller || request.session != kNoCaller;
  }

  static std::uint64_t key_of(const RequestView& request) {
    if (request.root_session != kNoCaller) return request.root_session;
    if (request.session != kNoCaller) return request.session;
    return SplitMix64(request.request).next();
  }

  // Sessions are kept in the order in which they were seen. One that has calls in flight is seen
  // just by that.
  void expire(Instant now) {
    while (active_.size() > 0) {
      const RecentKeys::Place oldest = active_.oldest();
      if (now - sessions_[oldest].seen <= idle_) return;
      if (sessions_[oldest].calls > 0) {
        sessions_[oldest].seen = now;
        active_.touch(oldest);
      } else {
        active_.erase(oldest);
      }
    }
  }

  SessionWindowOptions options_;
  Duration interval_;
  Duration idle_;
  PolicyNeeds needs_{.signals = {Signal::kKvUsedFraction, Signal::kPrefixHitRate},
                     .request = {.session = true},
                     .outcomes = true};
  double window_;
  RecentKeys active_;
  std::vector<Session> sessions_;  // by place
};

double read_fraction(ConfigReader& parameters, std::string_view key, double fallback,
                     std::string_view doc) {
  return parameters.number(
      key, {.fallback = fallback, .min = 0, .max = 1, .unit = "fraction", .doc = doc});
}

double read_seconds(ConfigReader& parameters, std::string_view key, double fallback,
                    std::string_view doc) {
  return parameters.number(
      key, {.fallback = fallback, .min = 1e-3, .max = 1e6, .unit = "s", .doc = doc});
}

}  // namespace

const PolicyCard& session_window_card() {
  static constexpr std::array<ParameterNote, 9> kParameters = {{
      {"initial_sessions", "default", "the paper's is not known"},
      {"most_sessions", "default", "bounds what is remembered; the paper's is not known"},
      {"increase", "paper", "alpha = 2 sessions"},
      {"decrease", "paper", "beta = 0.5"},
      {"kv_low", "paper", "U_low = 0.2"},
      {"kv_high", "paper", "U_high = 0.5"},
      {"hit_rate", "paper", "H_thresh = 0.2"},
      {"interval_s", "default", "the paper's is not known"},
      {"idle_s", "default", "at a door nobody says when a session is over"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "session_window",
      .summary = "lets whole agent sessions in, as many as a window that follows the KV cache",
      .unit = AdmissionUnit::kSession,
      .slo_awareness = "throughput",
      .signal_structure = "conjunction",
      .inspired_by = "CONCUR (Chen, Ye and others 2026)",
      .preserved = "the law of the window and its five constants; sessions as a whole",
      .dropped = "pausing of sessions that are in: a door can only let new ones wait",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_session_window(ConfigReader& parameters) {
  SessionWindowOptions options;
  options.initial_sessions =
      parameters.number("initial_sessions", {.fallback = options.initial_sessions,
                                             .min = 1,
                                             .max = 1e8,
                                             .unit = "sessions",
                                             .doc = "the window at the start"});
  options.most_sessions =
      parameters.integer("most_sessions", {.fallback = options.most_sessions,
                                           .min = 1,
                                           .max = 100'000'000,
                                           .unit = "sessions",
                                           .doc = "the window never grows beyond"});
  options.increase = parameters.number("increase", {.fallback = options.increase,
                                                    .min = 0,
                                                    .max = 1e6,
                                                    .unit = "sessions",
                                                    .doc = "by which it opens in an interval"});
  options.decrease = read_fraction(parameters, "decrease", options.decrease,
                                   "to which part of itself it closes in an interval");
  options.kv_low = read_fraction(parameters, "kv_low", options.kv_low,
                                 "it opens while less of the KV cache is in use");
  options.kv_high = read_fraction(
      parameters, "kv_high", options.kv_high,
      "it closes while more of the KV cache is in use and the hit rate is below hit_rate");
  options.hit_rate = read_fraction(parameters, "hit_rate", options.hit_rate, "see kv_high");
  options.interval_s =
      read_seconds(parameters, "interval_s", options.interval_s, "from one step to the next");
  options.idle_s = read_seconds(parameters, "idle_s", options.idle_s,
                                "without a call in flight, after which a session is over");
  if (options.kv_low > options.kv_high) {
    parameters.fail("kv_low", "expected at most kv_high");
  }
  if (options.initial_sessions > static_cast<double>(options.most_sessions)) {
    parameters.fail("initial_sessions", "expected at most most_sessions");
  }
  return [options](const PolicySetting&) { return std::make_unique<SessionWindow>(options); };
}

}  // namespace inferscale
