#include "study/explore/unlike_candidates.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/config_json.h"

namespace inferscale {
namespace {

struct Section {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array<Section, 3> kSections = {
    {{"workload",
      "loads are compared, not only designs, and the best may be no better than what was asked of "
      "it."},
     {"slo",
      "the goodput of each is judged by its own targets, and more goodput may be no more than a "
      "looser target."},
     {"measurement", "figures are of different parts of the runs."}}};

std::string value_of(const Candidate& candidate, const std::string& key,
                     const std::string& as_configured) {
  std::string value = as_configured;
  for (const Setting& setting : candidate.settings) {
    if (setting.key == key) value = to_json_text(setting.value);
  }
  return value;
}

bool differ(const CandidateList& list, const std::string& key, const std::string& as_configured) {
  const std::string first = value_of(list.candidates.front(), key, as_configured);
  return std::ranges::any_of(list.candidates, [&](const Candidate& candidate) {
    return value_of(candidate, key, as_configured) != first;
  });
}

// Targets of classes are targets too.
std::string section_of(const std::string& key) {
  std::string section = key.substr(0, key.find('.'));
  return section == "slo_classes" ? "slo" : section;
}

}  // namespace

std::vector<UnlikeSection> unlike_sections(const CandidateList& list,
                                           const std::vector<std::string>& as_configured) {
  std::vector<UnlikeSection> unlike;
  if (list.candidates.empty()) return unlike;
  for (const Section& section : kSections) {
    std::string keys;
    for (std::size_t i = 0; i < list.keys.size(); ++i) {
      const std::string& key = list.keys[i];
      if (section_of(key) != section.name) continue;
      if (differ(list, key, as_configured[i])) keys += (keys.empty() ? "" : ", ") + key;
    }
    if (keys.empty()) continue;
    unlike.push_back({std::string(section.name),
                      "Candidates differ in " + keys + ": " + std::string(section.meaning)});
  }
  return unlike;
}

}  // namespace inferscale
