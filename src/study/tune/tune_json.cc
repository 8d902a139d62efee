#include "study/tune/tune_json.h"

#include "base/config_json.h"
#include "study/tune/tune_notes.h"

namespace inferscale {
namespace {

std::string_view verdict_name(TuneVerdict verdict) {
  switch (verdict) {
    case TuneVerdict::kBetter:
      return "better";
    case TuneVerdict::kWorse:
      return "worse";
    case TuneVerdict::kDoesNotMatter:
      return "does_not_matter";
    case TuneVerdict::kIdentical:
      return "identical";
    case TuneVerdict::kDiffers:
      return "differs";
    case TuneVerdict::kTooFew:
      return "too_few";
    case TuneVerdict::kNotComparable:
      break;
  }
  return "not_comparable";
}

JsonValue target(const std::optional<Duration>& limit) {
  return limit ? JsonValue::millis(*limit) : JsonValue();
}

JsonValue interval_json(const std::optional<MeanInterval>& interval) {
  if (!interval) return {};
  return JsonValue::object().add("low", interval->low).add("high", interval->high);
}

// The values of trials, each an object by parameter.
JsonValue values_json(const TuneResult& result, const TuneTrial& trial) {
  JsonValue values = JsonValue::object();
  for (std::size_t i = 0; i < trial.values.size(); ++i) {
    values.add(result.dimensions[i].range.key, trial.values[i]);
  }
  return values;
}

JsonValue trials_json(const TuneResult& result, const std::vector<TuneTrial>& trials) {
  JsonValue list = JsonValue::array();
  for (const TuneTrial& trial : trials) {
    list.append(JsonValue::object()
                    .add("parameters", values_json(result, trial))
                    .add("worst_case", trial.score));
  }
  return list;
}

JsonValue dimensions_json(const TuneResult& result) {
  JsonValue list = JsonValue::array();
  for (const TuneDimension& one : result.dimensions) {
    list.append(JsonValue::object()
                    .add("parameter", one.range.key)
                    .add("min", one.range.min)
                    .add("max", one.range.max)
                    .add("scale", one.range.logarithmic ? "log" : "linear")
                    .add("whole", one.whole));
  }
  return list;
}

JsonValue parameters_json(const TuneSetting& setting) {
  JsonValue parameters = JsonValue::object();
  for (const auto& [key, value] : setting.parameters) {
    parameters.add(key, JsonValue::raw(to_json_text(value)));
  }
  return parameters;
}

JsonValue side_json(const TuneResult& result, const TuneSide& side) {
  JsonValue parameters = JsonValue::array();
  for (const TuneSetting& setting : side.settings) parameters.append(parameters_json(setting));
  JsonValue levels = JsonValue::array();
  for (const TuneLevel& level : side.levels) {
    JsonValue figures = JsonValue::object();
    const auto metrics = tune_figures(result.metric);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      figures.add(std::string(info_of(metrics[i]).name), spread_json(level.figures[i]));
    }
    levels.append(std::move(figures));
  }
  JsonValue json = JsonValue::object()
                       .add("policy", side.name)
                       .add("parameters", std::move(parameters))
                       .add("worst_case", side.worst());
  if (side.worst_at) {
    json.add("worst_at_load_factor", result.loads.loads[*side.worst_at].factor);
  } else {
    json.add("worst_at_load_factor", nullptr);
  }
  return json.add("failure", side.failure.empty() ? JsonValue() : JsonValue(side.failure))
      .add("at_loads", std::move(levels));
}

JsonValue loads_json(const TuneLoads& loads) {
  JsonValue list = JsonValue::array();
  for (const TuneLoad& load : loads.loads) {
    JsonValue settings = JsonValue::object();
    for (const Setting& setting : load.settings) {
      settings.add(setting.key, JsonValue::raw(to_json_text(setting.value)));
    }
    list.append(JsonValue::object()
                    .add("factor", load.factor)
                    .add("load", load.load)
                    .add("settings", std::move(settings)));
  }
  return list;
}

JsonValue controls_json(const TuneResult& result) {
  JsonValue list = JsonValue::array();
  for (const TuneComparison& one : result.controls) {
    list.append(JsonValue::object()
                    .add("verdict", verdict_name(one.verdict))
                    .add("difference", one.difference)
                    .add("interval", interval_json(one.interval))
                    .add("better_seeds", one.better_seeds)
                    .add("search_worst_case", one.search_score)
                    .add("side", side_json(result, one.control)));
  }
  return list;
}

JsonValue texts_json(const std::vector<std::string>& texts) {
  JsonValue list = JsonValue::array();
  for (const std::string& text : texts) list.append(text);
  return list;
}

}  // namespace

JsonValue tune_json(const TuneResult& result) {
  return JsonValue::object()
      .add("kind", "tune")
      .add("simulated", true)
      .add("scenario", result.label)
      .add("policy", result.policy)
      .add("metric", info_of(result.metric).name)
      .add("slo", JsonValue::object()
                      .add("ttft_ms", target(result.slo.ttft))
                      .add("itl_ms", target(result.slo.itl))
                      .add("e2e_ms", target(result.slo.e2e)))
      .add("repeats", result.repeats)
      .add("fresh_repeats", result.options.fresh_repeats)
      .add("seed", result.seed)
      .add("fresh_seed", result.seed + kFreshSeeds)
      .add("confidence", kTuneConfidence)
      .add("capacity", result.loads.capacity)
      .add("capacity_measured", result.loads.measured)
      .add("unit", result.loads.unit)
      .add("loads", loads_json(result.loads))
      .add("searched", dimensions_json(result))
      .add("candidates", result.options.candidates)
      .add("as_good_within", result.options.as_good)
      .add("best", JsonValue::object()
                       .add("parameters", values_json(result, result.best()))
                       .add("worst_case", result.best().score))
      .add("as_good", trials_json(result, as_good_trials(result)))
      .add("tuned", side_json(result, result.tuned))
      .add("tuned_interval", interval_json(result.tuned_interval))
      .add("controls", controls_json(result))
      .add("failures", texts_json(result.failures))
      .add("notes", texts_json(result.notes))
      .add("trials", trials_json(result, result.search.trials));
}

}  // namespace inferscale
