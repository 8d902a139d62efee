// What published measurements call things that the catalogue and the schema have under other names.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inferscale {

// The catalogue's name where the source's differs; otherwise the name as it is.
std::string catalogue_model_name(const std::string& source_name);
std::string catalogue_accelerator_name(const std::string& source_name);

// The scheduler that stands for an engine ("vllm 0.15.1"); nothing for engines that are not
// modelled.
std::optional<std::string_view> scheduler_of_engine(std::string_view engine);

// deployment.precision.weights for a source's word for it; nothing when there is none.
std::optional<std::string_view> weights_of_precision(std::string_view precision);

}  // namespace inferscale
