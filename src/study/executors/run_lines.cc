#include "study/executors/run_lines.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "study/metric.h"

namespace inferscale {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kHex = 16;
constexpr const char* kScaleNames[] = {"prefill", "decode", "transfer"};
constexpr std::array<double, 3> kNoScales{1, 1, 1};

std::string hex_text(std::uint64_t value) {
  std::array<char, kHex> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + kHex, value, kHex).ptr;
  const auto length = static_cast<std::size_t>(end - digits.data());
  return std::string(kHex - length, '0') + std::string(digits.data(), length);
}

std::optional<std::uint64_t> parse_hex(const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, kHex);
  if (text.size() != kHex || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

// Reads the parts of one line; the first error is kept.
class LineParts {
 public:
  LineParts(const Json& line, std::string where) : line_(line), where_(std::move(where)) {}

  const Json* member(const char* key, Json::value_t type, const char* expected) {
    const auto found = line_.find(key);
    if (found != line_.end() && found->type() == type) return &*found;
    wrong(key, expected);
    return nullptr;
  }
  std::string text(const char* key) {
    const Json* value = member(key, Json::value_t::string, "text");
    return value == nullptr ? std::string() : value->get<std::string>();
  }
  bool has(const char* key) const { return line_.contains(key); }
  void wrong(const std::string& key, const std::string& expected) {
    if (error_) return;
    error_ = Error{ErrorCode::kInvalidInput, "key '" + key + "': expected " + expected, where_};
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Json& line_;
  std::string where_;
  std::optional<Error> error_;
};

RunKey read_key(LineParts& parts) {
  RunKey key;
  key.scenario = parts.text("scenario");
  const std::optional<std::uint64_t> fingerprint = parse_hex(parts.text("fingerprint"));
  if (!fingerprint) parts.wrong("fingerprint", "16 hexadecimal digits");
  key.fingerprint = fingerprint.value_or(0);
  const Json* seed = parts.member("seed", Json::value_t::number_unsigned, "a whole number");
  if (seed != nullptr) key.seed = seed->get<std::uint64_t>();
  const Json* settings = parts.member("settings", Json::value_t::array, "a list of texts");
  if (settings != nullptr) {
    for (const Json& setting : *settings) {
      if (!setting.is_string()) {
        parts.wrong("settings", "a list of texts");
        break;
      }
      key.settings.push_back(setting.get<std::string>());
    }
  }
  if (!parts.has("scales")) return key;
  const Json* scales = parts.member("scales", Json::value_t::object, "a map");
  for (std::size_t i = 0; scales != nullptr && i < key.scales.size(); ++i) {
    const auto scale = scales->find(kScaleNames[i]);
    if (scale == scales->end() || !scale->is_number()) {
      parts.wrong(std::string("scales.") + kScaleNames[i], "a number");
    } else {
      key.scales[i] = scale->get<double>();
    }
  }
  return key;
}

RunResult read_record(LineParts& parts) {
  RunResult record;
  const Json* figures = parts.member("figures", Json::value_t::object, "a map");
  if (figures != nullptr) {
    for (const auto& [name, value] : figures->items()) {
      const std::optional<Metric> metric = metric_named(name);
      if (metric && value.is_number()) {
        record.figures.set(*metric, value.get<double>());
      } else {
        parts.wrong("figures." + name, metric ? "a number" : "the name of a figure");
      }
    }
  }
  if (parts.has("failure")) {
    record.failure = parts.text("failure");
    if (record.failure.empty()) parts.wrong("failure", "a reason");
  }
  return record;
}

}  // namespace

RunResult settled(RunResult record) {
  for (const MetricInfo& info : all_metrics()) {
    const std::optional<double> value = record.figures[info.metric];
    if (!value) continue;
    record.figures.set(
        info.metric, std::isfinite(*value) ? std::optional(*value + 0.0) : std::optional<double>());
  }
  record.failure = valid_utf8(record.failure);
  return record;
}

std::string run_line(const RunKey& key, const RunResult& record) {
  std::string out = R"({"scenario":)";
  append_json_string(out, key.scenario);
  out += R"(,"fingerprint":")" + hex_text(key.fingerprint) + R"(","seed":)";
  append_json_integer(out, key.seed);
  out += R"(,"settings":[)";
  for (std::size_t i = 0; i < key.settings.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, key.settings[i]);
  }
  out += ']';
  if (key.scales != kNoScales) {
    for (std::size_t i = 0; i < key.scales.size(); ++i) {
      out += std::string(i == 0 ? R"(,"scales":{")" : R"(,")") + kScaleNames[i] + R"(":)";
      append_json_number(out, key.scales[i]);
    }
    out += '}';
  }
  out += R"(,"figures":{)";
  bool first = true;
  for (const MetricInfo& info : all_metrics()) {
    const std::optional<double> value = record.figures[info.metric];
    if (!value) continue;
    out += first ? "\"" : ",\"";
    first = false;
    out.append(info.name).append("\":");
    append_json_number(out, *value);
  }
  out += '}';
  if (!record.failure.empty()) {
    out += R"(,"failure":)";
    append_json_string(out, record.failure);
  }
  return out += "}\n";
}

Result<KeptRun> parse_run_line(const std::string& line, const std::string& path,
                               std::int64_t number) {
  const std::string where = path + ":" + std::to_string(number);
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return fail(ErrorCode::kInvalidInput,
                "damaged: expected the JSON object of a run (without this line the run is made "
                "again)",
                where);
  }
  LineParts parts(json, where);
  KeptRun run;
  run.key = read_key(parts);
  run.record = read_record(parts);
  if (parts.error()) return std::unexpected(*parts.error());
  return run;
}

}  // namespace inferscale
