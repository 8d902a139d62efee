// Requests from an arrival process and two length distributions, in constant memory.
//
// Each part draws from a stream of its own ("arrivals", "prompt_tokens", "output_tokens"), so that
// changing one distribution leaves the other draws as they were. The caller's limit (max_tokens) is
// the answer's length. With tenants (tenant_prompts.h) a system prompt comes before the prompt.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/time.h"
#include "workload/arrivals.h"
#include "workload/delays.h"
#include "workload/lengths.h"
#include "workload/request_source.h"
#include "workload/tenant_prompts.h"

namespace inferscale {

// conversation_source.h says what they mean.
struct ConversationOptions {
  LengthOptions turns;
  DelayOptions think_time;
  Duration answer_base = Duration::nanos(1'000'000'000);
  Duration answer_per_token = Duration::nanos(20'000'000);
  std::uint32_t max_context_tokens = 131'072;
};

inline constexpr std::uint32_t kMostTurns = 10'000;
inline constexpr std::uint32_t kSmallestContext = 16;

struct GeneratedOptions {
  std::uint64_t requests = 10'000;  // at most kMostRequests
  ArrivalOptions arrivals;
  LengthOptions prompt_tokens;
  LengthOptions output_tokens;
  std::optional<PrefixOptions> prefixes;
  std::optional<ConversationOptions> conversations;  // then prompt_tokens are a turn's new ones
};

inline constexpr std::uint64_t kMostRequests = 1'000'000'000;

// Single requests.
class GeneratedSource final : public RequestSource {
 public:
  // REQUIRES: no options.conversations.
  GeneratedSource(const GeneratedOptions& options, std::uint64_t run_seed);
  bool next(Request& request) override;
  std::uint64_t size() const override { return requests_; }

 private:
  std::uint64_t requests_;
  std::uint64_t made_ = 0;
  std::unique_ptr<ArrivalProcess> arrivals_;
  LengthSampler prompt_tokens_;
  LengthSampler output_tokens_;
  std::optional<TenantPrompts> tenants_;
};

}  // namespace inferscale
