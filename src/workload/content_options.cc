#include "workload/content_options.h"

#include "workload/length_options.h"

namespace inferscale {

std::optional<SharedPrefixOptions> read_shared_prefix(ConfigReader& workload) {
  std::optional<ConfigReader> prefix = workload.optional_map(
      "shared_prefix",
      "one exact prefix that prompts begin with; neither lengths nor arrivals "
      "change by it");
  if (!prefix) return std::nullopt;
  SharedPrefixOptions options;
  options.tokens = static_cast<std::uint32_t>(
      prefix->integer("tokens", {.min = 1,
                                 .max = kMostTokens,
                                 .unit = "tokens",
                                 .doc = "its length; a shorter prompt is all prefix"}));
  options.hit_probability =
      prefix->number("hit_probability", {.min = 0,
                                         .max = 1,
                                         .unit = "fraction",
                                         .doc = "how probable it is that a prompt begins with it"});
  prefix->finish();
  return options;
}

std::optional<PrefixOptions> read_prefixes(ConfigReader& workload) {
  std::optional<ConfigReader> prefixes = workload.optional_map(
      "prefixes", "tenants, each with a system prompt that comes before its prompts");
  if (!prefixes) return std::nullopt;
  PrefixOptions options;
  options.tenants = static_cast<std::uint32_t>(prefixes->integer(
      "tenants", {.min = 1, .max = kMostTenants, .unit = "tenants", .doc = "how many there are"}));
  options.zipf_exponent = prefixes->number(
      "zipf_exponent", {.fallback = 0,
                        .min = 0,
                        .max = 10,
                        .unit = "exponent",
                        .doc = "tenant i has a share of the traffic in proportion to 1 / (i + 1) "
                               "to this power; 0: all alike"});
  options.system_prompt_tokens = read_length_options(
      prefixes->map("system_prompt_tokens", "lengths of the system prompts, one draw a tenant"));
  prefixes->finish();
  return options;
}

std::optional<ConversationOptions> read_conversations(ConfigReader& workload) {
  std::optional<ConfigReader> conversations = workload.optional_map(
      "conversations",
      "sessions of turns, each with all before it in its prompt; arrivals are "
      "then beginnings, prompt_tokens the new ones of a turn, requests turns");
  if (!conversations) return std::nullopt;
  ConversationOptions options;
  options.turns = read_length_options(conversations->map("turns", "turns of a conversation"),
                                      {.unit = "turns", .most = kMostTurns});
  options.think_time = read_delay_options(
      conversations->map("think_time", "from an answer, as allowed for below, to the next turn"));
  options.answer_base = Duration::from_seconds(conversations->number(
      "answer_base_s", {.fallback = 1,
                        .min = 0,
                        .max = 1e6,
                        .unit = "s",
                        .doc = "allowance for an answer: the next turn comes this, and "
                               "answer_ms_per_token, and the think time after the turn before"}));
  options.answer_per_token = Duration::from_millis(
      conversations->number("answer_ms_per_token", {.fallback = 20,
                                                    .min = 0,
                                                    .max = 1000,
                                                    .unit = "ms/token",
                                                    .doc = "allowance for each output token"}));
  options.max_context_tokens = static_cast<std::uint32_t>(conversations->integer(
      "max_context_tokens", {.fallback = 131'072,
                             .min = kSmallestContext,
                             .max = kMostTokens,
                             .unit = "tokens",
                             .doc = "a conversation ends before a turn whose prompt and answer "
                                    "would be longer"}));
  conversations->finish();
  return options;
}

}  // namespace inferscale
