#include "workload/delays.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace inferscale {

DelaySampler::DelaySampler(const DelayOptions& options, RandomStream stream)
    : options_(options), stream_(stream) {
  CHECK(options.mean_s >= 0) << "mean " << options.mean_s;
  CHECK(Duration() <= options.min && options.min <= options.max &&
        options.max.ns() <= DelayOptions::kLongest)
      << "min " << options.min.ns() << " ns, max " << options.max.ns() << " ns";
  if (options.shape == DelayShape::kLognormal) lognormal_.emplace(options.mean_s, options.cv);
}

Duration DelaySampler::draw() {
  double seconds = options_.mean_s;
  if (lognormal_) seconds = lognormal_->draw(stream_);
  if (options_.shape == DelayShape::kExponential) seconds *= draw_exponential(stream_);
  // Clamped before it becomes a whole number, which an enormous draw would not fit.
  const double nanos =
      std::min(std::floor(seconds * 1e9 + 0.5), static_cast<double>(DelayOptions::kLongest));
  return std::clamp(Duration::nanos(static_cast<std::int64_t>(nanos)), options_.min, options_.max);
}

}  // namespace inferscale
