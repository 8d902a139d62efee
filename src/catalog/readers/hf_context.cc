#include "catalog/readers/hf_context.h"

#include <cmath>

namespace inferscale {

std::int64_t read_max_context(HfFields& config, bool context_is_final) {
  const std::int64_t positions = config.integer("max_position_embeddings", 1);
  // Newer files say rope_parameters.
  const std::string key = config.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  std::optional<HfFields> scaling = config.object(key);
  if (!scaling || context_is_final) return positions;
  const std::string old_kind = scaling->text("type", "default");
  const std::string kind = scaling->text("rope_type", old_kind);
  const std::int64_t original = scaling->integer("original_max_position_embeddings", 1, positions);
  const std::optional<double> factor = scaling->number("factor");
  double context = static_cast<double>(positions);
  if (kind == "yarn" || kind == "linear" || kind == "dynamic") {
    if (!factor || !(*factor >= 1.0) || !(*factor <= 1e6)) {
      scaling->fail("factor", "a number from 1 to 1000000 for rope scaling of type " + kind);
    } else {
      context = *factor * static_cast<double>(kind == "yarn" ? original : positions);
    }
  } else if (kind != "default" && kind != "llama3" && kind != "longrope" && kind != "su" &&
             kind != "mrope") {
    scaling->fail(scaling->has("rope_type") ? "rope_type" : "type",
                  "one of default, linear, dynamic, yarn, llama3, longrope, su, mrope");
  }
  config.join(*scaling);
  return static_cast<std::int64_t>(std::floor(context));
}

}  // namespace inferscale
