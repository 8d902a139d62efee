// Quantiles against those of the distribution that the answers are drawn from.

#include "admission/output_predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/distributions.h"

namespace inferscale {
namespace {

RequestView request_of(CallerKey tenant, TokenCount max_tokens = 0, CallerKey session = 0) {
  RequestView request;
  request.tenant = tenant;
  request.session = session;
  request.max_tokens = max_tokens;
  return request;
}

TEST(OutputPredictor, MaxTokensIsWhatTheCallerAskedForOrElseTheConstant) {
  const auto predictor = make_predictor({.kind = OutputPredictor::kMaxTokens, .constant = 300});
  EXPECT_EQ(predictor->predict(request_of(1, 4096)), 4096);
  EXPECT_EQ(predictor->predict(request_of(1)), 300);
}

TEST(OutputPredictor, NoPredictionExceedsMaxTokens) {
  const auto constant = make_predictor({.kind = OutputPredictor::kConstant, .constant = 300});
  EXPECT_EQ(constant->predict(request_of(1, 16)), 16);
  EXPECT_EQ(constant->predict(request_of(1, 4096)), 300);

  const auto learned = make_predictor({.kind = OutputPredictor::kTenantQuantile});
  learned->learn(request_of(1), 1000);
  EXPECT_EQ(learned->predict(request_of(1, 16)), 16);
  EXPECT_EQ(learned->predict(request_of(1, 4096)), 1000);
}

TEST(OutputPredictor, NobodyPredictsZeroAndTheOracleTheTruth) {
  EXPECT_EQ(make_predictor({.kind = OutputPredictor::kNone})->predict(request_of(1, 9)), 0);
  const auto oracle =
      make_predictor({.kind = OutputPredictor::kOracle,
                      .truth = [](const RequestView& request) { return request.max_tokens - 5; }});
  EXPECT_EQ(oracle->predict(request_of(1, 100)), 95);
}

TEST(OutputPredictor, ACallerWithoutAnswersIsTakenAtItsMaxTokens) {
  const auto predictor =
      make_predictor({.kind = OutputPredictor::kTenantQuantile, .constant = 300});
  predictor->learn(request_of(1), 50);
  predictor->learn(request_of(kNoCaller), 50);
  EXPECT_EQ(predictor->predict(request_of(2, 4096)), 4096);
  EXPECT_EQ(predictor->predict(request_of(2)), 300);
  EXPECT_EQ(predictor->predict(request_of(kNoCaller, 4096)), 4096);
}

TEST(OutputPredictor, SessionsAndTenantsAreLearnedApart) {
  const auto by_session = make_predictor({.kind = OutputPredictor::kSessionQuantile});
  by_session->learn(request_of(1, 0, 7), 50);
  by_session->learn(request_of(1, 0, 8), 900);
  EXPECT_EQ(by_session->predict(request_of(1, 0, 7)), 50);
  EXPECT_EQ(by_session->predict(request_of(1, 0, 8)), 900);
}

TEST(OutputPredictor, AnAnswerOfSeveralSequencesCountsEachOfThem) {
  const auto predictor = make_predictor({.kind = OutputPredictor::kTenantQuantile});
  RequestView request = request_of(1);
  request.sequences = 4;
  predictor->learn(request, 400);
  EXPECT_EQ(predictor->predict(request), 100);
}

// Lognormal answers of mean 256 and cv 0.8: sigma^2 = log(1 + 0.64), mu = log(256) - sigma^2 / 2.
// z are the standard normal's quantiles.
struct Case {
  double quantile;
  double z;
};

class Quantile : public testing::TestWithParam<Case> {};

TEST_P(Quantile, IsWithinAQuarterAfter200AnswersAndWithin10PercentOnAverage) {
  const double sigma = std::sqrt(std::log(1.64));
  const double truth = std::exp(std::log(256.0) - sigma * sigma / 2 + GetParam().z * sigma);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    RandomStream random(seed, "answers");
    Lognormal lengths(256, 0.8);
    const auto predictor =
        make_predictor({.kind = OutputPredictor::kTenantQuantile, .quantile = GetParam().quantile});
    const RequestView request = request_of(1);
    double sum = 0;
    int far = 0;
    constexpr int kAnswers = 5000;
    constexpr int kEarly = 200;
    for (int i = 0; i < kAnswers; ++i) {
      predictor->learn(request, std::max<TokenCount>(1, std::llround(lengths.draw(random))));
      if (i < kEarly) continue;
      const auto estimate = static_cast<double>(predictor->predict(request));
      if (std::abs(estimate - truth) > 0.25 * truth) ++far;
      sum += estimate;
    }
    EXPECT_LT(far, 0.02 * kAnswers) << seed;
    EXPECT_NEAR(sum / (kAnswers - kEarly), truth, 0.1 * truth) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(OutputPredictor, Quantile,
                         testing::Values(Case{0.5, 0.0}, Case{0.9, 1.2815515655446004},
                                         Case{0.95, 1.6448536269514722}));

TEST(OutputPredictor, FollowsACallerWhoseAnswersChange) {
  const auto predictor =
      make_predictor({.kind = OutputPredictor::kTenantQuantile, .quantile = 0.5});
  RandomStream random(42, "answers");
  for (int i = 0; i < 2000; ++i) {
    predictor->learn(request_of(1), 90 + static_cast<TokenCount>(random.below(21)));
  }
  EXPECT_NEAR(static_cast<double>(predictor->predict(request_of(1))), 100, 10);
  for (int i = 0; i < 400; ++i) {
    predictor->learn(request_of(1), 900 + static_cast<TokenCount>(random.below(201)));
  }
  EXPECT_NEAR(static_cast<double>(predictor->predict(request_of(1))), 1000, 100);
}

TEST(OutputPredictor, TheCallerWhoseLastAnswerIsLongestAgoIsForgotten) {
  const auto predictor =
      make_predictor({.kind = OutputPredictor::kTenantQuantile, .constant = 7, .most_callers = 2});
  predictor->learn(request_of(1), 100);
  predictor->learn(request_of(2), 200);
  predictor->learn(request_of(1), 100);
  predictor->learn(request_of(3), 300);
  EXPECT_EQ(predictor->predict(request_of(1)), 90);  // a second answer that is no longer
  EXPECT_EQ(predictor->predict(request_of(2)), 7);
  EXPECT_EQ(predictor->predict(request_of(3)), 300);
}

}  // namespace
}  // namespace inferscale
