#include "workload/lengths.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace inferscale {

LengthSampler::LengthSampler(LengthOptions options, RandomStream stream)
    : options_(std::move(options)), stream_(stream) {
  CHECK(options_.min >= 1 && options_.min <= options_.max && options_.max <= kMostTokens)
      << "min " << options_.min << ", max " << options_.max;
  if (const auto* constant = std::get_if<ConstantLength>(&options_.shape)) {
    constant_ = std::clamp(constant->tokens, options_.min, options_.max);
  } else if (const auto* lognormal = std::get_if<LognormalLength>(&options_.shape)) {
    lognormal_.emplace(lognormal->mean, lognormal->cv);
  } else if (const auto* empirical = std::get_if<EmpiricalLength>(&options_.shape)) {
    CHECK(empirical->weights.empty() || empirical->weights.size() == empirical->values.size())
        << empirical->weights.size() << " weights for " << empirical->values.size() << " values";
    index_.emplace(empirical->weights.empty() ? std::vector<double>(empirical->values.size(), 1.0)
                                              : empirical->weights);
  }
}

std::uint32_t LengthSampler::draw() {
  if (constant_ != 0) return constant_;
  if (lognormal_) {
    const double drawn = std::floor(lognormal_->draw(stream_) + 0.5);
    const double clamped =
        std::clamp(drawn, static_cast<double>(options_.min), static_cast<double>(options_.max));
    return static_cast<std::uint32_t>(clamped);
  }
  const auto& values = std::get_if<EmpiricalLength>(&options_.shape)->values;
  return std::clamp(values[index_->draw(stream_)], options_.min, options_.max);
}

}  // namespace inferscale
