// Finding a catalogue entry by name or alias, with an error that helps.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config_reader.h"
#include "base/result.h"

namespace inferscale {

// ASCII letters in lower case; the rest as it is.
std::string lower_case(std::string_view text);

// "unknown KIND 'NAME': did you mean 'x'? HINT; known: a, b, c".
std::unexpected<Error> unknown_name(std::string_view kind, std::string_view name,
                                    const std::vector<std::string>& known,
                                    const std::vector<std::string>& aliases, std::string_view hint);

// `entries` hold a `spec` with a `name`, and `aliases`. Case is ignored.
template <typename Spec, typename Entry>
Result<Spec> find_by_name(const std::vector<Entry>& entries, std::string_view name,
                          std::string_view kind, std::string_view hint) {
  const std::string wanted = lower_case(name);
  std::vector<std::string> names;
  std::vector<std::string> aliases;
  for (const Entry& entry : entries) {
    if (lower_case(entry.spec.name) == wanted) return entry.spec;
    names.push_back(entry.spec.name);
    for (const std::string& alias : entry.aliases) {
      if (lower_case(alias) == wanted) return entry.spec;
      aliases.push_back(alias);
    }
  }
  return unknown_name(kind, name, names, aliases, hint);
}

}  // namespace inferscale
