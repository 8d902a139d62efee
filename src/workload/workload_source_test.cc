// The columns of generated workloads: the tenants and sessions that their requests have.

#include "workload/workload_source.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

GeneratedOptions chat() {
  return {.requests = 500,
          .arrivals = PoissonArrivals{.rate_rps = 10},
          .prompt_tokens = {LognormalLength{512, 0.7}},
          .output_tokens = {LognormalLength{256, 0.8}}};
}

TEST(GeneratedColumns, AreThoseOfTheRequests) {
  GeneratedOptions options = chat();
  options.prefixes = {.tenants = 3, .system_prompt_tokens = {ConstantLength{20}}};
  options.conversations =
      ConversationOptions{.turns = {ConstantLength{4}, 1, kMostTurns}, .think_time = {.mean_s = 1}};
  const GeneratedColumns columns = generated_columns(options, 7, 300);
  ASSERT_EQ(columns.tenant.size(), 300U);
  ASSERT_EQ(columns.session.size(), 300U);
  const auto source = make_request_source({.generated = options}, nullptr, 7);
  Request request;
  std::uint32_t last_session = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(source->next(request));
    EXPECT_EQ(columns.tenant[i], request.tenant);
    EXPECT_EQ(columns.session[i], request.session);
    last_session = std::max(last_session, request.session);
  }
  const CarriedColumns carried = columns.carried();
  EXPECT_EQ(carried.tenant_names.size(), 3U);
  EXPECT_EQ(carried.tenant_names[2], "tenant_2");
  EXPECT_EQ(carried.session_names.size(), last_session + 1U);
  EXPECT_EQ(carried.session_names[last_session], "session_" + std::to_string(last_session));
}

TEST(GeneratedColumns, AreEmptyWhereRequestsAreNobodys) {
  const GeneratedColumns columns = generated_columns(chat(), 7, 300);
  EXPECT_TRUE(columns.tenant.empty());
  EXPECT_TRUE(columns.session.empty());
}

}  // namespace
}  // namespace inferscale
