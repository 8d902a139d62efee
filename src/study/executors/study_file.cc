#include "study/executors/study_file.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/check.h"
#include "base/edge/input_file.h"

namespace inferscale {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

struct Difference {
  std::string key;
  std::string there;
  std::string asked;
};

std::string shown(const Json* value) {
  constexpr std::size_t kLongest = 60;
  if (value == nullptr) return "nothing";
  const std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

// The first place, in the order of `asked`, where the two are not the same.
std::optional<Difference> first_difference(const std::string& key, const Json& there,
                                           const Json& asked) {
  if (there.is_object() && asked.is_object()) {
    for (const auto& [name, value] : asked.items()) {
      const Json* other = member(there, name);
      const std::string path = key.empty() ? name : key + "." + name;
      if (other == nullptr) return Difference{path, shown(other), shown(&value)};
      if (auto difference = first_difference(path, *other, value)) return difference;
    }
    for (const auto& [name, value] : there.items()) {
      if (!asked.contains(name)) return Difference{key + "." + name, shown(&value), shown(nullptr)};
    }
    return std::nullopt;
  }
  if (there.is_array() && asked.is_array()) {
    for (std::size_t i = 0; i < std::max(there.size(), asked.size()); ++i) {
      const std::string path = key + "[" + std::to_string(i) + "]";
      if (i >= there.size()) return Difference{path, shown(nullptr), shown(&asked[i])};
      if (i >= asked.size()) return Difference{path, shown(&there[i]), shown(nullptr)};
      if (auto difference = first_difference(path, there[i], asked[i])) return difference;
    }
    return std::nullopt;
  }
  if (there == asked) return std::nullopt;
  return Difference{key, shown(&there), shown(&asked)};
}

JsonValue study_json(const StudyManifest& manifest) {
  JsonValue warnings = JsonValue::array();
  for (const std::string& warning : manifest.warnings) warnings.append(warning);
  return JsonValue::object()
      .add("schema", kStudySchema)
      .add("version", kStudySchemaVersion)
      .add("simulated", true)
      .add("inferscale", manifest.version)
      .add("kind", manifest.kind)
      .add("name", manifest.name)
      .add("plan", manifest.plan)
      .add("warnings", std::move(warnings));
}

}  // namespace

std::string study_file_text(const StudyManifest& manifest) {
  return study_json(manifest).indented_text();
}

Result<std::string> read_same_study(const std::string& path, const std::string& folder,
                                    const StudyManifest& manifest) {
  Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return text;
  const Json there = Json::parse(*text, nullptr, false);
  const Json* schema = there.is_object() ? member(there, "schema") : nullptr;
  if (schema == nullptr || *schema != kStudySchema) {
    return fail(
        ErrorCode::kInvalidInput,
        "damaged, or not a study's: expected \"schema\": \"" + std::string(kStudySchema) + "\"",
        path);
  }
  const Json asked = Json::parse(study_file_text(manifest), nullptr, false);
  CHECK(!asked.is_discarded()) << "a plan that is not JSON";
  for (const char* key : {"version", "kind", "inferscale", "plan"}) {
    const Json* value = member(there, key);
    const auto difference =
        value == nullptr ? std::optional(Difference{key, shown(value), shown(member(asked, key))})
                         : first_difference(key, *value, *member(asked, key));
    if (!difference) continue;
    return fail(ErrorCode::kInvalidConfig,
                "holds another study: " + difference->key + " is " + difference->there +
                    " there and " + difference->asked + " here: expected another folder",
                folder);
  }
  return text;
}

}  // namespace inferscale
