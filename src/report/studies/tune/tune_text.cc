#include "report/studies/tune/tune_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "report/studies/comparison_text.h"
#include "report/studies/tune/tune_reading.h"
#include "report/text/number_words.h"
#include "report/text/text_table.h"
#include "report/text/xy_plot.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostAsGood = 8;

std::string cell(std::optional<double> value) {
  return value ? figure(*value) : "-";
}

std::string share(std::optional<double> value) {
  return value ? percent(*value) : "-";
}

std::string values_words(const ReadTune& tune, const ReadTrial& trial) {
  std::string words;
  for (std::size_t i = 0; i < trial.values.size(); ++i) {
    words +=
        (words.empty() ? "" : ", ") + tune.parameters[i].name + " " + number_text(trial.values[i]);
  }
  return words;
}

std::string side_name(const ReadTuneSide& side) {
  if (side.policy == "equal_volume_shed") return side.policy + ", its volume at each load";
  return side.parameters.empty() ? side.policy : side.policy + " (" + side.parameters + ")";
}

std::string metric_words(const ReadTune& tune) {
  return tune.metric == "goodput" ? "goodput" : "turn attainment";
}

std::string interval_words(const std::optional<ReadInterval>& interval) {
  if (!interval) return "";
  return fmt::format(" (95 % interval {} to {})", figure(interval->low), figure(interval->high));
}

std::string best_text(const ReadTune& tune) {
  std::string out = wrapped("Set        ", tune.policy + ": " + values_words(tune, tune.best));
  const ReadTuneSide& tuned = tune.tuned;
  if (!tuned.worst_case || !tuned.worst_at) {
    return out + wrapped("Not judged ",
                         "on the fresh seeds: " +
                             (tuned.failure.empty() ? "no " + metric_words(tune) : tuned.failure));
  }
  std::string words = fmt::format(
      "worst-case {} {}{}, at load factor {}, on {} that the search has not seen",
      metric_words(tune), figure(*tuned.worst_case), interval_words(tune.tuned_interval),
      number_text(*tuned.worst_at), number_of(tune.fresh_repeats, "seed"));
  if (tune.best.worst_case) {
    const bool lucky = *tune.best.worst_case > *tuned.worst_case;
    words += fmt::format("; in the search, {}{}", figure(*tune.best.worst_case),
                         lucky ? " (the best of many tries looks better than it is)" : "");
  }
  return out + wrapped("Gives      ", words + ".");
}

std::string difference_words(const ReadTuneControl& control) {
  std::string words = delta_figure(control.difference.value_or(0));
  if (control.interval) {
    words += fmt::format(" (95 % interval {} to {})", delta_figure(control.interval->low),
                         delta_figure(control.interval->high));
  }
  return words;
}

std::string verdict_words(const ReadTune& tune, const ReadTuneControl& control) {
  const std::string name = side_name(control.side);
  const std::string difference = difference_words(control);
  const std::string seeds = number_of(tune.fresh_repeats, "seed");
  if (control.verdict == "better") {
    return fmt::format("{}: better, {}, and higher in {} of {}.", name, difference,
                       control.better_seeds, seeds);
  }
  if (control.verdict == "worse") return fmt::format("{}: worse, {}.", name, difference);
  if (control.verdict == "does_not_matter") {
    return fmt::format("{}: does not matter, {} holds 0.", name, difference);
  }
  if (control.verdict == "identical") return fmt::format("{}: the same on every seed.", name);
  if (control.verdict == "differs") {
    return fmt::format("{}: {} on this one workload, of which all seeds give the same run.", name,
                       difference);
  }
  if (control.verdict == "too_few") {
    return fmt::format("{}: {}; {} are too few to say more (study.tune.fresh_repeats).", name,
                       difference, seeds);
  }
  const std::string& failure = control.side.failure;
  return fmt::format("{}: not comparable{}.", name, failure.empty() ? "" : ": " + failure);
}

std::string as_good_text(const ReadTune& tune) {
  if (tune.as_good.size() < 2) return {};
  if (tune.parameters.size() == 1) {
    return wrapped(
        "As good    ",
        fmt::format("within {} of the best in the search: {} candidates from {} {} to "
                    "{}.",
                    number_text(tune.as_good_within), tune.as_good.size(),
                    tune.parameters.front().name, number_text(tune.as_good.front().values.front()),
                    number_text(tune.as_good.back().values.front())));
  }
  std::vector<std::string> some;
  for (const ReadTrial& trial : tune.as_good) {
    if (some.size() < kMostAsGood) some.push_back("(" + values_words(tune, trial) + ")");
  }
  return wrapped(
      "As good    ",
      fmt::format("within {} of the best in the search: {} candidates, among them {}.",
                  number_text(tune.as_good_within), tune.as_good.size(), enumeration(some)));
}

