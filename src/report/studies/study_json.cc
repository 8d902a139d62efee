#include "report/studies/study_json.h"

namespace inferscale {

Result<Json> parse_study_result(const std::string& result_json, const std::string& kind) {
  const JsonPlace place{"result.json"};
  Result<Json> result = parse_json_object(result_json, place);
  if (!result) return result;
  JsonFields fields(*result, place);
  const std::string found = fields.text("kind");
  if (fields.failed()) return std::unexpected(fields.error());
  if (found != kind) {
    return fail(ErrorCode::kInvalidInput, "kind '" + found + "': expected '" + kind + "'",
                place.to_string());
  }
  return result;
}

}  // namespace inferscale
