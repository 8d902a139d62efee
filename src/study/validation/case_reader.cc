#include "study/validation/case_reader.h"

#include <map>
#include <optional>
#include <utility>

#include "study/validation/case_mapping.h"
#include "study/validation/described_case.h"
#include "study/validation/measured_figures.h"

namespace inferscale {
namespace {

// What the head of the file says for all cases.
struct Head {
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> repeats;
};

class CaseReader {
 public:
  CaseReader(const CaseInputs& inputs, const ValidateOptions& options, const Head& head,
             ConfigSession& session)
      : inputs_(inputs), options_(options), head_(head), session_(session) {}

  // Errors of a configuration in another file come back; those of the case are the session's.
  Result<ValidationCase> read(ConfigReader& reader);

 private:
  Result<void> own_configuration(ConfigReader& reader, ValidationCase& out);
  DescribedCase described(ConfigReader& reader, ValidationCase& out);
  void measured(ConfigReader& reader, ValidationCase& out, std::string_view tier, bool has_slo);
  void check_batch(const DescribedCase& described, ValidationCase& out) const;
  void apply_head(ConfigNode& config) const;

  const CaseInputs& inputs_;
  const ValidateOptions& options_;
  const Head& head_;
  ConfigSession& session_;
};

// Whether a configuration has a target to judge by.
bool has_target(const ConfigNode* slo) {
  if (slo == nullptr || !slo->is_map()) return false;
  for (const ConfigNode::Entry& entry : slo->entries()) {
    if (entry.key != "itl_rule" && !entry.value.is_null()) return true;
  }
  return false;
}

void CaseReader::apply_head(ConfigNode& config) const {
  const auto add = [&](const char* key, const std::optional<std::int64_t>& value) {
    if (!value || config.find(key) != nullptr) return;
    const SourcePosition at = config.position();
    config.append(key, ConfigNode::scalar(std::to_string(*value), false, at), at);
  };
  add("seed", head_.seed);
  add("repeats", head_.repeats);
}

Result<void> CaseReader::own_configuration(ConfigReader& reader, ValidationCase& out) {
  const ConfigNode* config = reader.raw("config", "map", "the system as a configuration");
  const auto file = reader.optional_text("config_file", "a configuration beside the case file");
  if (config != nullptr && file) {
    reader.fail("config_file", "expected config or config_file");
    return {};
  }
  if (file) {
    Result<ConfigNode> loaded = inputs_.load_config(*file);
    if (!loaded) return std::unexpected(loaded.error());
    out.config = std::move(*loaded);
    out.config_file = *file;
  } else if (config != nullptr && config->is_map()) {
    out.config = *config;
  } else {
    reader.fail("config", "expected a map of keys");
  }
  return {};
}

DescribedCase CaseReader::described(ConfigReader& reader, ValidationCase& out) {
  DescribedCase described = read_described_case(reader);
  out.described = true;
  if (session_.failed()) return described;
  auto mapped = map_described_case(described, options_, inputs_.resolve_model);
  if (!mapped) {
    out.not_simulated = mapped.error();
    return described;
  }
  out.config = std::move(mapped->config);
  out.lengths = mapped->lengths;
  out.assumptions = std::move(mapped->assumptions);
  mapped->load.stated = out.load.stated;
  out.load = mapped->load;
  return described;
}

void CaseReader::check_batch(const DescribedCase& described, ValidationCase& out) const {
  if (out.not_simulated || !out.load.batch) return;
  if (!contradict_one_batch(out.measured, described.output_tokens.value_or(1))) return;
  out.not_simulated = NotSimulated{
      "the figures contradict each other: E2E, and TTFT + (answer tokens - 1) x TPOT", ""};
}

void CaseReader::measured(ConfigReader& reader, ValidationCase& out, std::string_view tier,
                          bool has_slo) {
  if (!reader.has("measured")) {
    reader.fail("measured", "expected the figures that were measured");
    return;
  }
  const ConfigNode* written = reader.raw("measured", "map", "");
  MeasuredFigures figures = read_measured_figures(reader.map("measured", "figures of the real run"),
                                                  *written, tier, has_slo);
  out.measured = std::move(figures.compared);
  out.unscored = std::move(figures.unscored);
  for (const MeasuredFigure& figure : out.measured) {
    if (figure.metric == Metric::kFinishedRps) out.load.measured_rps = figure.value;
  }
  if (!out.measured.empty() || out.not_simulated) return;
  const std::string detail = out.unscored.empty() ? "measured is empty" : out.unscored[0].reason;
  out.not_simulated = NotSimulated{"no figure that can be compared", detail};
}

Result<ValidationCase> CaseReader::read(ConfigReader& reader) {
  ValidationCase out;
  out.at = reader.position();
  out.id = reader.text("id", std::nullopt, "what the case is called, in this file only once");
  out.source = reader.text("source", "", "where the figures come from");
  const std::string regime = reader.choice(
      "regime", {"light", "knee", "overload", "burst", "batch", "found"}, "found",
      "how hard the system was loaded; found: by the rule of docs/commands/validate.md");
  out.load.stated = regime_named(regime);
  if (reader.has("config") || reader.has("config_file")) {
    const Result<void> read = own_configuration(reader, out);
    if (!read) return std::unexpected(read.error());
    for (const char* key : {"tier", "notes", "license"}) reader.raw(key, "any", "left aside");
    measured(reader, out, "", has_target(out.config.find("slo")));
  } else {
    reader.raw("config", "map", "");
    reader.raw("config_file", "text", "");
    const DescribedCase described = this->described(reader, out);
    measured(reader, out, described.tier, described.slo && has_target(&*described.slo));
    check_batch(described, out);
  }
  reader.finish();
  if (!out.not_simulated) apply_head(out.config);
  return out;
}

// The file's own `study`, with what was set from outside on top.
ValidateOptions options_of(ConfigReader& head, const ConfigNode& study, ConfigSession& session) {
  ConfigReader own = head.map("study", "options of this study");
  ValidateOptions options = read_validate_options(own);
  own.finish();
  const ConfigNode* set = study.find("validate");
  if (set == nullptr) return options;
  ConfigNode merged = ConfigNode::map(study.position());
  if (const ConfigNode* written = head.raw("study", "map", "")) {
    if (!merged.set_path("study", *written)) return options;
  }
  for (const ConfigNode::Entry& entry : set->entries()) {
    const Result<void> put = merged.set_path("study.validate." + entry.key, entry.value);
    if (!put) return options;
  }
  ConfigReader whole(merged, session);
  ConfigReader reader = whole.map("study", "options of this study");
  return read_validate_options(reader);
}

Result<void> check_ids(const std::vector<ValidationCase>& cases) {
  std::map<std::string, SourcePosition> seen;
  for (const ValidationCase& each : cases) {
    const auto [before, is_new] = seen.emplace(each.id, each.at);
    if (is_new) continue;
    return fail(ErrorCode::kInvalidInput,
                "id '" + each.id + "': expected another one, it is that of the case at " +
                    before->second.to_string(),
                each.at.to_string());
  }
  return {};
}

}  // namespace

Result<CaseFile> read_cases(const ConfigNode& file, const ConfigNode& study,
                            const CaseInputs& inputs) {
  ConfigSession session;
  ConfigReader head_reader(file, session);
  CaseFile out;
  const Head head{
      .seed = head_reader.optional_integer("seed", {.min = 0, .doc = "of cases that have none"}),
      .repeats = head_reader.optional_integer(
          "repeats", {.min = 1, .max = 1'000'000, .doc = "runs of each case"})};
  out.options = options_of(head_reader, study, session);
  std::vector<ConfigReader> readers = head_reader.list("cases", "what was measured");
  head_reader.finish();
  CaseReader reader(inputs, out.options, head, session);
  for (ConfigReader& each : readers) {
    if (session.failed()) break;
    Result<ValidationCase> read = reader.read(each);
    if (session.failed()) break;
    if (!read) return std::unexpected(read.error());
    out.cases.push_back(std::move(*read));
  }
  if (session.failed()) return std::unexpected(session.error());
  if (out.cases.empty()) {
    return fail(ErrorCode::kInvalidInput, "no cases: expected a list `cases`",
                file.position().source);
  }
  const Result<void> ids = check_ids(out.cases);
  if (!ids) return std::unexpected(ids.error());
  return out;
}

}  // namespace inferscale
