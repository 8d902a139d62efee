#include "workload/arrival_options.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

constexpr double kSlowestRps = 0.001;
constexpr double kFastestRps = 1e6;
constexpr double kLongestSpanS = 1e9;
constexpr std::size_t kMostPieces = 100'000;

double read_rate(ConfigReader& arrivals, std::string_view unit) {
  return arrivals.number("rate_rps", {.min = kSlowestRps,
                                      .max = kFastestRps,
                                      .unit = unit,
                                      .doc = "mean arrival rate; of every process but piecewise"});
}

BurstyArrivals read_bursty(ConfigReader& arrivals, double rate_rps) {
  BurstyArrivals bursty;
  bursty.rate_rps = rate_rps;
  bursty.burst_factor = arrivals.number(
      "burst_factor", {.fallback = 5,
                       .min = 1,
                       .max = 1000,
                       .above_min = true,
                       .unit = "ratio",
                       .doc = "the higher rate over the lower one; their mean is rate_rps"});
  bursty.burst_fraction =
      arrivals.number("burst_fraction", {.fallback = 0.2,
                                         .min = 0.001,
                                         .max = 0.999,
                                         .unit = "fraction",
                                         .doc = "part of each period that has the higher rate"});
  bursty.period = Duration::from_seconds(arrivals.number(
      "period_s", {.fallback = 60,
                   .min = 0.001,
                   .max = 1e7,
                   .unit = "s",
                   .doc = "one lower and one higher part; the run starts with the lower one"}));
  return bursty;
}

// One entry of the schedule as it is written: it says when it begins or how long it lasts.
struct WrittenPiece {
  std::optional<double> from_s;
  std::optional<double> duration_s;
  double rate_rps = 0;
};

WrittenPiece read_piece(ConfigReader& piece, double rate_scale, std::string_view unit) {
  WrittenPiece written;
  written.from_s = piece.optional_number(
      "from_s", {.min = 0,
                 .max = kLongestSpanS,
                 .unit = "s",
                 .doc = "when this rate begins; in all pieces, or duration_s in all"});
  written.duration_s = piece.optional_number(
      "duration_s",
      {.min = 0.001, .max = kLongestSpanS, .unit = "s", .doc = "how long this rate lasts"});
  written.rate_rps = piece.number(
      "rate_rps",
      {.min = 0, .max = kFastestRps, .unit = unit, .doc = "arrival rate of this piece; 0: none"});
  written.rate_rps *= rate_scale;
  if (written.rate_rps > kFastestRps || (written.rate_rps > 0 && written.rate_rps < kSlowestRps)) {
    piece.fail("rate_rps", rate_scale == 1 ? "expected 0 or a number from 0.001 to 1000000"
                                           : "expected 0 or a number that is from 0.001 to 1000000 "
                                             "when it is multiplied by rate_scale");
  }
  if (!piece.is_describing() && written.from_s.has_value() == written.duration_s.has_value()) {
    piece.fail("from_s", "expected either from_s or duration_s");
  }
  piece.finish();
  return written;
}

// Turns beginnings into durations. Reports mixed styles and beginnings that do not grow.
std::vector<RatePiece> durations_of(const std::vector<WrittenPiece>& written,
                                    std::vector<ConfigReader>& readers, bool repeat) {
  std::vector<RatePiece> pieces;
  const bool by_start = written.front().from_s.has_value();
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].from_s.has_value() == by_start) continue;
    readers[i].fail("", "expected from_s in all pieces, or duration_s in all");
    return {};
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    double duration_s = written[i].duration_s.value_or(0);
    if (by_start && i + 1 < written.size()) {
      duration_s = written[i + 1].from_s.value_or(0) - *written[i].from_s;
      if (duration_s < 0.001) {
        readers[i + 1].fail("from_s", "expected at least 0.001 s after the piece before");
        return {};
      }
    }
    pieces.push_back({Duration::from_seconds(duration_s), written[i].rate_rps});
  }
  if (by_start && *written.front().from_s != 0) {
    readers.front().fail("from_s", "expected 0 in the first piece");
  }
  if (by_start && repeat) {
    readers.back().fail("from_s",
                        "expected duration_s in all pieces, because the schedule repeats "
                        "and its last piece must have an end");
  }
  return pieces;
}

PiecewiseArrivals read_piecewise(ConfigReader& arrivals, std::string_view unit) {
  PiecewiseArrivals options;
  options.repeat =
      arrivals.boolean("repeat", false, "start the schedule over; else its last rate holds on");
  const double rate_scale = arrivals.number(
      "rate_scale", {.fallback = 1,
                     .min = 1e-6,
                     .max = 1e6,
                     .unit = "factor",
                     .doc = "multiplies all rates of the schedule: more of the same traffic"});
  std::vector<ConfigReader> readers =
      arrivals.list("schedule", "rates one after the other; changes inside a gap are exact");
  std::vector<WrittenPiece> written;
  for (ConfigReader& piece : readers) {
    written.push_back(read_piece(piece, rate_scale, unit));
  }
  if (arrivals.is_describing()) return options;
  if (written.empty() || written.size() > kMostPieces) {
    arrivals.fail("schedule", "expected a list of 1 to 100000 pieces");
    return options;
  }
  options.schedule = durations_of(written, readers, options.repeat);
  bool any = false;
  for (const RatePiece& piece : options.schedule) any = any || piece.rate_rps > 0;
  if (options.repeat && !any) arrivals.fail("schedule", "expected a rate above 0 in some piece");
  if (!options.repeat && !options.schedule.empty() && options.schedule.back().rate_rps == 0) {
    readers.back().fail("rate_rps",
                        "expected a rate above 0 in the last piece, because it holds "
                        "on until all requests have arrived (or repeat: true)");
  }
  return options;
}

}  // namespace

ArrivalOptions read_arrival_options(ConfigReader arrivals, std::string_view unit) {
  const std::string process =
      arrivals.choice("process", {"poisson", "constant", "gamma", "bursty", "piecewise"}, "poisson",
                      "how arrivals are spaced; all are open loop");
  double rate_rps = 0;
  if (process != "piecewise" || arrivals.is_describing()) rate_rps = read_rate(arrivals, unit);
  ArrivalOptions options = PoissonArrivals{rate_rps};
  if (process == "constant") options = ConstantArrivals{rate_rps};
  arrivals.when("process", process, "gamma", [&] {
    const double cv =
        arrivals.number("cv", {.min = 0.001,
                               .max = 100,
                               .unit = "ratio",
                               .doc = "deviation of the gaps over their mean; 1 is Poisson"});
    options = GammaArrivals{rate_rps, cv};
  });
  arrivals.when("process", process, "bursty", [&] { options = read_bursty(arrivals, rate_rps); });
  arrivals.when("process", process, "piecewise", [&] { options = read_piecewise(arrivals, unit); });
  arrivals.finish();
  return options;
}

bool arrive_in_time(const ArrivalOptions& options, std::uint64_t count) {
  return expected_span_s(options, static_cast<double>(count)) <= kLongestSpanS;
}

}  // namespace inferscale
