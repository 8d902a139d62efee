#include "core/slo_class_options.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "core/slo_options.h"

namespace inferscale {
namespace {

constexpr double kShareError = 1e-9;
constexpr double kDigits = 1e9;  // that sums are told to
constexpr std::int64_t kMostPriority = 1'000'000;

using Shares = std::vector<std::optional<double>>;

// "interactive 0.3, batch 0.6"
std::string written_shares(const std::vector<SloClass>& classes, const Shares& shares) {
  std::string text;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!shares[i]) continue;
    text += (text.empty() ? "" : ", ") + classes[i].name + " " + number_text(*shares[i]);
  }
  return text;
}

// Gives those without a share an even part of what the others leave.
void fill_shares(const ConfigReader& root, const Shares& shares, std::vector<SloClass>& classes,
                 ConfigReader& all) {
  double sum = 0;
  std::size_t open = 0;
  for (const std::optional<double>& share : shares) {
    sum += share.value_or(0);
    if (!share) ++open;
  }
  const bool wrong =
      open == 0 ? std::abs(sum - 1) > kShareError : sum > 1 + kShareError || 1 - sum < kShareError;
  if (wrong && !root.is_describing()) {
    all.fail("", "shares sum to " + number_text(std::round(sum * kDigits) / kDigits) + " (" +
                     written_shares(classes, shares) + "): expected a sum of 1" +
                     (open == 0 ? "" : ", or less where a class is to have the rest"));
    return;
  }
  const double rest = open == 0 ? 0 : (1 - sum) / static_cast<double>(open);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i].share = shares[i].value_or(rest);
}

bool is_name(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

SloClass read_class(ConfigReader& reader, const std::string& name, Shares& shares) {
  SloClass one{.name = name, .slo = read_slo(reader)};
  one.priority = static_cast<std::int32_t>(reader.integer(
      "priority", {.fallback = 0,
                   .min = -kMostPriority,
                   .max = kMostPriority,
                   .doc = "of its requests, where the workload gives none; higher is better"}));
  shares.push_back(reader.optional_number(
      "share", {.min = 0,
                .max = 1,
                .unit = "share",
                .doc = "of the requests, or of the sessions; null: an even part of the rest"}));
  reader.finish();
  return one;
}

}  // namespace

std::vector<SloClass> read_slo_classes(ConfigReader& root) {
  const ConfigNode* written = root.raw(
      "slo_classes", "map of class to its targets",
      "classes of service, in place of slo: name: {slo: {ttft_ms, itl_ms, e2e_ms, itl_rule}, "
      "priority: 0, share: null}; requests, or sessions, are of a class by its share",
      "{}");
  if (written == nullptr || written->is_null()) return {};
  if (!written->is_map()) {
    root.fail("slo_classes", "expected a map of names to classes");
    return {};
  }
  if (written->entries().size() > kMostSloClasses) {
    root.fail("", "slo_classes: " + std::to_string(written->entries().size()) +
                      " classes: expected at most " + std::to_string(kMostSloClasses));
    return {};
  }
  ConfigReader all = root.map("slo_classes", "");
  std::vector<SloClass> classes;
  Shares shares;
  for (const ConfigNode::Entry& entry : written->entries()) {
    if (!is_name(entry.key)) {
      all.fail("", "expected names without control characters");
      return {};
    }
    ConfigReader reader = all.map(entry.key, "a class of service");
    classes.push_back(read_class(reader, entry.key, shares));
  }
  if (!classes.empty()) fill_shares(root, shares, classes, all);
  return classes;
}

std::optional<std::uint8_t> find_slo_class(const std::vector<SloClass>& classes,
                                           std::string_view name) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].name == name) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

std::string names_of(const std::vector<SloClass>& classes) {
  std::string names;
  for (const SloClass& each : classes) names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

}  // namespace inferscale
