#include "report/studies/explore/explore_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/studies/comparison_text.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

// "11.9 requests/s within the SLO (99.2 % of arrivals), TTFT p95 210 ms, 2 accelerators".
std::string described(const ExploreRow& row) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (const auto rps = row.mean("goodput_rps")) {
    const auto share = row.mean("goodput");
    add(short_number(*rps) + " requests/s within the SLO" +
        (share ? " (" + percent(*share) + " of arrivals)" : ""));
  }
  if (const auto ttft = row.mean("ttft_ms_p95")) {
    add("TTFT p95 " + milliseconds_text(*ttft) + (in_seconds(*ttft) ? "" : " ms"));
  }
  if (const auto count = row.mean("accelerators_mean")) {
    add(accelerators_text(*count) + (*count == 1 ? " accelerator" : " accelerators"));
  }
  if (const auto cost = row.mean("cost_per_hour")) add(short_number(*cost) + " an hour");
  if (row.saturated_runs > 0) add("saturated");
  return text;
}

const ExploreRow* row_at(const std::vector<ExploreRow>& rows, std::optional<std::int64_t> index) {
  const auto count = std::ssize(rows);
  if (!index || *index >= count) return nullptr;
  return &rows[static_cast<std::size_t>(*index)];
}

// Who else comes within a hundredth of the best: near ties are no verdict, so of them the one that
// takes the least is named.
std::string near_ties(const std::vector<ExploreRow>& rows, const ExploreRow& best) {
  const double most = best.mean("goodput_rps").value_or(0);
  std::int64_t near = 0;
  const ExploreRow* least = &best;
  for (const ExploreRow& row : rows) {
    if (row.index == best.index || row.mean("goodput_rps").value_or(-1) < 0.99 * most) continue;
    ++near;
    const auto count = row.mean("accelerators_mean");
    if (count && *count < least->mean("accelerators_mean").value_or(0)) least = &row;
  }
  if (near == 0 || most <= 0) return {};
  std::string text = near == 1 ? std::string(" 1 other candidate is within 1 % of it")
                               : fmt::format(" {} other candidates are within 1 % of it", near);
  if (least != &best) {
    text += ", with the fewest accelerators (" +
            accelerators_text(*least->mean("accelerators_mean")) + ") " + least->name;
  }
  return text + ".";
}

// Latencies are of what was served, and who refuses much is fast with the rest.
std::string refusals(const ExploreRow& row) {
  const double refused = row.mean("refused").value_or(0);
  if (refused == 0) return {};
  return " It refuses " + short_number(refused) +
         " requests a run on average: its latencies are of those that it took.";
}

constexpr const char* kGoodputHead = "Most goodput      ";
constexpr const char* kTtftHead = "Least TTFT p95    ";
constexpr const char* kCheapestHead = "Cheapest          ";
constexpr const char* kUnlikeHead = "But               ";

// A candidate with its figures, what else there is to say, and how to get it.
std::string chosen(const char* head, const std::string& before, const ExploreRow& row,
                   const std::string& after) {
  const std::string options = set_options(row);
  const std::string margin(display_width(head), ' ');
  return wrapped(head, before + row.name + ": " + described(row) + "." + after) + margin +
         (options.empty() ? "(the configuration as it is)" : options) + "\n";
}

std::string cheapest_text(JsonFields& result, const std::vector<ExploreRow>& rows,
                          const ExploreRow* goodput, const ExploreRow* ttft) {
  const ExploreRow* cheapest = row_at(rows, result.optional_integer("cheapest"));
  const double attainment = result.number("attainment");
  const bool some_priced = std::any_of(rows.begin(), rows.end(), [&](const ExploreRow& row) {
    return row.figure("goodput.min").value_or(-1) >= attainment && row.mean("cost_per_hour");
  });
  std::string kind = "least cost";
  if (result.text("cheapest_by") != "cost_per_hour") {
    kind = some_priced ? "fewest accelerators (not all have a price, see the note below)"
                       : "fewest accelerators";
  }
  const std::string within =
      fmt::format("{:.6g} % of arrivals within the SLO in every repetition", 100 * attainment);
  if (cheapest == nullptr) {
    return wrapped(kCheapestHead, "none: no candidate keeps " + within + ".");
  }
  const std::string head = "of those that keep " + within + ", the " + kind + ": ";
  if (cheapest == goodput) return wrapped(kCheapestHead, head + "the one with the most goodput.");
  if (cheapest == ttft) return wrapped(kCheapestHead, head + "the one with the least TTFT p95.");
  return chosen(kCheapestHead, head, *cheapest, refusals(*cheapest));
}

}  // namespace

std::string explore_verdict(JsonFields& result, const std::vector<ExploreRow>& rows) {
  const ExploreRow* goodput = row_at(rows, result.optional_integer("most_goodput"));
  const ExploreRow* ttft = row_at(rows, result.optional_integer("least_ttft"));
  if (goodput == nullptr || ttft == nullptr) {
    const bool any =
        std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.simulated(); });
    return any ? "No candidate finished a request: there is nothing to compare.\n"
               : "No candidate could be simulated; the reasons are below.\n";
  }
  std::string text =
      chosen(kGoodputHead, "", *goodput, refusals(*goodput) + near_ties(rows, *goodput));
  text += ttft == goodput ? wrapped(kTtftHead, "the same candidate.")
                          : chosen(kTtftHead, "", *ttft, refusals(*ttft));
  text += cheapest_text(result, rows, goodput, ttft);
  if (is_unlike(result, "workload")) {
    text += wrapped(kUnlikeHead,
                    "candidates have other loads: none of these is a choice between "
                    "designs (see the note below).");
  }
  if (is_unlike(result, "slo")) {
    text += wrapped(kUnlikeHead, "candidates are judged by other targets (see the note below).");
  }
  return text;
}

}  // namespace inferscale
