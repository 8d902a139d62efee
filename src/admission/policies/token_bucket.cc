#include "admission/policies/token_bucket.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "admission/policies/recent_callers.h"

namespace inferscale {
namespace {

// Levels are in billionths: a rate in units a second is then billionths a nanosecond, and levels
// of buckets up to 9,000,000 that are refilled at whole numbers are exact.
constexpr double kBillion = 1e9;

struct Bucket {
  double level = 0;
  Instant filled_at;
};

class TokenBucket final : public AdmissionPolicy {
 public:
  explicit TokenBucket(const TokenBucketOptions& options)
      : options_(options),
        callers_(options.most_callers),
        needs_{.request = needs_of(options.per)} {
    needs_.request.predicted_output = options.cost == BucketCost::kTokens;
  }

  const PolicyNeeds& needs() const override { return needs_; }

  Decision decide(const RequestView& request, const PoolView& pool) override {
    const double cost = cost_of(request) * kBillion;
    const Bucket& bucket = bucket_of(request, pool.now());
    if (cost <= bucket.level) return Decision::admit();
    if (!options_.defers || cost > full()) return Decision::reject(Reason::kRateLimit);
    const double wait_ns = std::ceil((cost - bucket.level) / options_.refill_per_s);
    return Decision::defer(
        Reason::kRateLimit,
        Duration::nanos(static_cast<std::int64_t>(std::min(wait_ns, kLongestWaitNs))));
  }

  void on_admit(const RequestView& request, Instant now) override {
    Bucket& bucket = bucket_of(request, now);
    bucket.level = std::max(0.0, bucket.level - cost_of(request) * kBillion);
  }

 private:
  static constexpr double kLongestWaitNs = 1e18;

  double full() const { return options_.capacity * kBillion; }

  double cost_of(const RequestView& request) const {
    switch (options_.cost) {
      case BucketCost::kRequest:
        return 1;
      case BucketCost::kPromptTokens:
        return static_cast<double>(request.prompt_tokens);
      case BucketCost::kTokens:
        return static_cast<double>(request.tokens());
    }
    return 1;
  }

  // Filled up to now.
  Bucket& bucket_of(const RequestView& request, Instant now) {
    const RecentCallers::Seat seat = callers_.see(caller_in(options_.per, request));
    if (seat.place == by_place_.size()) by_place_.emplace_back();
    Bucket& bucket = by_place_[seat.place];
    if (seat.is_new) bucket.level = full();
    const auto passed = static_cast<double>((now - bucket.filled_at).ns());
    if (!seat.is_new) {
      bucket.level = std::min(full(), bucket.level + passed * options_.refill_per_s);
    }
    bucket.filled_at = now;
    return bucket;
  }

  TokenBucketOptions options_;
  RecentCallers callers_;
  std::vector<Bucket> by_place_;
  PolicyNeeds needs_;
};

BucketCost read_cost(ConfigReader& parameters) {
  const std::string chosen = parameters.choice(
      "cost", {"request", "prompt_tokens", "tokens"}, "prompt_tokens",
      "what an admission takes: one, its prompt's tokens, or these and the predicted output's");
  if (chosen == "request") return BucketCost::kRequest;
  return chosen == "tokens" ? BucketCost::kTokens : BucketCost::kPromptTokens;
}

}  // namespace

const PolicyCard& token_bucket_card() {
  static constexpr std::array<ParameterNote, 6> kParameters = {{
      {"capacity", "field", "the token bucket of BLIS"},
      {"refill_per_s", "field", "the token bucket of BLIS"},
      {"cost", "field", "the token bucket of BLIS"},
      {"per", "default", "one bucket for the pool"},
      {"most_callers", "default", "bounds the memory"},
      {"then", "default", "reject, as most doors do"},
  }};
  static constexpr PolicyCard kCard = {
      .name = "token_bucket",
      .summary = "admits what its caller's bucket holds: bursts of `capacity`, then refill_per_s",
      .slo_awareness = "none",
      .signal_structure = "none",
      .parameters = kParameters,
  };
  return kCard;
}

PolicyFactory read_token_bucket(ConfigReader& parameters) {
  TokenBucketOptions options;
  options.capacity =
      parameters.number("capacity", {.fallback = options.capacity,
                                     .min = 0,
                                     .max = 1e15,
                                     .above_min = true,
                                     .unit = "requests or tokens",
                                     .doc = "that a full bucket holds: the greatest burst"});
  options.refill_per_s =
      parameters.number("refill_per_s", {.fallback = options.refill_per_s,
                                         .min = 0,
                                         .max = 1e15,
                                         .above_min = true,
                                         .unit = "1/s",
                                         .doc = "requests or tokens that flow into a bucket"});
  options.cost = read_cost(parameters);
  options.per = read_limit_scope(parameters, options.per, "admissions");
  options.most_callers = read_most_callers(parameters);
  options.defers = read_defers(parameters);
  return [options](const PolicySetting&) { return std::make_unique<TokenBucket>(options); };
}

}  // namespace inferscale
