#include "workload/arrivals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/distributions.h"

namespace inferscale {
namespace {

constexpr double kNanosPerSecond = 1e9;

// An instant with a fraction of a nanosecond.
class FineInstant {
 public:
  // REQUIRES: ns is not negative, but for what rounding leaves.
  void advance(double ns) {
    fraction_ += ns;
    if (fraction_ >= static_cast<double>(kLatestArrival.ns() - ns_)) {
      ns_ = kLatestArrival.ns();
      fraction_ = 0;
      return;
    }
    const auto whole = static_cast<std::int64_t>(fraction_);
    fraction_ -= static_cast<double>(whole);
    ns_ += whole;
  }
  void advance(std::int64_t whole_ns, double fraction_ns) {
    if (whole_ns >= kLatestArrival.ns() - ns_) {
      ns_ = kLatestArrival.ns();
      return;
    }
    ns_ += whole_ns;
    advance(fraction_ns);
  }
  Instant instant() const { return Instant::nanos(ns_); }

 private:
  std::int64_t ns_ = 0;
  double fraction_ = 0;
};

class Poisson final : public ArrivalProcess {
 public:
  Poisson(double rate_rps, RandomStream stream)
      : mean_gap_ns_(kNanosPerSecond / rate_rps), stream_(stream) {}
  Instant next() override {
    at_.advance(draw_exponential(stream_) * mean_gap_ns_);
    return at_.instant();
  }

 private:
  double mean_gap_ns_;
  RandomStream stream_;
  FineInstant at_;
};

class Constant final : public ArrivalProcess {
 public:
  // The gap's rounding error, times a billion arrivals, would be seen: it is carried along. The
  // fused multiply-add gives the division's remainder exactly, on every machine.
  explicit Constant(double rate_rps) {
    const double gap = std::min(kNanosPerSecond / rate_rps, 9e18);
    whole_ns_ = static_cast<std::int64_t>(gap);
    fraction_ns_ = (gap - static_cast<double>(whole_ns_)) +
                   std::fma(-gap, rate_rps, kNanosPerSecond) / rate_rps;
    at_.advance(0.5);  // to the nearest nanosecond, not down
  }
  Instant next() override {
    at_.advance(whole_ns_, fraction_ns_);
    return at_.instant();
  }

 private:
  std::int64_t whole_ns_;
  double fraction_ns_;
  FineInstant at_;
};

class GammaRenewal final : public ArrivalProcess {
 public:
  GammaRenewal(const GammaArrivals& options, RandomStream stream)
      : gap_ns_(1 / (options.cv * options.cv),
                options.cv * options.cv * kNanosPerSecond / options.rate_rps),
        stream_(stream) {}
  Instant next() override {
    at_.advance(gap_ns_.draw(stream_));
    return at_.instant();
  }

 private:
  Gamma gap_ns_;
  RandomStream stream_;
  FineInstant at_;
};

// Walks along the schedule: `piece_` is where the last arrival was, `left_ns_` what remains of it.
class Piecewise final : public ArrivalProcess {
 public:
  Piecewise(PiecewiseArrivals options, RandomStream stream)
      : options_(std::move(options)), stream_(stream) {
    for (const RatePiece& piece : options_.schedule) {
      CHECK(piece.rate_rps >= 0) << "rate " << piece.rate_rps;
      CHECK(piece.duration.ns() > 0 || (!options_.repeat && &piece == &options_.schedule.back()))
          << "a piece lasts " << piece.duration.ns() << " ns";
      cycle_ns_ += duration_ns(piece);
      cycle_arrivals_ += expected(piece.rate_rps, duration_ns(piece));
    }
    CHECK(!options_.schedule.empty()) << "empty schedule";
    CHECK(options_.repeat ? cycle_arrivals_ > 0 : options_.schedule.back().rate_rps > 0)
        << "no arrival would ever come";
    left_ns_ = duration_ns(options_.schedule.front());
  }

  Instant next() override {
    double wanted = draw_exponential(stream_);
    if (options_.repeat && wanted >= cycle_arrivals_) {
      const double cycles = std::floor(wanted / cycle_arrivals_);
      at_.advance(cycles * cycle_ns_);
      wanted = std::max(0.0, wanted - cycles * cycle_arrivals_);
    }
    for (;;) {
      const double rate = options_.schedule[piece_].rate_rps;
      const double gap_ns = rate > 0 ? wanted * kNanosPerSecond / rate : 0;
      if (rate > 0 && (gap_ns < left_ns_ || holds_for_ever())) {
        left_ns_ -= gap_ns;
        at_.advance(gap_ns);
        return at_.instant();
      }
      wanted = std::max(0.0, wanted - expected(rate, left_ns_));
      at_.advance(left_ns_);
      piece_ = (piece_ + 1) % options_.schedule.size();
      left_ns_ = duration_ns(options_.schedule[piece_]);
    }
  }

