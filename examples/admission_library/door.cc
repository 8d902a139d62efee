// A gate in somebody else's program: two requests at once, the third is refused until one ends.

#include <cstdio>

#include "admission/gate.h"
#include "admission/registry.h"

int main() {
  using namespace inferscale;
  // The policy's parameters, as a configuration would have them.
  ConfigNode parameters = ConfigNode::map({});
  parameters.put("limit", ConfigNode::scalar("2", false, {}), {});
  ConfigSession session;
  ConfigReader reader(parameters, session);

  GateOptions options;
  options.policy_name = "fixed_concurrency";
  options.policy = find_policy("fixed_concurrency")->read(reader);
  options.on_stale = StaleRule::kOpen;
  const auto gate = AdmissionGate::create(std::move(options));
  if (session.failed() || !gate) return 1;

  Permit permits[4];
  for (std::uint64_t request = 0; request < 4; ++request) {
    const Instant now = Instant::nanos(static_cast<std::int64_t>(request) * 1'000'000);
    if (request == 3) permits[0].finish(120, now);  // 120 tokens were generated
    Presented presented = (*gate)->present({.request = request, .prompt_tokens = 400}, now);
    std::printf("request %d: %s", static_cast<int>(request),
                verdict_name(presented.decision.verdict).data());
    if (presented.kind == Presented::Kind::kAnswered) {
      std::printf(" with status %d (%s)", presented.answer.status,
                  reason_name(presented.decision.reason).data());
    }
    std::printf("\n");
    permits[request] = std::move(presented.permit);
  }
  return 0;
}
