#include "study/agents/memory_budgets.h"

#include <algorithm>
#include <cmath>

#include "base/number_text.h"

namespace inferscale {
namespace {

std::vector<Setting> with_cache_of(double tokens) {
  std::vector<Setting> settings = full_retention();
  settings.push_back(kv_cache_setting(tokens));
  return settings;
}

}  // namespace

SweepPoint unlimited_memory() {
  return {
      .name = "unlimited", .strategy = "retain", .settings = {with_cache_of(kUnlimitedKvTokens)}};
}

double configured_kv_tokens(const PreparedRun& base) {
  TokenCount least = kv_tokens(base.deployment.kinds.front().replica);
  for (const Deployment& kind : base.deployment.kinds) {
    least = std::min(least, kv_tokens(kind.replica));
  }
  return static_cast<double>(least);
}

std::vector<SweepPoint> memory_points(const PreparedRun& base, const std::vector<double>& peaks) {
  const auto block = static_cast<double>(base.config.deployment.engine.kv_block_tokens);
  std::vector<SweepPoint> points;
  for (const double multiple : base.study.agents.memory_budgets) {
    SweepPoint point{
        .name = number_text(multiple) + " x peak", .strategy = "retain", .value = multiple};
    for (const double peak : peaks) {
      const double blocks = std::max(1.0, std::ceil(multiple * peak / block));
      point.cache_tokens.push_back(blocks * block);
      point.settings.push_back(with_cache_of(blocks * block));
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace inferscale