 private:
  static double duration_ns(const RatePiece& piece) {
    return static_cast<double>(piece.duration.ns());
  }
  static double expected(double rate_rps, double ns) { return rate_rps * ns / kNanosPerSecond; }
  bool holds_for_ever() const { return !options_.repeat && piece_ + 1 == options_.schedule.size(); }

  PiecewiseArrivals options_;
  RandomStream stream_;
  double cycle_ns_ = 0;
  double cycle_arrivals_ = 0;
  std::size_t piece_ = 0;
  double left_ns_ = 0;
  FineInstant at_;
};

struct Maker {
  RandomStream stream;
  std::unique_ptr<ArrivalProcess> operator()(const PoissonArrivals& options) const {
    CHECK(options.rate_rps > 0) << "rate " << options.rate_rps;
    return std::make_unique<Poisson>(options.rate_rps, stream);
  }
  std::unique_ptr<ArrivalProcess> operator()(const ConstantArrivals& options) const {
    CHECK(options.rate_rps > 0) << "rate " << options.rate_rps;
    return std::make_unique<Constant>(options.rate_rps);
  }
  std::unique_ptr<ArrivalProcess> operator()(const GammaArrivals& options) const {
    CHECK(options.rate_rps > 0 && options.cv > 0)
        << "rate " << options.rate_rps << ", cv " << options.cv;
    return std::make_unique<GammaRenewal>(options, stream);
  }
  std::unique_ptr<ArrivalProcess> operator()(const BurstyArrivals& options) const {
    return std::make_unique<Piecewise>(bursty_schedule(options), stream);
  }
  std::unique_ptr<ArrivalProcess> operator()(const PiecewiseArrivals& options) const {
    return std::make_unique<Piecewise>(options, stream);
  }
};

struct SpanEstimator {
  double count;
  double operator()(const PiecewiseArrivals& options) const {
    double span = 0;
    double wanted = count;
    double cycle_span = 0;
    double cycle_arrivals = 0;
    for (const RatePiece& piece : options.schedule) {
      cycle_span += piece.duration.seconds();
      cycle_arrivals += piece.duration.seconds() * piece.rate_rps;
    }
    if (options.repeat) return count / cycle_arrivals * cycle_span;
    for (const RatePiece& piece : options.schedule) {
      const double arrivals = piece.duration.seconds() * piece.rate_rps;
      if (&piece == &options.schedule.back() || arrivals >= wanted) {
        return span + wanted / piece.rate_rps;
      }
      wanted -= arrivals;
      span += piece.duration.seconds();
    }
    return span;
  }
  double operator()(const auto& options) const { return count / options.rate_rps; }
};

}  // namespace

std::unique_ptr<ArrivalProcess> make_arrivals(const ArrivalOptions& options, RandomStream stream) {
  return std::visit(Maker{stream}, options);
}

PiecewiseArrivals bursty_schedule(const BurstyArrivals& options) {
  CHECK(options.rate_rps > 0 && options.burst_factor >= 1) << options.burst_factor;
  CHECK(options.burst_fraction > 0 && options.burst_fraction < 1) << options.burst_fraction;
  const double period_ns = static_cast<double>(options.period.ns());
  const Duration high = Duration::nanos(std::llround(period_ns * options.burst_fraction));
  const Duration low = options.period - high;
  CHECK(high.ns() > 0 && low.ns() > 0) << "a period of " << options.period.ns() << " ns";
  // From the rounded durations, so that the mean is right to the last digit.
  const double fraction = static_cast<double>(high.ns()) / period_ns;
  const double low_rate = options.rate_rps / (1 - fraction + fraction * options.burst_factor);
  return {{{low, low_rate}, {high, options.burst_factor * low_rate}}, true};
}

double long_run_rate_rps(const ArrivalOptions& options) {
  if (const auto* piecewise = std::get_if<PiecewiseArrivals>(&options)) {
    if (!piecewise->repeat) return piecewise->schedule.back().rate_rps;
  }
  return 1 / expected_span_s(options, 1);
}

double expected_span_s(const ArrivalOptions& options, double count) {
  return std::visit(SpanEstimator{count}, options);
}

}  // namespace inferscale
