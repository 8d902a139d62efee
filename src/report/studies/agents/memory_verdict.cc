#include "report/studies/agents/memory_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/comparison_text.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

// Reads the reference once, which all lines are about.
class MemoryVerdict {
 public:
  MemoryVerdict(JsonFields& result, const SweepWords& words, const Rows& rows)
      : result_(result), words_(words), rows_(rows) {
    const Json* reference = result.object("reference");
    if (reference == nullptr) return;
    JsonFields fields(*reference, kResultPlace, "reference.");
    configured_ = fields.number("configured_tokens");
    read_peaks(fields);
    if (const Json* unlimited = fields.object("unlimited"); unlimited != nullptr) {
      JsonFields row(*unlimited, kResultPlace, "reference.unlimited.");
      unlimited_ = read_sweep_row(row);
      if (row.failed()) fields.fail("unlimited", row.error().message);
    }
    if (fields.failed()) result.fail("reference", fields.error().message);
  }

  std::string text() const {
    const SweepRowFields* chosen = row_at(result_, "recommended", rows_);
    return recommended(chosen) + within_slo_text(result_, words_, rows_, chosen) + peak_line() +
           configured_line() + failing_line();
  }

 private:
  void read_peaks(JsonFields& fields) {
    const Json* peaks = fields.list("peak_tokens");
    if (peaks == nullptr) return;
    for (const Json& peak : *peaks) {
      if (!peak.is_number()) return fields.fail("peak_tokens", "expected numbers");
      const double tokens = peak.get<double>();
      least_peak_ = least_peak_ == 0 ? tokens : std::min(least_peak_, tokens);
      most_peak_ = std::max(most_peak_, tokens);
    }
    if (most_peak_ <= 0) fields.fail("peak_tokens", "expected at least one above 0");
  }

  // "123456 tokens (16.2 GB)".
  std::string size_text(double tokens) const {
    std::string text = fmt::format("{:.0f} tokens", tokens);
    const std::optional<double> peak_gb = unlimited_.mean("kv_gb_peak_replica");
    const std::optional<double> peak = unlimited_.mean("kv_tokens_peak_replica");
    if (peak_gb && peak && *peak > 0) text += " (" + gigabytes(tokens * *peak_gb / *peak) + ")";
    return text;
  }

  // Of several repetitions each has a peak of its own.
  std::string range_text(double least, double most) const {
    if (least == most) return size_text(most);
    return size_text(least) + " to " + size_text(most) + " (by repetition)";
  }

  const SweepRowFields* largest_simulated() const {
    const auto found = std::find_if(rows_.rbegin(), rows_.rend(),
                                    [](const SweepRowFields& row) { return row.simulated(); });
    return found == rows_.rend() ? nullptr : &*found;
  }

  std::string recommended(const SweepRowFields* chosen) const {
    const double tolerance = result_.number("tolerance");
    const std::string rule = "as well as no limit (p95 turn TTFT within " +
                             fmt::format("{:.6g}", 100 * tolerance) +
                             " %, no more failed turns and incomplete sessions)";
    if (chosen == nullptr) {
      const SweepRowFields* largest = largest_simulated();
      if (largest == nullptr) return part("Recommended", "none: no budget could be simulated.");
      return part("Recommended", "none: the largest budget does not serve " + rule +
                                     (largest->mean(kTtftP95) ? ": p95 turn TTFT " : ": ") +
                                     ttft_text(*largest) + " (" + ttft_text(unlimited_) +
                                     " without a limit).");
    }
    if (chosen->cache_tokens.empty()) {
      result_.fail("points", "expected cache_tokens of the recommended budget");
      return {};
    }
    const auto [least, most] = std::ranges::minmax(chosen->cache_tokens);
    std::string text = chosen->name + ", that is " + range_text(least, most) +
                       " a replica, is the smallest budget that serves " + rule +
                       ", and all larger ones do: p95 turn TTFT " + ttft_text(*chosen) + " (" +
                       ttft_text(unlimited_) + " without a limit)";
    const auto met = chosen->mean("turn_attainment");
    const auto its = unlimited_.mean("turn_attainment");
    if (met && its) {
      text += ", " + percent(*met) + " of turns within the SLO (" + percent(*its) + ")";
    }
    if (most > configured_) {
      text += ". That is more than the deployment has (" + size_text(configured_) +
              " a replica): it takes more memory, or fewer sessions a replica";
    }
    return part("Recommended", text + ".") + settings_line(*chosen);
  }

  std::string peak_line() const {
    return part("Peak", "with nothing evicted the replica that holds most holds " +
                            range_text(least_peak_, most_peak_) + " of running and idle sessions.");
  }

  std::string configured_line() const {
    const double multiple = configured_ / most_peak_;
    std::string text = "the deployment's own KV cache has " + size_text(configured_) +
                       " a replica, " + short_number(multiple) + " x the " +
                       (least_peak_ == most_peak_ ? "peak" : "largest peak");
    text += multiple >= 1 ? ": memory is no limit for these sessions."
                          : ": it has to evict, see the budgets near it.";
    return part("Configured", text);
  }

  // The largest budget at which more is lost than without a limit.
  std::string failing_line() const {
    const auto lost = [](const SweepRowFields& row) {
      return row.mean("turns_failed").value_or(0) + row.incomplete.value_or(0);
    };
    if (largest_simulated() == nullptr) return {};
    const SweepRowFields* largest = nullptr;
    for (const SweepRowFields& row : rows_) {
      if (row.simulated() && lost(row) > lost(unlimited_)) largest = &row;
    }
    if (largest == nullptr) {
      return part("Failures", "no budget makes more turns fail than no limit does.");
    }
    const auto of = [&](const char* metric) {
      return count_text(largest->mean(metric).value_or(0));
    };
    return part("Failures",
                fmt::format("at {} {} of {} turns fail, {} more are never reached, and {} of {} "
                            "sessions stay incomplete. They "
                            "count against the shares that met the SLO; latencies there are of "
                            "what finished.",
                            largest->name, of("turns_failed"), of("turns"), of("turns_unreached"),
                            count_text(largest->incomplete.value_or(0)), of("sessions")));
  }

  JsonFields& result_;
  const SweepWords& words_;
  const Rows& rows_;
  SweepRowFields unlimited_;
  double configured_ = 0;
  double least_peak_ = 0;
  double most_peak_ = 0;
};

}  // namespace

std::string memory_verdict(JsonFields& result, const SweepWords& words, const Rows& rows) {
  return MemoryVerdict(result, words, rows).text();
}

}  // namespace inferscale
