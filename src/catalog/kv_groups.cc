#include "catalog/kv_groups.h"

#include <algorithm>

namespace inferscale {
namespace {

std::int64_t groups_of(std::int64_t layers, std::int64_t each) {
  return (layers + each - 1) / each;
}

}  // namespace

KvGroups kv_groups(const ModelSpec& model, WindowBlocks windows) {
  const std::int64_t window =
      windows == WindowBlocks::kFreed && model.sliding_window > 0 ? model.sliding_window_layers : 0;
  const std::int64_t full = model.layers - window;
  if (window == 0) return {.layers = model.layers, .full = 1, .window = 0};
  if (full == 0) return {.layers = model.layers, .full = 0, .window = 1};
  const std::int64_t fewer = std::min(full, window);
  const std::int64_t more = std::max(full, window);
  const std::int64_t layers = 4 * more < 5 * fewer ? more : fewer;
  return {.layers = layers, .full = groups_of(full, layers), .window = groups_of(window, layers)};
}

}  // namespace inferscale
