#include "report/studies/tune/tune_reading.h"

#include "base/number_text.h"
#include "report/studies/comparison_text.h"
#include "report/studies/study_json.h"

namespace inferscale {
namespace {

std::optional<double> mean_of(JsonFields& level, const std::string& key) {
  if (!level.has(key.c_str()) || level.is_null(key.c_str())) return std::nullopt;
  const Json* spread = level.object(key.c_str());
  if (spread == nullptr) return std::nullopt;
  JsonFields fields(*spread, kResultPlace, key + ".");
  const double mean = fields.number("mean");
  level.adopt(fields);
  return mean;
}

std::optional<ReadInterval> read_interval(JsonFields& result, const char* key) {
  if (result.is_null(key)) return std::nullopt;
  const Json* interval = result.object(key);
  if (interval == nullptr) return std::nullopt;
  JsonFields fields(*interval, kResultPlace, std::string(key) + ".");
  const ReadInterval read{fields.number("low"), fields.number("high")};
  result.adopt(fields);
  return read;
}

ReadTrial read_trial(JsonFields& trial, const std::vector<ReadTuneParameter>& parameters) {
  ReadTrial read;
  if (const Json* values = trial.object("parameters"); values != nullptr) {
    JsonFields fields(*values, kResultPlace, "parameters.");
    for (const ReadTuneParameter& one : parameters) {
      read.values.push_back(fields.number(one.name.c_str()));
    }
    trial.adopt(fields);
  }
  read.worst_case = trial.optional_number("worst_case");
  return read;
}

std::vector<ReadTrial> read_trials(JsonFields& result, const char* key, const ReadTune& read) {
  std::vector<ReadTrial> trials;
  each_member(result, key,
              [&](JsonFields& trial) { trials.push_back(read_trial(trial, read.parameters)); });
  return trials;
}

// "limit 12, then defer"; empty where each load has its own.
std::string parameters_words(JsonFields& side) {
  const Json* list = side.list("parameters");
  if (list == nullptr || list->size() != 1 || !list->front().is_object()) return {};
  std::string words;
  for (const auto& [key, value] : list->front().items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    words += (words.empty() ? "" : ", ") + key + " " + text;
  }
  return words;
}

ReadTuneSide read_side(JsonFields& result, const char* key, const std::string& metric) {
  ReadTuneSide read;
  const Json* json = result.object(key);
  if (json == nullptr) return read;
  JsonFields side(*json, kResultPlace, std::string(key) + ".");
  read.policy = side.text("policy");
  read.parameters = parameters_words(side);
  read.worst_case = side.optional_number("worst_case");
  read.worst_at = side.optional_number("worst_at_load_factor");
  if (!side.is_null("failure")) read.failure = side.text("failure");
  const std::string ttft = metric == "goodput" ? "ttft_ms_p95" : "turn_ttft_ms_p95";
  each_member(side, "at_loads", [&](JsonFields& level) {
    read.levels.push_back({.goodput = mean_of(level, metric),
                           .rejected = mean_of(level, "rejected_share"),
                           .deferred = mean_of(level, "deferred_share"),
                           .ttft_ms_p95 = mean_of(level, ttft)});
  });
  result.adopt(side);
  return read;
}

std::vector<std::string> read_texts(JsonFields& result, const char* key) {
  std::vector<std::string> texts;
  const Json* list = result.list(key);
  if (list == nullptr) return texts;
  for (const Json& text : *list) {
    if (!text.is_string()) {
      result.fail(key, "expected texts");
      break;
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

void read_question(JsonFields& result, ReadTune& read) {
  read.scenario = result.text("scenario");
  read.policy = result.text("policy");
  read.metric = result.text("metric");
  read.repeats = result.integer("repeats", 1);
  read.fresh_repeats = result.integer("fresh_repeats", 1);
  read.seed = result.unsigned_integer("seed");
  read.fresh_seed = result.unsigned_integer("fresh_seed");
  read.capacity = result.number("capacity");
  read.capacity_measured = result.boolean("capacity_measured");
  read.unit = result.text("unit");
  read.as_good_within = result.number("as_good_within");
  each_member(result, "loads", [&](JsonFields& load) {
    read.loads.push_back({load.number("factor"), load.number("load")});
  });
  each_member(result, "searched", [&](JsonFields& one) {
    read.parameters.push_back({.name = one.text("parameter"),
                               .min = one.number("min"),
                               .max = one.number("max"),
                               .logarithmic = one.text("scale") == "log"});
  });
}

void read_controls(JsonFields& result, ReadTune& read) {
  each_member(result, "controls", [&](JsonFields& control) {
    ReadTuneControl one;
    one.verdict = control.text("verdict");
    one.difference = control.optional_number("difference");
    one.interval = read_interval(control, "interval");
    one.better_seeds = control.integer("better_seeds");
    one.side = read_side(control, "side", read.metric);
    read.controls.push_back(std::move(one));
  });
}

// Every side has a level for each load.
void check_levels(JsonFields& result, const ReadTune& read) {
  if (read.tuned.levels.size() != read.loads.size())
    result.fail("tuned.at_loads", "expected one for each load");
  for (const ReadTuneControl& control : read.controls) {
    if (control.side.levels.size() == read.loads.size()) continue;
    result.fail("controls", "expected figures for each load");
  }
}

}  // namespace

Result<ReadTune> read_tune(const std::string& result_json) {
  const Result<Json> json = parse_study_result(result_json, "tune");
  if (!json) return std::unexpected(json.error());
  JsonFields result(*json, kResultPlace);
  ReadTune read;
  read_question(result, read);
  if (const Json* best = result.object("best"); best != nullptr) {
    JsonFields fields(*best, kResultPlace, "best.");
    read.best = read_trial(fields, read.parameters);
    result.adopt(fields);
  }
  read.as_good = read_trials(result, "as_good", read);
  read.tuned = read_side(result, "tuned", read.metric);
  read.tuned_interval = read_interval(result, "tuned_interval");
  read_controls(result, read);
  read.failures = read_texts(result, "failures");
  read.notes = read_texts(result, "notes");
  read.trials = read_trials(result, "trials", read);
  check_levels(result, read);
  if (result.failed()) return std::unexpected(result.error());
  return read;
}

}  // namespace inferscale
