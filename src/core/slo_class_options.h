// The `slo_classes` part of a configuration.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/config_reader.h"
#include "core/slo_class.h"

namespace inferscale {

// In the order in which they are written; none where the key is {}. A class that states no share
// has an even part of what the others leave.
std::vector<SloClass> read_slo_classes(ConfigReader& root);

// The index of the class of this name.
std::optional<std::uint8_t> find_slo_class(const std::vector<SloClass>& classes,
                                           std::string_view name);
// "interactive, batch"
std::string names_of(const std::vector<SloClass>& classes);

}  // namespace inferscale
