#include "sim/sampler.h"

#include <algorithm>
#include <utility>

namespace inferscale {
namespace {

constexpr std::size_t kMostRows = 1'000'000;

}  // namespace

Sampler::Sampler(std::optional<Duration> interval, std::size_t rows_each, TakeRows take)
    : interval_(interval.value_or(Duration())),
      rows_each_(rows_each),
      // Odd, so that thinning keeps the last one.
      most_instants_((kMostRows / std::max<std::size_t>(rows_each, 1)) | 1),
      take_(std::move(take)) {
  if (interval) next_ = Instant();
}

void Sampler::sample() {
  const Instant at = next_;
  take_(at, rows_);
  if (rows_.size() / rows_each_ == most_instants_) thin();
  next_ = at + interval_;
}

void Sampler::thin() {
  const std::size_t kept = (rows_.size() / rows_each_ + 1) / 2;
  for (std::size_t instant = 1; instant < kept; ++instant) {
    const auto from = rows_.begin() + static_cast<std::ptrdiff_t>(2 * instant * rows_each_);
    std::copy_n(from, rows_each_,
                rows_.begin() + static_cast<std::ptrdiff_t>(instant * rows_each_));
  }
  rows_.resize(kept * rows_each_);
  interval_ = interval_ * 2;
  thinned_ = true;
}

}  // namespace inferscale
