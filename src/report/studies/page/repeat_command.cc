#include "report/studies/page/repeat_command.h"

#include <algorithm>
#include <string_view>

#include "base/number_text.h"
#include "report/studies/explore/explore_rows.h"

namespace inferscale {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kOthers = "_./:=,@%+-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

// One word for a POSIX shell.
std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// "scheduler=fcfs" of "scheduler=\"fcfs\"": as people would write it.
std::string without_quotes(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos) return setting;
  const Json value = Json::parse(setting.substr(equals + 1), nullptr, false);
  if (value.is_discarded()) return setting;
  return setting.substr(0, equals + 1) + setting_value(value);
}

// The file and the options that make a scenario of it: of "chat.yaml --change replicas=2", the
// treatment of a comparison, "chat.yaml --set replicas=2".
std::string scenario_words(const std::string& scenario) {
  constexpr std::string_view kChange = " --change ";
  std::size_t end = scenario.find(kChange);
  std::string out = quoted(scenario.substr(0, end));
  while (end != std::string::npos) {
    const std::size_t begin = end + kChange.size();
    end = scenario.find(kChange, begin);
    out += " --set " + quoted(scenario.substr(begin, end - begin));
  }
  return out;
}

std::string scales_comment(const Json& scales) {
  std::string text;
  for (const auto& [name, factor] : scales.items()) {
    if (!factor.is_number()) continue;
    text += text.empty() ? "  # times of " : ", ";
    text += name + " x " + number_text(factor.get<double>());
  }
  return text;
}

}  // namespace

std::string repeat_command(const StudyRun& run, const std::string& command) {
  std::string line = "inferscale " + command + " " + scenario_words(run.scenario);
  for (const std::string& setting : run.settings)
    line += " --set " + quoted(without_quotes(setting));
  line += " --set seed=" + std::to_string(run.seed);
  return run.scales.is_object() ? line + scales_comment(run.scales) : line;
}

}  // namespace inferscale
