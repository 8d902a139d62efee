#include "catalog/name_lookup.h"

#include <optional>

#include "base/nearest_word.h"

namespace inferscale {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::unexpected<Error> unknown_name(std::string_view kind, std::string_view name,
                                    const std::vector<std::string>& known,
                                    const std::vector<std::string>& aliases,
                                    std::string_view hint) {
  const std::string wanted = lower_case(name);
  std::optional<std::string> near = nearest_word(wanted, known);
  if (!near) {
    std::vector<std::string> lowered;
    for (const std::string& alias : aliases) lowered.push_back(lower_case(alias));
    near = nearest_word(wanted, lowered);
  }
  std::string listed;
  for (const std::string& one : known) listed += (listed.empty() ? "" : ", ") + one;
  const std::string shown = ConfigNode::scalar(std::string(name), false, {}).describe();
  return fail(ErrorCode::kNotFound, "unknown " + std::string(kind) + " " + shown + ": " +
                                        (near ? "did you mean '" + *near + "'? " : "") +
                                        std::string(hint) + "; known: " + listed);
}

}  // namespace inferscale