std::string search_text(const ReadTune& tune) {
  std::vector<std::string> ranges;
  for (const ReadTuneParameter& one : tune.parameters) {
    ranges.push_back(
        fmt::format("{} from {} to {}", one.name, number_text(one.min), number_text(one.max)));
  }
  return wrapped(
      "Search     ",
      fmt::format("{} of {}, {} each at {}, seeds from {} on; the capacity, {} {}, was {}.",
                  number_of(std::ssize(tune.trials), "candidate"), enumeration(ranges),
                  number_of(tune.repeats, "run"), number_of(std::ssize(tune.loads), "load"),
                  tune.seed, figure(tune.capacity), tune.unit,
                  tune.capacity_measured ? "measured without a policy" : "given"));
}

std::string loads_table(const ReadTune& tune) {
  std::vector<std::string> columns = {metric_words(tune) + ", mean of the fresh seeds"};
  for (const ReadTuneLoad& load : tune.loads) {
    columns.push_back(">" + number_text(load.factor) + " x");
  }
  columns.emplace_back(">worst");
  TextTable table(std::move(columns));
  const auto add = [&](const std::string& name, const ReadTuneSide& side) {
    std::vector<std::string> cells = {name};
    for (const ReadTuneLevel& level : side.levels) cells.push_back(cell(level.goodput));
    cells.push_back(cell(side.worst_case));
    table.add(std::move(cells));
  };
  add(side_name(tune.tuned), tune.tuned);
  for (const ReadTuneControl& control : tune.controls) add(side_name(control.side), control.side);
  return table.text();
}

std::string tuned_table(const ReadTune& tune) {
  TextTable table({">load factor", ">" + tune.unit, ">rejected", ">deferred", ">TTFT p95, ms"});
  for (std::size_t i = 0; i < tune.loads.size(); ++i) {
    const ReadTuneLevel& level = tune.tuned.levels[i];
    table.add({number_text(tune.loads[i].factor), figure(tune.loads[i].load), share(level.rejected),
               share(level.deferred), cell(level.ttft_ms_p95)});
  }
  return "\n" + tune.policy + " as set: attempts that it turned away, and who was served\n" +
         table.text();
}

// Of one parameter: the worst case over its values.
std::string trials_plot(const ReadTune& tune, PlotGlyphs glyphs) {
  if (tune.parameters.size() != 1) return {};
  PlotSeries tried{.name = "tried", .mark = PlotMark::kDisc};
  PlotSeries best{.name = "best", .mark = PlotMark::kDiamond};
  for (const ReadTrial& trial : tune.trials) {
    if (trial.worst_case) tried.points.push_back({trial.values.front(), *trial.worst_case});
  }
  if (tried.points.size() < 2 || !tune.best.worst_case) return {};
  best.points.push_back({tune.best.values.front(), *tune.best.worst_case});
  const std::vector<PlotSeries> series = {std::move(tried), std::move(best)};
  const AxisScale scale =
      tune.parameters.front().logarithmic ? AxisScale::kLog : AxisScale::kLinear;
  return "\nWorst-case " + metric_words(tune) + " in the search\n" +
         xy_plot(series, {.label = tune.parameters.front().name, .scale = scale},
                 {.label = metric_words(tune)}, {.rows = 12, .glyphs = glyphs});
}

}  // namespace

Result<std::string> tune_text(const std::string& result_json, PlotGlyphs glyphs) {
  const Result<ReadTune> read = read_tune(result_json);
  if (!read) return std::unexpected(read.error());
  const ReadTune& tune = *read;
  std::string out = fmt::format("Tuning {} for {} (simulated)\n", tune.policy, tune.scenario);
  out += best_text(tune);
  bool first = true;
  for (const ReadTuneControl& control : tune.controls) {
    out += wrapped(first ? "Against    " : "           ", verdict_words(tune, control));
    first = false;
  }
  out += as_good_text(tune) + search_text(tune);
  out += "\n" + loads_table(tune) + tuned_table(tune) + trials_plot(tune, glyphs);
  for (const std::string& failure : tune.failures) {
    out += "\n" + wrapped("Candidate not simulated: ", failure);
  }
  for (const std::string& note : tune.notes) out += "\n" + wrapped("Note: ", note);
  return out;
}

}  // namespace inferscale
