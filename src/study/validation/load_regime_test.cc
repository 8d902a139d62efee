#include "study/validation/load_regime.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

const ValidateOptions kOptions;

LoadEvidence stream(double offered, double capacity) {
  LoadEvidence evidence;
  evidence.offered_rps = offered;
  evidence.capacity_rps = capacity;
  return evidence;
}

TEST(LoadRegime, LoadFactorsAreCutAtTheOptions) {
  EXPECT_EQ(find_regime(stream(6.9, 10), kOptions).regime, Regime::kLight);
  EXPECT_EQ(find_regime(stream(7, 10), kOptions).regime, Regime::kKnee);
  EXPECT_EQ(find_regime(stream(9.9, 10), kOptions).regime, Regime::kKnee);
  const RegimeFinding over = find_regime(stream(10, 10), kOptions);
  EXPECT_EQ(over.regime, Regime::kOverload);
  EXPECT_EQ(over.basis, RegimeBasis::kPredicted);
  EXPECT_EQ(over.load_factor, 1);
}

// 100 requests at 10 a second and 5 s of service take 15 s when nobody waits: 6.67 a second.
TEST(LoadRegime, AShortRunThatKeptUpIsNotTakenForOverload) {
  LoadEvidence evidence = stream(10, 100);
  evidence.requests = 100;
  evidence.service_s = 5;
  evidence.measured_rps = 6.5;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kLight);
  evidence.measured_rps = 5.9;  // below 0.9 x 6.67
  const RegimeFinding behind = find_regime(evidence, kOptions);
  EXPECT_EQ(behind.regime, Regime::kOverload);
  EXPECT_EQ(behind.basis, RegimeBasis::kMeasured);
  EXPECT_EQ(behind.load_factor, 0.1);  // what the model thought of it
}

TEST(LoadRegime, AnEngineThatKeptUpIsNotOverloadedBecauseTheModelIsSlow) {
  LoadEvidence evidence = stream(20, 15);
  evidence.measured_rps = 18;
  const RegimeFinding found = find_regime(evidence, kOptions);
  EXPECT_EQ(found.regime, Regime::kKnee);
  EXPECT_EQ(found.basis, RegimeBasis::kMeasured);
  evidence.measured_rps = 17.9;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kOverload);
}

TEST(LoadRegime, WhatTheCaseSaysStandsAboveAll) {
  LoadEvidence evidence = stream(20, 10);
  evidence.stated = Regime::kKnee;
  const RegimeFinding found = find_regime(evidence, kOptions);
  EXPECT_EQ(found.regime, Regime::kKnee);
  EXPECT_EQ(found.basis, RegimeBasis::kStated);
}

TEST(LoadRegime, RequestsThatWereThereAtTheStartHaveNoLoadFactor) {
  LoadEvidence evidence;
  evidence.batch = true;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kBatch);
  evidence.batch = false;
  evidence.burst = true;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kBurst);
  EXPECT_FALSE(find_regime(evidence, kOptions).load_factor);
}

TEST(LoadRegime, WithoutEvidenceItIsUndetermined) {
  LoadEvidence evidence;
  evidence.offered_rps = 5;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kUndetermined);
  evidence.saturated = 0;
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kUndetermined);
  evidence.saturated = 1;  // a trace that the simulated deployment cannot follow
  EXPECT_EQ(find_regime(evidence, kOptions).regime, Regime::kOverload);
}

TEST(LoadRegime, NamesReadBack) {
  for (std::size_t i = 0; i < kRegimeCount; ++i) {
    const Regime regime = static_cast<Regime>(i);
    EXPECT_EQ(regime_named(regime_name(regime)), regime);
  }
  EXPECT_FALSE(regime_named("found"));
}

}  // namespace
}  // namespace inferscale
