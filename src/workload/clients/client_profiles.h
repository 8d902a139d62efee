// Named clients: what real ones do, as values of the keys of `clients:`.

#pragma once

#include <span>
#include <string_view>

#include "base/config_node.h"

namespace inferscale {

struct ClientProfile {
  std::string_view name;
  std::string_view provenance;  // where its figures are from, for people
};

// All of them, `open_loop` first.
std::span<const ClientProfile> client_profiles();

// Its keys below `clients`. REQUIRES: a name of the table.
ConfigNode client_profile(std::string_view name);

}  // namespace inferscale
