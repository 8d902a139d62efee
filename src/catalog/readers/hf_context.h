// The longest context of a model by its config.json: max_position_embeddings and rope scaling.
//
//   linear, dynamic          x factor
//   yarn                     original_max_position_embeddings (where given) x factor
//   llama3, longrope, su,    max_position_embeddings says the extended length already
//   default, mrope

#pragma once

#include "catalog/readers/hf_fields.h"

namespace inferscale {

// `context_is_final`: this architecture writes the extended length whatever the kind of scaling.
std::int64_t read_max_context(HfFields& config, bool context_is_final);

}  // namespace inferscale
