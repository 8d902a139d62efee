#include "admission/signal_supply.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

SignalSupply llama_cpp() {
  return {.source = "llama.cpp's metrics page",
          .signals = {Signal::kKvUsedFraction},
          .outcomes = true,
          .workload = "the workload"};
}

TEST(SignalSupply, AMissingSignalIsRefusedByPolicySignalAndSource) {
  const PolicyNeeds needs{.signals = {Signal::kKvUsedFraction, Signal::kPrefixHitRate}};
  const Result<void> checked = check_supply("dual_gate", needs, llama_cpp());
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(
      checked.error().message,
      "policy dual_gate needs the signal prefix_hit_rate, which llama.cpp's metrics page does "
      "not supply");
}

TEST(SignalSupply, TheLedgersSignalsAreAlwaysThere) {
  const PolicyNeeds needs{.signals = {Signal::kInFlight, Signal::kQueueAgeS}};
  EXPECT_TRUE(check_supply("queue_age", needs, llama_cpp()).has_value());
}

TEST(SignalSupply, MissingFieldsOfRequestsAreRefused) {
  PolicyNeeds needs;
  needs.request.deadline = true;
  const Result<void> checked = check_supply("wcrt", needs, llama_cpp());
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().message,
            "policy wcrt needs a deadline for the first token (slo.ttft_ms), which the workload "
            "does not supply");
}

}  // namespace
}  // namespace inferscale
