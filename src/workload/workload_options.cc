#include "workload/workload_options.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

constexpr double kSlowestRps = 0.001;
constexpr double kFastestRps = 1e6;
constexpr double kLongestSpanS = 1e9;
constexpr std::size_t kMostPieces = 100'000;
constexpr std::size_t kMostValues = 1'000'000;

double read_rate(ConfigReader& arrivals) {
  return arrivals.number("rate_rps", {.min = kSlowestRps,
                                      .max = kFastestRps,
                                      .unit = "requests/s",
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

WrittenPiece read_piece(ConfigReader& piece) {
  WrittenPiece written;
  written.from_s = piece.optional_number(
      "from_s", {.min = 0,
                 .max = kLongestSpanS,
                 .unit = "s",
                 .doc = "when this rate begins; in all pieces, or duration_s in all"});
  written.duration_s = piece.optional_number(
      "duration_s",
      {.min = 0.001, .max = kLongestSpanS, .unit = "s", .doc = "how long this rate lasts"});
  written.rate_rps = piece.number("rate_rps", {.min = 0,
                                               .max = kFastestRps,
                                               .unit = "requests/s",
                                               .doc = "arrival rate of this piece; 0: none"});
  if (written.rate_rps > 0 && written.rate_rps < kSlowestRps) {
    piece.fail("rate_rps", "expected 0 or a number from 0.001 to 1000000");
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

PiecewiseArrivals read_piecewise(ConfigReader& arrivals) {
  PiecewiseArrivals options;
  options.repeat =
      arrivals.boolean("repeat", false, "start the schedule over; else its last rate holds on");
  std::vector<ConfigReader> readers =
      arrivals.list("schedule", "rates one after the other; changes inside a gap are exact");
  std::vector<WrittenPiece> written;
  for (ConfigReader& piece : readers) written.push_back(read_piece(piece));
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

ArrivalOptions read_arrivals(ConfigReader arrivals) {
  const std::string process =
      arrivals.choice("process", {"poisson", "constant", "gamma", "bursty", "piecewise"}, "poisson",
                      "how arrivals are spaced; all are open loop");
  double rate_rps = 0;
  if (process != "piecewise" || arrivals.is_describing()) rate_rps = read_rate(arrivals);
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
  arrivals.when("process", process, "piecewise", [&] { options = read_piecewise(arrivals); });
  arrivals.finish();
  return options;
}

EmpiricalLength read_empirical(ConfigReader& length) {
  EmpiricalLength empirical;
  const std::vector<double> values = length.numbers(
      "values", {.min = 1, .max = kMostTokens, .unit = "tokens", .doc = "the lengths that occur"});
  empirical.weights = length.numbers(
      "weights",
      {.min = 0, .max = 1e12, .unit = "", .doc = "how often, in proportion; empty: all alike"});
  if (length.is_describing()) return empirical;
  if (values.empty() || values.size() > kMostValues) {
    length.fail("values", "expected a list of 1 to 1000000 token counts");
  }
  double sum = 0;
  for (double value : values) {
    if (value != std::floor(value)) length.fail("values", "expected whole numbers of tokens");
    empirical.values.push_back(static_cast<std::uint32_t>(value));
  }
  for (double weight : empirical.weights) sum += weight;
  if (!empirical.weights.empty() && empirical.weights.size() != values.size()) {
    length.fail("weights", "expected as many weights as values, " + std::to_string(values.size()) +
                               ", not " + std::to_string(empirical.weights.size()));
  } else if (!empirical.weights.empty() && !(sum > 0)) {
    length.fail("weights", "expected a weight above 0");
  }
  return empirical;
}

LengthOptions read_length(ConfigReader length) {
  LengthOptions options;
  const std::string distribution =
      length.choice("distribution", {"constant", "lognormal", "empirical"}, "lognormal",
                    "how lengths are distributed");
  length.when("distribution", distribution, "constant", [&] {
    options.shape = ConstantLength{static_cast<std::uint32_t>(length.integer(
        "value", {.min = 1, .max = kMostTokens, .unit = "tokens", .doc = "every length"}))};
  });
  length.when("distribution", distribution, "lognormal", [&] {
    LognormalLength lognormal;
    lognormal.mean = length.number(
        "mean", {.min = 1, .max = kMostTokens, .unit = "tokens", .doc = "mean length"});
    lognormal.cv = length.number(
        "cv", {.min = 0, .max = 100, .unit = "ratio", .doc = "deviation over mean; 0: no spread"});
    options.shape = lognormal;
  });
  length.when("distribution", distribution, "empirical",
              [&] { options.shape = read_empirical(length); });
  options.min =
      static_cast<std::uint32_t>(length.integer("min", {.fallback = 1,
                                                        .min = 1,
                                                        .max = kMostTokens,
                                                        .unit = "tokens",
                                                        .doc = "shorter lengths become this one"}));
  options.max =
      static_cast<std::uint32_t>(length.integer("max", {.fallback = kMostTokens,
                                                        .min = 1,
                                                        .max = kMostTokens,
                                                        .unit = "tokens",
                                                        .doc = "longer lengths become this one"}));
  if (options.min > options.max) length.fail("max", "expected at least min");
  length.finish();
  return options;
}

GeneratedOptions read_generated(ConfigReader& workload) {
  GeneratedOptions options;
  options.requests = static_cast<std::uint64_t>(
      workload.integer("requests", {.fallback = 10'000,
                                    .min = 1,
                                    .max = static_cast<std::int64_t>(kMostRequests),
                                    .unit = "requests",
                                    .doc = "how many arrive"}));
  options.arrivals = read_arrivals(workload.map("arrivals", "when requests arrive"));
  options.prompt_tokens = read_length(workload.map("prompt_tokens", "lengths of the prompts"));
  options.output_tokens = read_length(workload.map("output_tokens", "lengths of the answers"));
  return options;
}

// Instants are 64-bit nanoseconds; the limit also refuses runs that nobody meant.
void check_span(ConfigReader& workload, const GeneratedOptions& options) {
  const auto* piecewise = std::get_if<PiecewiseArrivals>(&options.arrivals);
  if (workload.is_describing() || (piecewise != nullptr && piecewise->schedule.empty())) return;
  const double span_s = expected_span_s(options.arrivals, static_cast<double>(options.requests));
  if (span_s > kLongestSpanS) {
    workload.fail("requests",
                  "expected so many that they arrive within 1e9 s (31 years) at the "
                  "rate of workload.arrivals");
  }
}

TraceOptions read_trace_options(ConfigReader trace) {
  TraceOptions options;
  options.file = trace.text("file", std::nullopt,
                            "plain or gzip; relative to the configuration file's folder");
  const std::string format =
      trace.choice("format", {"auto", "inferscale", "azure2023", "mooncake", "burstgpt"}, "auto",
                   "auto: found by the first line");
  options.format = trace_format_named(format);
  options.sort = trace.boolean("sort", false,
                               "put rows in order of arrival; without it a row out of order is an "
                               "error");
  options.skip_failed = trace.boolean("skip_failed", false,
                                      "leave out and count rows with 0 output tokens (failed "
                                      "calls); without it such a row is an error");
  const auto limit =
      trace.optional_integer("limit", {.min = 1,
                                       .max = static_cast<std::int64_t>(kMostRequests),
                                       .unit = "requests",
                                       .doc = "use the first so many rows; null: all"});
  if (limit) options.limit = static_cast<std::uint64_t>(*limit);
  options.jitter = Duration::from_millis(trace.number(
      "jitter_ms", {.fallback = 0,
                    .min = 0,
                    .max = 3.6e6,
                    .unit = "ms",
                    .doc = "derived workload: move each arrival later by up to this, at random, "
                           "where the trace's clock was coarse"}));
  trace.finish();
  return options;
}

}  // namespace

WorkloadOptions read_workload_options(ConfigReader& workload) {
  WorkloadOptions options;
  std::optional<ConfigReader> trace = workload.optional_map(
      "trace", "replay these rows instead of requests, arrivals, prompt_tokens, output_tokens");
  if (trace) options.trace = read_trace_options(*trace);
  if (!trace || workload.is_describing()) {
    options.generated = read_generated(workload);
    check_span(workload, options.generated);
  } else {
    for (std::string_view key : {"requests", "arrivals", "prompt_tokens", "output_tokens"}) {
      if (workload.has(key)) {
        workload.fail(key,
                      "expected no such key beside trace, whose rows say it (trace.limit "
                      "takes fewer of them)");
      }
    }
  }
  workload.finish();
  return options;
}

}  // namespace inferscale
