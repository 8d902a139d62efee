#include "admission/output_predictor.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/recent_keys.h"

namespace inferscale {
namespace {

// The step's share of the estimate falls as 4 / answers, so that early answers count for much, to
// what keeps following callers whose answers change.
constexpr double kEarlyShare = 4;
constexpr double kLeastShare = 0.02;

TokenCount within_max_tokens(const RequestView& request, TokenCount tokens) {
  const TokenCount at_least_one = std::max<TokenCount>(1, tokens);
  return request.max_tokens > 0 ? std::min(request.max_tokens, at_least_one) : at_least_one;
}

class Nobody final : public OutputPrediction {
 public:
  TokenCount predict(const RequestView& /*request*/) const override { return 0; }
  void learn(const RequestView& /*request*/, TokenCount /*output_tokens*/) override {}
};

class MaxTokens final : public OutputPrediction {
 public:
  explicit MaxTokens(TokenCount otherwise) : otherwise_(otherwise) {}
  TokenCount predict(const RequestView& request) const override {
    return request.max_tokens > 0 ? request.max_tokens : otherwise_;
  }
  void learn(const RequestView& /*request*/, TokenCount /*output_tokens*/) override {}

 private:
  TokenCount otherwise_;
};

class Constant final : public OutputPrediction {
 public:
  explicit Constant(TokenCount tokens) : tokens_(tokens) {}
  TokenCount predict(const RequestView& request) const override {
    return within_max_tokens(request, tokens_);
  }
  void learn(const RequestView& /*request*/, TokenCount /*output_tokens*/) override {}

 private:
  TokenCount tokens_;
};

class Oracle final : public OutputPrediction {
 public:
  explicit Oracle(std::function<TokenCount(const RequestView&)> truth) : truth_(std::move(truth)) {
    CHECK(truth_ != nullptr) << "an oracle without the truth";
  }
  TokenCount predict(const RequestView& request) const override {
    return within_max_tokens(request, truth_(request));
  }
  void learn(const RequestView& /*request*/, TokenCount /*output_tokens*/) override {}

 private:
  std::function<TokenCount(const RequestView&)> truth_;
};

// A quantile for each caller. The caller whose last answer is longest ago is forgotten first.
class CallerQuantile final : public OutputPrediction {
 public:
  CallerQuantile(const PredictorOptions& options, bool by_session)
      : quantile_(options.quantile),
        most_callers_(static_cast<std::size_t>(options.most_callers)),
        by_session_(by_session),
        unseen_(options.constant) {
    CHECK(quantile_ > 0 && quantile_ < 1) << quantile_;
    CHECK(options.most_callers >= 1) << options.most_callers;
  }

  TokenCount predict(const RequestView& request) const override {
    const RecentKeys::Place place = callers_.find(caller_of(request));
    if (place == RecentKeys::kNone) return unseen_.predict(request);
    return within_max_tokens(request, std::llround(estimates_[place].tokens));
  }

  void learn(const RequestView& request, TokenCount output_tokens) override {
    const CallerKey caller = caller_of(request);
    if (caller == kNoCaller) return;
    const double tokens = static_cast<double>(std::max<TokenCount>(0, output_tokens)) /
                          static_cast<double>(std::max<std::uint32_t>(1, request.sequences));
    RecentKeys::Place place = callers_.find(caller);
    if (place == RecentKeys::kNone) {
      add(caller, std::max(1.0, tokens));
      return;
    }
    callers_.touch(place);
    Estimate& estimate = estimates_[place];
    estimate.answers += 1;
    const double share = std::clamp(kEarlyShare / estimate.answers, kLeastShare, 1.0);
    estimate.tokens *= 1 + share * (tokens > estimate.tokens ? quantile_ : quantile_ - 1);
    estimate.tokens = std::max(1.0, estimate.tokens);
  }

 private:
  struct Estimate {
    double tokens = 0;
    double answers = 0;
  };

  CallerKey caller_of(const RequestView& request) const {
    return by_session_ ? request.session : request.tenant;
  }

  void add(CallerKey caller, double tokens) {
    if (callers_.size() >= most_callers_) callers_.erase(callers_.oldest());
    const RecentKeys::Place place = callers_.add(caller, 0);
    if (estimates_.size() <= place) estimates_.resize(place + 1);
    estimates_[place] = {.tokens = tokens, .answers = 1};
  }

  double quantile_;
  std::size_t most_callers_;
  bool by_session_;
  MaxTokens unseen_;
  RecentKeys callers_;
  std::vector<Estimate> estimates_;  // by place
};

}  // namespace

std::unique_ptr<OutputPrediction> make_predictor(const PredictorOptions& options) {
  switch (options.kind) {
    case OutputPredictor::kNone:
      return std::make_unique<Nobody>();
    case OutputPredictor::kMaxTokens:
      return std::make_unique<MaxTokens>(options.constant);
    case OutputPredictor::kConstant:
      return std::make_unique<Constant>(options.constant);
    case OutputPredictor::kTenantQuantile:
      return std::make_unique<CallerQuantile>(options, false);
    case OutputPredictor::kSessionQuantile:
      return std::make_unique<CallerQuantile>(options, true);
    case OutputPredictor::kOracle:
      return std::make_unique<Oracle>(options.truth);
  }
  return std::make_unique<Nobody>();
}

}  // namespace inferscale
