#include "report/studies/page/study_page_data.h"

#include <algorithm>

#include "base/json_writer.h"
#include "report/page.h"
#include "report/studies/agents/sweep_rows.h"
#include "report/studies/page/repeat_command.h"
#include "report/studies/page/text_opening.h"

namespace inferscale {
namespace {

// Enough for a reader, few enough for a page that opens at once.
constexpr std::size_t kMostRuns = 400;
constexpr std::size_t kMostFailedRuns = 100;
constexpr std::size_t kMostItems = 2000;
constexpr std::size_t kLeastItems = 100;
constexpr std::size_t kLongestList = 2'500'000;  // bytes
constexpr std::size_t kLongestPlan = 200'000;    // bytes
constexpr std::size_t kLongestText = 200'000;
constexpr std::size_t kLongestOpening = 20'000;

bool ends_with_frontier(const std::string& key) {
  return key.ends_with("frontier");
}

bool is_marked(const Json& item) {
  if (!item.is_object()) return false;
  return std::any_of(item.items().begin(), item.items().end(), [](const auto& member) {
    return ends_with_frontier(member.key()) && member.value() == true;
  });
}

Json thinned(Json& list, std::size_t most) {
  const auto marked = static_cast<std::size_t>(std::count_if(list.begin(), list.end(), is_marked));
  const std::size_t room = most > marked ? most - marked : 1;
  const std::size_t step = (list.size() - marked + room - 1) / room;
  Json kept = Json::array();
  std::size_t others = 0;
  for (Json& item : list) {
    if (is_marked(item) || others++ % step == 0) kept.push_back(std::move(item));
  }
  return kept;
}

std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// How many items a page bears, from the sizes of some.
std::size_t items_that_fit(const Json& list, std::size_t most) {
  constexpr std::size_t kSampled = 50;
  const std::size_t step = std::max<std::size_t>(1, list.size() / kSampled);
  std::size_t sampled = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < list.size(); i += step) {
    bytes += json_text(list[i]).size();
    ++sampled;
  }
  if (bytes == 0) return most;
  return std::min(most, std::max(kLeastItems, kLongestList * sampled / bytes));
}

void thin(Json& value, const std::string& path, std::size_t most, Json& left_out) {
  const std::size_t fit =
      value.is_array() && value.size() > kLeastItems ? items_that_fit(value, most) : most;
  if (value.is_array() && value.size() > fit) {
    Json kept = thinned(value, fit);
    left_out[path] = {{"shown", kept.size()}, {"count", value.size()}};
    value = std::move(kept);
  }
  for (const auto& [key, member] : value.items()) {
    if (!member.is_structured()) continue;
    thin(member, path.empty() ? key : path + "." + key, most, left_out);
  }
}

JsonValue run_json(const StudyRun& run, const std::string& command) {
  JsonValue figures = JsonValue::array();
  for (const std::optional<double>& figure : run.figures) figures.append(figure);
  return JsonValue::object()
      .add("repeat", repeat_command(run, command))
      .add("figures", std::move(figures))
      .add("failure", run.failure.empty() ? JsonValue() : JsonValue(run.failure));
}

JsonValue runs_json(const StudyFolderContent& study) {
  JsonValue names = JsonValue::array();
  for (const std::string& name : study_page_runs().figures) names.append(name);
  JsonValue rows = JsonValue::array();
  const std::string command = sweep_words(study.kind) != nullptr ? "agents" : "simulate";
  for (const StudyRun& run : study.runs) rows.append(run_json(run, command));
  return JsonValue::object()
      .add("count", study.runs_in_all)
      .add("failed", study.runs_failed)
      .add("figures", std::move(names))
      .add("rows", std::move(rows));
}

// The text, or as many of its lines as a page bears.
std::string shortened(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  const std::size_t end = text.rfind('\n', kLongestText);
  return text.substr(0, end == std::string::npos ? 0 : end + 1) + "(the rest is left out here)\n";
}

JsonValue study_json(const StudyFolderContent& study, const std::string& text) {
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : study.warnings) warnings.append(warning);
  JsonValue opening = JsonValue::array();
  for (const OpeningPart& part : opening_of(std::string_view(text).substr(0, kLongestOpening))) {
    opening.append(JsonValue::object()
                       .add("head", part.head)
                       .add("text", part.text)
                       .add("command", part.command));
  }
  const std::string plan = json_text(study.plan);
  return JsonValue::object()
      .add("kind", study.kind)
      .add("name", study.name)
      .add("inferscale", study.program_version)
      .add("simulated", study.simulated)
      .add("warnings", std::move(warnings))
      .add("opening", std::move(opening))
      .add("text", shortened(text))
      .add("plan", plan.size() <= kLongestPlan ? JsonValue::raw(plan) : JsonValue());
}

}  // namespace

const StudyRunsWanted& study_page_runs() {
  static const StudyRunsWanted kWanted = {.figures = {"offered_rps", "goodput", "goodput_rps",
                                                      "ttft_ms_p95", "itl_ms_p95", "e2e_ms_p95"},
                                          .most_runs = kMostRuns,
                                          .most_failed_runs = kMostFailedRuns};
  return kWanted;
}

Json thin_lists(Json& result, std::size_t most) {
  Json left_out = Json::object();
  thin(result, "", most, left_out);
  return left_out;
}

std::string study_page_json(const StudyFolderContent& study, const std::string& text) {
  Json result = study.result;
  const Json left_out = thin_lists(result, kMostItems);
  const JsonValue page = JsonValue::object()
                             .add("study", study_json(study, text))
                             .add("result", JsonValue::raw(json_text(result)))
                             .add("left_out", JsonValue::raw(json_text(left_out)))
                             .add("runs", runs_json(study));
  return without_less_than(page.text());
}

}  // namespace inferscale
