#include "workload/clients/client_profiles.h"

#include <string>
#include <vector>

#include "base/check.h"

namespace inferscale {
namespace {

constexpr ClientProfile kProfiles[] = {
    {"open_loop", "clients that never come back, of whom nothing is recorded"},
    {"gives_up", "a model: one attempt, recorded as a request"},
    {"immediate_retry", "a model: once again, at once"},
    {"retry_after", "a model: comes exactly when it is told to"},
    {"retry_after_jitter", "a model: comes between once and twice the time that it is told"},
    {"backoff", "a model: exponential back-off with full jitter and a budget of 10 % retries"},
    {"openai_sdk", "source of the OpenAI SDKs for Python and JavaScript"},
    {"anthropic_sdk", "source of the Anthropic SDK for Python"},
    {"codex_cli", "source of Codex CLI; its issues 30471 and 3026"},
    {"cline", "source of Cline's retry wrapper"},
    {"aider", "source of Aider; its issue 5165"},
    {"claude_code", "documentation and issues of Claude Code"},
    {"openhands", "source of the OpenHands SDK"},
    {"router_5_attempts", "SMG and vLLM Router as the client: 5 attempts, 50 ms x 1.5"},
};

struct ProfileKey {
  std::string_view profile;
  std::string_view path;
  std::string_view value;
};

constexpr ProfileKey kKeys[] = {
    {"immediate_retry", "retries.most", "1"},
    {"immediate_retry", "backoff.base_s", "0"},
    {"immediate_retry", "backoff.cap_s", "0"},

    {"retry_after", "retries.most", "5"},
    {"retry_after", "retry_after.use", "honoured"},

    {"retry_after_jitter", "retries.most", "5"},
    {"retry_after_jitter", "retry_after.use", "honoured"},
    {"retry_after_jitter", "retry_after.jitter_low", "1"},
    {"retry_after_jitter", "retry_after.jitter_high", "2"},

    {"backoff", "retries.most", "5"},
    {"backoff", "backoff.base_s", "1"},
    {"backoff", "backoff.cap_s", "60"},
    {"backoff", "backoff.jitter_low", "0"},
    {"backoff", "backoff.jitter_high", "1"},
    {"backoff", "budget.share", "0.1"},

    // 0.5 s x 2^n, at most 8 s, x (0.75..1); Retry-After up to 60 s, without jitter; beyond that
    // the own back-off (the newest Python release takes 120 s, and does not come again beyond).
    {"openai_sdk", "retries.most", "2"},
    {"openai_sdk", "backoff.base_s", "0.5"},
    {"openai_sdk", "backoff.cap_s", "8"},
    {"openai_sdk", "backoff.jitter_low", "0.75"},
    {"openai_sdk", "backoff.jitter_high", "1"},
    {"openai_sdk", "retry_after.use", "honoured"},
    {"openai_sdk", "retry_after.longest_s", "60"},
    {"openai_sdk", "timeout_s", "600"},

    {"anthropic_sdk", "retries.most", "2"},
    {"anthropic_sdk", "backoff.base_s", "0.5"},
    {"anthropic_sdk", "backoff.cap_s", "8"},
    {"anthropic_sdk", "backoff.jitter_low", "0.75"},
    {"anthropic_sdk", "backoff.jitter_high", "1"},
    {"anthropic_sdk", "retry_after.use", "honoured"},
    {"anthropic_sdk", "retry_after.longest_s", "60"},
    {"anthropic_sdk", "timeout_s", "600"},

    // A 429 ends its turn. 0.2 + 0.4 + 0.8 + 1.6 s = 3.0 s in all.
    {"codex_cli", "retries.most", "4"},
    {"codex_cli", "retries.on_429", "false"},
    {"codex_cli", "backoff.base_s", "0.2"},
    {"codex_cli", "backoff.cap_s", "60"},
    {"codex_cli", "backoff.jitter_low", "0.9"},
    {"codex_cli", "backoff.jitter_high", "1.1"},

    // 3 attempts after 429, none after anything else.
    {"cline", "retries.most", "2"},
    {"cline", "retries.on_503", "false"},
    {"cline", "retries.on_529", "false"},
    {"cline", "retries.on_other_5xx", "false"},
    {"cline", "retries.on_broken", "false"},
    {"cline", "retries.on_timeout", "false"},
    {"cline", "backoff.base_s", "1"},
    {"cline", "backoff.cap_s", "10"},
    {"cline", "retry_after.use", "honoured"},

    // 0.125, 0.25, ..., 32 s: the next one would be beyond 60 s.
    {"aider", "retries.most", "9"},
    {"aider", "backoff.base_s", "0.125"},
    {"aider", "backoff.cap_s", "60"},

    // 25 % jitter, taken as what is added.
    {"claude_code", "retries.most", "10"},
    {"claude_code", "backoff.base_s", "0.5"},
    {"claude_code", "backoff.cap_s", "32"},
    {"claude_code", "backoff.jitter_low", "1"},
    {"claude_code", "backoff.jitter_high", "1.25"},
    {"claude_code", "retry_after.use", "honoured"},

    {"openhands", "retries.most", "4"},
    {"openhands", "backoff.base_s", "8"},
    {"openhands", "backoff.cap_s", "64"},

    {"router_5_attempts", "retries.most", "4"},
    {"router_5_attempts", "retries.on_529", "false"},
    {"router_5_attempts", "retries.on_timeout", "false"},
    {"router_5_attempts", "backoff.base_s", "0.05"},
    {"router_5_attempts", "backoff.factor", "1.5"},
};

}  // namespace

std::span<const ClientProfile> client_profiles() {
  return kProfiles;
}

ConfigNode client_profile(std::string_view name) {
  bool known = false;
  for (const ClientProfile& profile : kProfiles) known = known || profile.name == name;
  CHECK(known) << "no client profile " << name;
  const SourcePosition at{"client profile " + std::string(name), 0};
  ConfigNode node = ConfigNode::map(at);
  for (const ProfileKey& key : kKeys) {
    if (key.profile != name) continue;
    CHECK(node.set_path(key.path, ConfigNode::scalar(std::string(key.value), false, at)))
        << key.path;
  }
  return node;
}

}  // namespace inferscale
