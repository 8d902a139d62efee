#include "workload/lengths.h"

#include <algorithm>
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

void LengthSampler::draw_ahead() {
  next_ = drawn_.size() - ahead_;
  for (std::size_t i = next_; i < drawn_.size(); ++i) {
    drawn_[i] = lognormal_ ? draw_lognormal() : draw_empirical();
  }
  ahead_ = std::min(2 * ahead_, drawn_.size());
}

// A draw is at least 0 and may be infinite: cut to `max` it can be cut to an integer, its floor.
std::uint32_t LengthSampler::draw_lognormal() {
  const double rounded = lognormal_->draw(stream_) + 0.5;
  const double cut = std::min(rounded, static_cast<double>(options_.max));
  return std::max(static_cast<std::uint32_t>(cut), options_.min);
}

std::uint32_t LengthSampler::draw_empirical() {
  const auto& values = std::get_if<EmpiricalLength>(&options_.shape)->values;
  return std::clamp(values[index_->draw(stream_)], options_.min, options_.max);
}

}  // namespace inferscale
