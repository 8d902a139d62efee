// Where a conclusion changes when one scale of the latency model is changed by itself.
//
// From 1 outwards, the points of a scan are looked at in order; the first at which somebody else is
// ahead than at 1 ends a bracket, which is halved (in the logarithm) until it is narrow. So what is
// found is the smallest error of the model, in each direction, that changes the conclusion; whether
// it changes back beyond is in the scan. All brackets are halved together, one batch a round.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "study/comparison/scaled_point.h"

namespace inferscale {

struct ScaleFlip {
  std::size_t metric = 0;  // index in compared_metrics()
  ModelScale scale = ModelScale::kPrefill;
  Winner from = Winner::kUnknown;  // at 1
  Winner to = Winner::kUnknown;    // beyond the flip
  double holds_at = 1;             // the scale nearest to the flip at which it is still as at 1
  double flips_at = 1;             // the scale nearest to 1 at which it is not
};

// A scale by itself, in ascending order, 1 among them.
struct ScaleScan {
  ModelScale scale = ModelScale::kPrefill;
  std::vector<ScaledPoint> points;
};

// Brackets end at this ratio of their ends.
constexpr double kFlipRatio = 1.005;

// What asks for points, all of one round at once.
class PointRunner {
 public:
  virtual ~PointRunner() = default;
  virtual Result<std::vector<ScaledPoint>> run(std::span<const ModelScales> scales) = 0;
};

// Ordered by scale, metric, and direction: below 1 first. Points at which nobody knows who is ahead
// count as no change.
Result<std::vector<ScaleFlip>> find_flips(std::span<const ScaleScan> scans, PointRunner& runner);

}  // namespace inferscale
