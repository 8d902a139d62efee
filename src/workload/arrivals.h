// When requests arrive: open-loop processes that never wait for the system they load.
//
// | process   | gaps between arrivals |
// |-----------|-----------------------|
// | poisson   | exponential with mean 1/rate |
// | constant  | exactly 1/rate; the first arrival is at 1/rate |
// | gamma     | gamma with mean 1/rate and coefficient of variation cv: shape 1/cv^2 |
// | bursty    | Poisson whose rate alternates between a lower and a higher value |
// | piecewise | Poisson whose rate follows a schedule |
//
// A Poisson process of varying rate is made by the time-change theorem: each arrival draws one unit
// exponential E and comes when the integral of the rate since the previous arrival reaches E (E.
// Cinlar, "Introduction to Stochastic Processes", 1975, ch. 4). A change of rate inside a gap is
// therefore exact, not approximated by thinning or by finishing the gap at the old rate.
//
// Instants are sums of gaps kept as whole nanoseconds plus a fraction, rounded down only when they
// are handed out: no drift over any number of arrivals, and never a step back. Each process takes
// one exponential or gamma draw for each arrival from the stream that it owns.

#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/time.h"

namespace inferscale {

class ArrivalProcess {
 public:
  virtual ~ArrivalProcess() = default;
  // The next arrival, at or after the previous one. There is always one; instants stop growing at
  // kLatestArrival, which the limits of the options keep out of reach.
  virtual Instant next() = 0;
};

inline constexpr Instant kLatestArrival = Instant::nanos(9'000'000'000'000'000'000);  // 285 years

struct PoissonArrivals {
  double rate_rps = 1;
};

struct ConstantArrivals {
  double rate_rps = 1;
};

struct GammaArrivals {
  double rate_rps = 1;
  double cv = 1;  // deviation of the gaps over their mean; above 1 is burstier than Poisson
};

// Each period is a lower part followed by a higher part of burst_fraction of its length. With f =
// burst_fraction and b = burst_factor: low = rate / (1 - f + f b), high = b * low, so that the mean
// over whole periods is rate_rps.
struct BurstyArrivals {
  double rate_rps = 1;      // mean over whole periods
  double burst_factor = 5;  // the higher rate over the lower one
  double burst_fraction = 0.2;
  Duration period = Duration::nanos(60'000'000'000);
};

struct RatePiece {
  Duration duration;    // of the last piece: counts with `repeat` only
  double rate_rps = 0;  // 0: no arrivals in this piece
};

// Without `repeat` the last rate holds for ever; with it the schedule starts over.
struct PiecewiseArrivals {
  std::vector<RatePiece> schedule;
  bool repeat = false;
};

using ArrivalOptions = std::variant<PoissonArrivals, ConstantArrivals, GammaArrivals,
                                    BurstyArrivals, PiecewiseArrivals>;

// REQUIRES: rates above 0 (in a schedule at least 0, the last one above 0, or with `repeat` any one
// of them), cv above 0, burst_factor at least 1, 0 < burst_fraction < 1, durations above 0.
std::unique_ptr<ArrivalProcess> make_arrivals(const ArrivalOptions& options, RandomStream stream);

// The schedule that bursty arrivals follow, repeated.
PiecewiseArrivals bursty_schedule(const BurstyArrivals& options);

// Arrivals per second in the long run: of the last piece, or over one cycle with `repeat`.
double long_run_rate_rps(const ArrivalOptions& options);

// When the expected number of arrivals reaches `count`: how long a run of that many lasts.
double expected_span_s(const ArrivalOptions& options, double count);

}  // namespace inferscale
