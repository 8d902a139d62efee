// How many requests the pool's batches have room for, by the service estimate.

#pragma once

#include "core/pool_view.h"

namespace inferscale {

struct BatchPlaces {
  double in_all = 0;   // of all replicas; infinite where nothing limits a batch
  double step_ns = 0;  // of a decode step when all places are taken; 0 where nothing limits them
};

// A replica's batch has max_num_seqs places, or fewer where its KV cache does not have room for so
// many requests of `mean_tokens`; at least one.
BatchPlaces batch_places(const PoolView& pool, double mean_tokens);

}  // namespace inferscale
