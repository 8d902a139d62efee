#include "study/comparison/scale_flips.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace inferscale {
namespace {

bool changes(Winner from, Winner to) {
  return to != from && to != Winner::kUnknown;
}

// The first change on the way from the point `at` in steps of `step`.
std::optional<ScaleFlip> bracket(const ScaleScan& scan, std::size_t metric, std::size_t at,
                                 bool above) {
  const Winner from = scan.points[at].winner(metric);
  if (from == Winner::kUnknown) return std::nullopt;
  ScaleFlip flip{.metric = metric, .scale = scan.scale, .from = from};
  while (above ? at + 1 < scan.points.size() : at > 0) {
    at = above ? at + 1 : at - 1;
    const ScaledPoint& point = scan.points[at];
    flip.flips_at = scale_of(point.scales, scan.scale);
    flip.to = point.winner(metric);
    if (changes(from, flip.to)) return flip;
    if (flip.to != Winner::kUnknown) flip.holds_at = flip.flips_at;
  }
  return std::nullopt;
}

std::size_t unscaled_point(const ScaleScan& scan) {
  std::size_t at = 0;
  while (scale_of(scan.points[at].scales, scan.scale) != 1) ++at;
  return at;
}

bool is_wide(const ScaleFlip& flip) {
  const double ratio = flip.flips_at / flip.holds_at;
  return std::max(ratio, 1 / ratio) > kFlipRatio;
}

}  // namespace

Result<std::vector<ScaleFlip>> find_flips(std::span<const ScaleScan> scans, PointRunner& runner) {
  std::vector<ScaleFlip> flips;
  for (const ScaleScan& scan : scans) {
    const std::size_t one = unscaled_point(scan);
    for (std::size_t metric = 0; metric < kComparedCount; ++metric) {
      for (const bool above : {false, true}) {
        const std::optional<ScaleFlip> flip = bracket(scan, metric, one, above);
        if (flip) flips.push_back(*flip);
      }
    }
  }
  while (true) {
    std::vector<ScaleFlip*> wide;
    std::vector<ModelScales> middles;
    for (ScaleFlip& flip : flips) {
      if (!is_wide(flip)) continue;
      wide.push_back(&flip);
      middles.push_back(only_scale(flip.scale, std::sqrt(flip.holds_at * flip.flips_at)));
    }
    if (wide.empty()) return flips;
    const Result<std::vector<ScaledPoint>> points = runner.run(middles);
    if (!points) return std::unexpected(points.error());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const Winner winner = (*points)[i].winner(wide[i]->metric);
      const double middle = scale_of(middles[i], wide[i]->scale);
      if (changes(wide[i]->from, winner)) {
        wide[i]->to = winner;
        wide[i]->flips_at = middle;
      } else {
        wide[i]->holds_at = middle;
      }
    }
  }
}

}  // namespace inferscale
