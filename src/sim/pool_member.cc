#include "sim/pool_member.h"

namespace inferscale {

ReplicaSignals signals_of(const PoolMember& member, const ReplicaLoad& load,
                          const NeededSignals& needed, Instant at) {
  ReplicaSignals signals{.observed_at = at};
  if (needed.queue) {
    signals.queue_depth = load.queue_depth;
    signals.running = load.running;
  }
  if (needed.kv) {
    signals.kv_used_fraction =
        static_cast<double>(load.kv_blocks_held) / static_cast<double>(member.kv_blocks);
  }
  if (needed.tokens) signals.tokens_in_flight = load.tokens_in_flight;
  return signals;
}

}  // namespace inferscale
