#include "study/tune/tune_notes.h"

#include <algorithm>

#include "base/number_text.h"

namespace inferscale {
namespace {

bool turned_away_nobody(const TuneSide& side) {
  return std::ranges::all_of(side.levels, [](const TuneLevel& level) {
    return level.figures[1].value_or(Spread()).max == 0 &&
           level.figures[2].value_or(Spread()).max == 0;
  });
}

void note_ends(const TuneResult& result, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < result.dimensions.size(); ++i) {
    const TuneRange& range = result.dimensions[i].range;
    const double value = result.best().values[i];
    if (value != range.min && value != range.max) continue;
    notes.push_back("The best " + range.key + ", " + number_text(value) +
                    ", is an end of its range: beyond it there may be better ones "
                    "(study.tune.parameters).");
  }
}

}  // namespace

std::vector<TuneTrial> as_good_trials(const TuneResult& result) {
  std::vector<TuneTrial> good;
  for (const TuneTrial& trial : result.search.trials) {
    const bool close = trial.score && *trial.score >= *result.best().score - result.options.as_good;
    if (close) good.push_back(trial);
  }
  std::ranges::sort(good, {}, &TuneTrial::values);
  return good;
}

std::vector<std::string> tune_notes(const TuneResult& result) {
  std::vector<std::string> notes;
  note_ends(result, notes);
  const auto tried = std::ranges::count_if(
      result.search.trials, [](const TuneTrial& trial) { return trial.score.has_value(); });
  if (tried > 1 && std::ssize(as_good_trials(result)) == tried) {
    notes.push_back("What it is set to does not matter here: all " + std::to_string(tried) +
                    " candidates are within " + number_text(result.options.as_good) +
                    " of the best one.");
  }
  if (turned_away_nobody(result.tuned)) {
    notes.emplace_back(
        "As it was set, the policy turned nobody away at any of these loads: it is the same as no "
        "policy here, and equal_volume_shed too.");
  }
  if (result.tuned.alike) {
    notes.emplace_back(
        "All seeds give the same run: nothing in it is drawn, so differences are exact, of this "
        "one workload, and the fresh seeds are not fresh.");
  }
  return notes;
}

}  // namespace inferscale
