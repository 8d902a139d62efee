#include "plugin/plugin_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/nearest_word.h"
#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::size_t kMostName = 64;
constexpr std::size_t kMostEntries = 64;  // signals, parameters

std::unexpected<Error> refuse(const std::string& path, std::string message) {
  return fail(ErrorCode::kInvalidInput, "plug-in: " + std::move(message), path);
}

bool is_policy_name(std::string_view name) {
  const auto is_taken = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= kMostName &&
         std::all_of(name.begin(), name.end(), is_taken);
}

constexpr std::array<std::string_view, 4> kKinds = {"a number", "a whole number", "true or false",
                                                    "text"};

// Whether its fallback, where it has one, is of its kind.
bool is_fallback(const inferscale_parameter& parameter) {
  if (parameter.fallback == nullptr) return true;
  const std::string_view text = parameter.fallback;
  switch (parameter.kind) {
    case INFERSCALE_NUMBER:
      return parse_finite(text).has_value();
    case INFERSCALE_INTEGER:
      return parse_whole(text).has_value();
    case INFERSCALE_BOOLEAN:
      return text == "true" || text == "false";
    default:
      return !text.empty();
  }
}

Result<void> read_signals(PluginTable& checked) {
  const inferscale_policy& policy = checked.policy;
  if (policy.signal_count > kMostEntries || (policy.signal_count > 0 && !policy.signals)) {
    return refuse(checked.path, "signal_count is " + std::to_string(policy.signal_count) +
                                    ": expected at most 64, and a list of so many names");
  }
  for (std::size_t i = 0; i < policy.signal_count; ++i) {
    const std::string name = policy.signals[i] != nullptr ? policy.signals[i] : "";
    const std::optional<Signal> signal = signal_of(name);
    if (!signal) {
      std::vector<std::string> names;
      for (const SignalSpec& spec : all_signals()) names.emplace_back(spec.name);
      const auto near = nearest_word(name, names);
      return refuse(checked.path, "needs the signal '" + name + "': there is none of this name" +
                                      (near ? " (did you mean '" + *near + "'?)" : ""));
    }
    checked.signals.push_back(*signal);
    checked.needs.signals.add(*signal);
  }
  return {};
}

Result<void> read_parameters(PluginTable& checked) {
  const inferscale_policy& policy = checked.policy;
  if (policy.parameter_count > kMostEntries || (policy.parameter_count > 0 && !policy.parameters)) {
    return refuse(checked.path, "parameter_count is " + std::to_string(policy.parameter_count) +
                                    ": expected at most 64, and a list of so many");
  }
  for (std::size_t i = 0; i < policy.parameter_count; ++i) {
    const inferscale_parameter& parameter = policy.parameters[i];
    if (parameter.key == nullptr || !is_policy_name(parameter.key)) {
      return refuse(checked.path, "parameter " + std::to_string(i) +
                                      ": expected a key of a to z, 0 to 9, '_' and '.'");
    }
    if (parameter.kind < INFERSCALE_NUMBER || parameter.kind > INFERSCALE_TEXT) {
      return refuse(checked.path, "parameter " + std::string(parameter.key) + ": kind " +
                                      std::to_string(parameter.kind) + ": expected 0 to 3");
    }
    if (!is_fallback(parameter)) {
      return refuse(checked.path,
                    "parameter " + std::string(parameter.key) + ": fallback '" +
                        parameter.fallback + "': expected " +
                        std::string(kKinds[static_cast<std::size_t>(parameter.kind)]));
    }
    checked.notes.push_back(
        {.key = parameter.key,
         .provenance = parameter.provenance != nullptr ? parameter.provenance : "default",
         .note = "the plug-in's"});
  }
  return {};
}

void read_needs(PluginTable& checked) {
  const auto has = [&](std::uint32_t bit) { return (checked.policy.needs & bit) != 0; };
  PolicyNeeds& needs = checked.needs;
  needs.request.tenant = has(INFERSCALE_NEEDS_TENANT);
  needs.request.session = has(INFERSCALE_NEEDS_SESSION);
  needs.request.deadline = has(INFERSCALE_NEEDS_DEADLINE);
  needs.request.itl_target = has(INFERSCALE_NEEDS_ITL_TARGET);
  needs.request.predicted_output = has(INFERSCALE_NEEDS_PREDICTED_OUTPUT);
  needs.service_model = has(INFERSCALE_NEEDS_SERVICE_MODEL);
  needs.outcomes = has(INFERSCALE_NEEDS_OUTCOMES);
}

}  // namespace

Result<PluginTable> check_plugin_table(const inferscale_policy* table, const std::string& path) {
  if (table == nullptr) {
    return refuse(path, INFERSCALE_POLICY_PLUGIN_SYMBOL "() returned no table");
  }
  if (table->abi_version != INFERSCALE_POLICY_ABI_VERSION) {
    return refuse(path, "has version " + std::to_string(table->abi_version) +
                            " of the interface: expected " +
                            std::to_string(INFERSCALE_POLICY_ABI_VERSION));
  }
  constexpr std::size_t kLeast = offsetof(inferscale_policy, decide) + sizeof(table->decide);
  if (table->size < kLeast) {
    return refuse(path, "its table has " + std::to_string(table->size) +
                            " bytes: expected at least " + std::to_string(kLeast));
  }
  PluginTable checked;
  checked.path = path;
  std::memset(&checked.policy, 0, sizeof(checked.policy));
  std::memcpy(&checked.policy, table, std::min<std::size_t>(table->size, sizeof(checked.policy)));
  const inferscale_policy& policy = checked.policy;
  if (policy.name == nullptr || !is_policy_name(policy.name)) {
    return refuse(path, "expected a name of 1 to 64 of a to z, 0 to 9, '_' and '.'");
  }
  if (!policy.create || !policy.destroy || !policy.decide) {
    return refuse(path, "expected the functions create, destroy and decide");
  }
  if (policy.on_tick && policy.tick_interval_ns <= 0) {
    return refuse(path, "tick_interval_ns is " + std::to_string(policy.tick_interval_ns) +
                            ": expected more than 0 with on_tick");
  }
  if (const Result<void> read = read_signals(checked); !read) {
    return std::unexpected(read.error());
  }
  if (const Result<void> read = read_parameters(checked); !read) {
    return std::unexpected(read.error());
  }
  read_needs(checked);
  return checked;
}

}  // namespace inferscale
