#include "study/validation/validate_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/config_json.h"

namespace inferscale {
namespace {

constexpr std::size_t kWorst = 10;

// How often each text occurs: the most frequent first, then by the alphabet.
class Tally {
 public:
  void add(const std::string& what) { ++counts_[what]; }
  std::vector<std::pair<std::string, std::int64_t>> sorted() const {
    std::vector<std::pair<std::string, std::int64_t>> all(counts_.begin(), counts_.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return all;
  }
  JsonValue json(const char* what, const char* count) const {
    JsonValue list = JsonValue::array();
    for (const auto& [text, number] : sorted()) {
      list.append(JsonValue::object().add(what, text).add(count, number));
    }
    return list;
  }

 private:
  std::map<std::string, std::int64_t> counts_;
};

const DeploymentConfig& deployment_of(const ComparedCase& each,
                                      const std::vector<Scenario>& scenarios) {
  return scenarios[each.scenario].base().config.deployment;
}

JsonValue options_json(const ValidateOptions& options) {
  return JsonValue::object()
      .add("prompt_cv", options.prompt_cv)
      .add("output_cv", options.output_cv)
      .add("knee_from", options.knee_from)
      .add("overload_from", options.overload_from)
      .add("served_below", options.served_below);
}

// What the cases of each regime are: no figure of a regime can be read without it.
JsonValue regimes_json(const ValidateResult& result, std::span<const ValidationCase> cases,
                       const std::vector<Scenario>& scenarios) {
  JsonValue list = JsonValue::array();
  for (std::size_t i = 0; i < kRegimeCount; ++i) {
    const Regime regime = static_cast<Regime>(i);
    std::int64_t count = 0;
    Tally hardware;
    Tally models;
    Tally lengths;
    Tally basis;
    for (const ComparedCase& each : result.compared) {
      if (each.regime.regime != regime) continue;
      ++count;
      hardware.add(deployment_of(each, scenarios).hardware.name);
      models.add(deployment_of(each, scenarios).model.name);
      lengths.add(std::string(length_knowledge_name(cases[each.index].lengths)));
      basis.add(std::string(regime_basis_name(each.regime.basis)));
    }
    if (count == 0) continue;
    list.append(JsonValue::object()
                    .add("regime", regime_name(regime))
                    .add("cases", count)
                    .add("hardware", hardware.json("name", "cases"))
                    .add("models", models.json("name", "cases"))
                    .add("lengths", lengths.json("known", "cases"))
                    .add("basis", basis.json("by", "cases")));
  }
  return list;
}

JsonValue errors_json(const ValidateResult& result) {
  JsonValue list = JsonValue::array();
  for (const ErrorGroup& group : result.errors) {
    const auto named = [](const std::string& name) {
      return name.empty() ? JsonValue() : JsonValue(name);
    };
    list.append(JsonValue::object()
                    .add("by", errors_by_name(group.by))
                    .add("hardware", named(group.hardware))
                    .add("model", named(group.model))
                    .add("regime", regime_name(group.regime))
                    .add("metric", info_of(group.metric).name)
                    .add("n", group.errors.n)
                    .add("mape", group.errors.mape)
                    .add("median_ape", group.errors.median_ape)
                    .add("max_ape", group.errors.max_ape)
                    .add("bias", group.errors.bias)
                    .add("within_25_percent", group.errors.within_quarter));
  }
  return list;
}

JsonValue figure_json(const ComparedFigure& figure) {
  JsonValue json = JsonValue::object()
                       .add("metric", info_of(figure.metric).name)
                       .add("measured", figure.measured)
                       .add("predicted", figure.predicted);
  if (figure.predicted_sd) json.add("predicted_sd", *figure.predicted_sd);
  json.add("residual",
           figure.predicted ? JsonValue(*figure.predicted - figure.measured) : JsonValue());
  json.add("relative_error", figure.relative_error);
  return json;
}

// Of each case the figure that is farthest off: those of one case mostly have one cause.
JsonValue worst_json(const ValidateResult& result, std::span<const ValidationCase> cases) {
  struct Entry {
    const ComparedCase* of;
    const ComparedFigure* figure;
    double ape() const { return std::max(*figure->relative_error, -*figure->relative_error); }
  };
  std::vector<Entry> all;
  for (const ComparedCase& each : result.compared) {
    std::optional<Entry> worst;
    for (const ComparedFigure& figure : each.figures) {
      const Entry entry{&each, &figure};
      if (figure.relative_error && (!worst || entry.ape() > worst->ape())) worst = entry;
    }
    if (worst) all.push_back(*worst);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Entry& a, const Entry& b) { return a.ape() > b.ape(); });
  JsonValue list = JsonValue::array();
  for (std::size_t i = 0; i < std::min(all.size(), kWorst); ++i) {
    list.append(JsonValue::object()
                    .add("id", cases[all[i].of->index].id)
                    .add("regime", regime_name(all[i].of->regime.regime))
                    .add("metric", info_of(all[i].figure->metric).name)
                    .add("measured", all[i].figure->measured)
                    .add("predicted", all[i].figure->predicted)
                    .add("relative_error", all[i].figure->relative_error));
  }
  return list;
}

JsonValue unscored_json(const ValidationCase& each) {
  JsonValue list = JsonValue::array();
  for (const UnscoredFigure& figure : each.unscored) {
    list.append(JsonValue::object().add("figure", figure.figure).add("reason", figure.reason));
  }
  return list;
}

JsonValue cases_json(const ValidateResult& result, std::span<const ValidationCase> cases,
                     const std::vector<Scenario>& scenarios) {
  JsonValue list = JsonValue::array();
  for (const ComparedCase& each : result.compared) {
    const ValidationCase& of = cases[each.index];
    const DeploymentConfig& deployment = deployment_of(each, scenarios);
    JsonValue assumptions = JsonValue::array();
    for (const std::string& assumption : of.assumptions) assumptions.append(assumption);
    JsonValue figures = JsonValue::array();
    for (const ComparedFigure& figure : each.figures) figures.append(figure_json(figure));
    list.append(JsonValue::object()
                    .add("id", of.id)
                    .add("source", of.source)
                    .add("hardware", deployment.hardware.name)
                    .add("model", deployment.model.name)
                    .add("accelerators", scenarios[each.scenario].base().deployment.accelerators())
                    .add("regime", regime_name(each.regime.regime))
                    .add("regime_by", regime_basis_name(each.regime.basis))
                    .add("load_factor", each.regime.load_factor)
                    .add("lengths", length_knowledge_name(of.lengths))
                    .add("assumptions", std::move(assumptions))
                    .add("repeats", each.repeats)
                    .add("refused", each.refused)
                    .add("figures", std::move(figures))
                    .add("unscored", unscored_json(of)));
  }
  return list;
}

JsonValue reasons_json(const ValidateResult& result) {
  Tally reasons;
  std::map<std::string, Tally> details;
  for (const ListedCase& each : result.not_simulated) {
    reasons.add(each.why.reason);
    if (!each.why.detail.empty()) details[each.why.reason].add(each.why.detail);
  }
  JsonValue list = JsonValue::array();
  for (const auto& [reason, count] : reasons.sorted()) {
    list.append(JsonValue::object()
                    .add("reason", reason)
                    .add("cases", count)
                    .add("details", details[reason].json("detail", "cases")));
  }
  return list;
}

JsonValue not_simulated_json(const ValidateResult& result, std::span<const ValidationCase> cases) {
  JsonValue list = JsonValue::array();
  for (const ListedCase& each : result.not_simulated) {
    list.append(JsonValue::object()
                    .add("id", cases[each.index].id)
                    .add("reason", each.why.reason)
                    .add("detail", each.why.detail));
  }
  return list;
}

// Of the compared cases: figures that were left out, and what was assumed.
JsonValue unscored_reasons_json(const ValidateResult& result,
                                std::span<const ValidationCase> cases) {
  Tally reasons;
  std::map<std::string, Tally> names;
  const auto add = [&](const std::string& reason, const std::string& figure) {
    reasons.add(reason);
    names[reason].add(figure);
  };
  for (const ComparedCase& each : result.compared) {
    for (const UnscoredFigure& figure : cases[each.index].unscored) {
      add(figure.reason, figure.figure);
    }
    for (const ComparedFigure& figure : each.figures) {
      const std::string name(info_of(figure.metric).name);
      if (!figure.predicted) add("the simulated run has no such figure", name);
      if (figure.predicted && !figure.relative_error) {
        add("measured as 0: there is no relative error", name);
      }
    }
  }
  JsonValue list = JsonValue::array();
  for (const auto& [reason, count] : reasons.sorted()) {
    list.append(JsonValue::object()
                    .add("reason", reason)
                    .add("figures", count)
                    .add("details", names[reason].json("detail", "cases")));
  }
  return list;
}

JsonValue assumptions_json(const ValidateResult& result, std::span<const ValidationCase> cases) {
  Tally assumptions;
  for (const ComparedCase& each : result.compared) {
    for (const std::string& assumption : cases[each.index].assumptions) {
      assumptions.add(assumption);
    }
  }
  return assumptions.json("assumption", "cases");
}

}  // namespace

JsonValue validate_json(const ValidateResult& result, std::span<const ValidationCase> cases,
                        const std::vector<Scenario>& scenarios, const ValidateOptions& options) {
  return JsonValue::object()
      .add("kind", "validate")
      .add("simulated", true)
      .add("options", options_json(options))
      .add("cases_read", cases.size())
      .add("cases_compared", result.compared.size())
      .add("cases_not_simulated", result.not_simulated.size())
      .add("regimes", regimes_json(result, cases, scenarios))
      .add("errors", errors_json(result))
      .add("worst", worst_json(result, cases))
      .add("not_simulated_reasons", reasons_json(result))
      .add("unscored_reasons", unscored_reasons_json(result, cases))
      .add("assumptions", assumptions_json(result, cases))
      .add("cases", cases_json(result, cases, scenarios))
      .add("not_simulated", not_simulated_json(result, cases));
}

JsonValue validate_plan(std::span<const ValidationCase> cases,
                        const std::vector<Scenario>& scenarios,
                        std::span<const std::optional<std::size_t>> scenario_of_case,
                        const ValidateOptions& options) {
  JsonValue list = JsonValue::array();
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const ValidationCase& each = cases[index];
    JsonValue json = JsonValue::object().add("id", each.id);
    if (each.not_simulated) {
      json.add("not_simulated", each.not_simulated->reason)
          .add("detail", each.not_simulated->detail);
      list.append(std::move(json));
      continue;
    }
    const Scenario& scenario = scenarios[*scenario_of_case[index]];
    JsonValue measured = JsonValue::object();
    for (const MeasuredFigure& figure : each.measured) {
      measured.add(std::string(info_of(figure.metric).name), figure.value);
    }
    json.add("config", JsonValue::raw(to_json_text(each.config)))
        .add("fingerprint", fingerprint_text(scenario.fingerprint()))
        .add("seed", scenario.base().config.seed)
        .add("repeats", scenario.base().study.repeats.value_or(1))
        .add("regime", each.load.stated ? JsonValue(regime_name(*each.load.stated)) : JsonValue())
        .add("measured", std::move(measured));
    list.append(std::move(json));
  }
  return JsonValue::object().add("options", options_json(options)).add("cases", std::move(list));
}

}  // namespace inferscale
