// The catalogue of models: their shapes, from the config.json that each publisher put on Hugging
// Face. Parameter counts follow from the shapes (docs/catalog.md compares them with the published).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "catalog/model_spec.h"

namespace inferscale {

struct CatalogModel {
  ModelSpec spec;
  std::vector<std::string> aliases;  // Hugging Face ids of models with this shape
};

// In the order of the listing: by family, then by size.
const std::vector<CatalogModel>& catalog_models();

// By name or Hugging Face id, case ignored. The error names the nearest name and lists all.
Result<ModelSpec> find_model(std::string_view name);

}  // namespace inferscale
