// Models from Hugging Face config.json files: one works wherever a model's name does.

#pragma once

#include <string>

#include "base/result.h"
#include "catalog/model_spec.h"

namespace inferscale {

// `path` is a config.json or a folder that holds one. Of multimodal models the text part is read.
// Errors name file, key, value and what was expected; an architecture that is not known lists those
// that are.
Result<ModelSpec> read_hf_config(const std::string& path);

// The same from text; `source` stands in errors, `name` in reports.
Result<ModelSpec> parse_hf_config(const std::string& text, const std::string& source,
                                  const std::string& name);

// A catalogue name or Hugging Face id, or else a path, relative to `base_folder` unless it is
// absolute (the folder of the configuration that says it).
Result<ModelSpec> resolve_model(const std::string& name_or_path, const std::string& base_folder);

}  // namespace inferscale
