#include "report/studies/study_texts.h"

#include <vector>

#include "report/studies/agents/sweep_text.h"
#include "report/studies/capacity/capacity_text.h"
#include "report/studies/comparison/ab_text.h"
#include "report/studies/comparison/sensitivity_text.h"
#include "report/studies/explore/explore_text.h"
#include "report/studies/tune/tune_text.h"
#include "report/studies/validation/validate_text.h"

namespace inferscale {
namespace {

struct KindText {
  std::string_view kind;
  Result<std::string> (*text)(const std::string& result_json, PlotGlyphs glyphs);
};

const std::vector<KindText>& kind_texts() {
  static const std::vector<KindText> kTexts = {
      {"ab", ab_text},
      {"affinity_sweep", sweep_text},
      {"capacity", capacity_text},
      {"explore", explore_text},
      {"host_sweep", sweep_text},
      {"memory_stress", sweep_text},
      {"sensitivity", sensitivity_text},
      {"ttl_sweep", sweep_text},
      {"tune", tune_text},
      {"validate", validate_text},
  };
  return kTexts;
}

}  // namespace

Result<std::string> study_text(std::string_view kind, const std::string& result_json,
                               PlotGlyphs glyphs) {
  std::string known;
  for (const KindText& entry : kind_texts()) {
    if (entry.kind == kind) return entry.text(result_json, glyphs);
    known += (known.empty() ? "" : ", ") + std::string(entry.kind);
  }
  return fail(ErrorCode::kInvalidInput,
              "key 'kind': expected one of " + known + ", got '" + std::string(kind) + "'",
              "result.json");
}

}  // namespace inferscale
