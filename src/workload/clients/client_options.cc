#include "workload/clients/client_options.h"

#include "workload/clients/client_profiles.h"

namespace inferscale {
namespace {

constexpr double kLongestWait = 1e6;  // s: 11 days

void read_jitter(ConfigReader& waits, Jitter& jitter) {
  jitter.low = waits.number("jitter_low", {.fallback = 1,
                                           .min = 0,
                                           .max = 100,
                                           .unit = "factor",
                                           .doc = "a wait is multiplied by a number drawn "
                                                  "uniformly from here ..."});
  jitter.high = waits.number(
      "jitter_high", {.fallback = 1, .min = 0, .max = 100, .unit = "factor", .doc = "... to here"});
  if (!waits.is_describing() && jitter.high < jitter.low) {
    waits.fail("jitter_high", "expected at least jitter_low");
  }
}

void read_backoff_figures(ConfigReader& map, BackoffOptions& backoff) {
  backoff.base_s = map.number("base_s", {.fallback = backoff.base_s,
                                         .min = 0,
                                         .max = kLongestWait,
                                         .unit = "s",
                                         .doc = "before the first retry"});
  backoff.factor = map.number("factor", {.fallback = backoff.factor,
                                         .min = 1,
                                         .max = 1000,
                                         .unit = "factor",
                                         .doc = "from one wait to the next"});
  backoff.cap_s = map.number("cap_s", {.fallback = backoff.cap_s,
                                       .min = 0,
                                       .max = kLongestWait,
                                       .unit = "s",
                                       .doc = "the longest wait, before its jitter"});
  read_jitter(map, backoff.jitter);
}

void read_retries(ConfigReader retries, ClientOptions& options) {
  options.most_retries =
      retries.integer("most", {.fallback = 0,
                               .min = 0,
                               .max = 1000,
                               .unit = "retries",
                               .doc = "further attempts of a request, beside the first"});
  RetriedEnds& retried = options.retried;
  retried.on_429 = retries.boolean("on_429", true, "too many of the caller");
  retried.on_503 = retries.boolean("on_503", true, "come again later");
  retried.on_529 = retries.boolean("on_529", true, "overloaded");
  retried.on_other_5xx = retries.boolean("on_other_5xx", true, "any other status from 500 to 599");
  retried.on_broken = retries.boolean("on_broken", true,
                                      "the connection broke without a status, or a replica failed");
  retried.on_timeout = retries.boolean("on_timeout", true, "the client's own, timeout_s");
  retries.finish();
}

void read_retry_after(ConfigReader map, RetryAfterOptions& options) {
  options.honoured = map.choice("use", {"ignored", "honoured"}, "ignored",
                                "what becomes of the wait that an answer asks for") == "honoured";
  const auto longest =
      map.optional_number("longest_s", {.min = 0,
                                        .max = kLongestWait,
                                        .unit = "s",
                                        .doc = "the longest one that is honoured; null: any is"});
  if (longest) options.longest = Duration::from_seconds(*longest);
  options.gives_up_beyond =
      map.choice("beyond", {"back_off", "give_up"}, "back_off",
                 "after a longer one: the own back-off, or no retry at all") == "give_up";
  read_jitter(map, options.jitter);
  map.finish();
}

void read_budget(ConfigReader map, ClientOptions& options) {
  const auto share = map.optional_number(
      "share", {.min = 0,
                .max = 1000,
                .unit = "fraction",
                .doc = "retries of a tenant are at most this share of its requests so far; null: "
                       "there is no budget"});
  const std::int64_t reserve = map.integer("reserve", {.fallback = 10,
                                                       .min = 0,
                                                       .max = 1'000'000'000,
                                                       .unit = "retries",
                                                       .doc = "that are allowed beside the share"});
  if (share) options.budget = RetryBudgetOptions{*share, reserve};
  map.finish();
}

void read_overload(ConfigReader& clients, ClientOptions& options) {
  options.halve_after_429 = clients.boolean(
      "halve_after_429", false,
      "after a 429 a session (or a tenant, where there are none) halves its calls in flight; each "
      "answer then allows one more");
  const std::string after_529 =
      clients.choice("after_529", {"back_off", "park", "elsewhere"}, "back_off",
                     "as after other answers, again after park_s, or to another provider for good");
  if (after_529 == "park") options.after_529 = After529::kPark;
  if (after_529 == "elsewhere") options.after_529 = After529::kElsewhere;
  options.park = Duration::from_seconds(
      clients.number("park_s", {.fallback = 60,
                                .min = 0,
                                .max = kLongestWait,
                                .unit = "s",
                                .doc = "how long, with after_529: park; times the back-off's "
                                       "jitter"}));
}

void read_connection(ConfigReader& clients, ClientOptions& options) {
  const auto timeout = clients.optional_number(
      "timeout_s", {.min = 0,
                    .max = kLongestWait,
                    .above_min = true,
                    .unit = "s",
                    .doc = "how long a client waits for the whole answer; null: for ever"});
  if (timeout) options.timeout = Duration::from_seconds(*timeout);
  options.closes = clients.boolean(
      "closes", true,
      "at its timeout it closes the connection; false: its attempt runs on for nobody");
  ConfigReader streams = clients.map("stream_failures", "streams that break half-way");
  options.stream_failures.probability =
      streams.number("probability", {.fallback = 0,
                                     .min = 0,
                                     .max = 1,
                                     .unit = "fraction",
                                     .doc = "of the attempts, those whose stream breaks"});
  const std::string then = streams.choice(
      "then", {"retry", "resume", "give_up"}, "retry",
      "the whole call again, or with the prompt extended by the tokens that came, or not at all");
  if (then == "resume") options.stream_failures.then = AfterBrokenStream::kResume;
  if (then == "give_up") options.stream_failures.then = AfterBrokenStream::kGiveUp;
  streams.finish();
}

void read_router(ConfigReader& clients, ClientOptions& options) {
  const std::string through =
      clients.choice("through", {"direct", "router"}, "direct",
                     "router: each try of a client is tried again by a router in between");
  ConfigReader map = clients.map("router", "the router's retries, with through: router");
  RouterRetryOptions router{.backoff = {.base_s = 0.05, .factor = 1.5, .cap_s = 30, .jitter = {}}};
  router.attempts = map.integer("attempts", {.fallback = 5,
                                             .min = 1,
                                             .max = 1000,
                                             .unit = "attempts",
                                             .doc = "most attempts for each try of a client; after "
                                                    "429, 503 and other 5xx, not after 529"});
  read_backoff_figures(map, router.backoff);
  map.finish();
  if (through == "router") options.router = router;
}

// A reader that has the profile's values for what is not written.
ConfigReader with_profile(const ConfigReader& clients, const std::string& profile) {
  if (clients.is_describing()) return clients;
  return clients.with_defaults(client_profile(profile), {{.key = "retries"},
                                                         {.key = "backoff"},
                                                         {.key = "retry_after"},
                                                         {.key = "budget"},
                                                         {.key = "timeout_s"}});
}

}  // namespace

bool ClientOptions::is_open_loop() const {
  return profile == "open_loop" && most_retries == 0 && !timeout && !halve_after_429 &&
         after_529 != After529::kElsewhere && stream_failures.probability == 0 && !router;
}

ClientOptions read_clients(ConfigReader& root) {
  ClientOptions options;
  ConfigReader written = root.map("clients", "what a client does when it is not served");
  options.profile = written.choice(
      "profile",
      {"open_loop", "gives_up", "immediate_retry", "retry_after", "retry_after_jitter", "backoff",
       "openai_sdk", "anthropic_sdk", "codex_cli", "cline", "aider", "claude_code", "openhands",
       "router_5_attempts"},
      "open_loop",
      "figures of a real client, for the keys that are not written: docs/clients.md; open_loop: "
      "clients never come back");
  ConfigReader clients = with_profile(written, options.profile);
  read_retries(clients.map("retries", "which attempts are tried again"), options);
  ConfigReader backoff =
      clients.map("backoff", "the client's own waits: base x factor^(n - 1) before retry n");
  read_backoff_figures(backoff, options.backoff);
  backoff.finish();
  read_retry_after(clients.map("retry_after", "the wait that an answer asks for"),
                   options.retry_after);
  read_budget(clients.map("budget", "how many retries there may be in all"), options);
  read_overload(clients, options);
  read_connection(clients, options);
  read_router(clients, options);
  clients.finish();
  return options;
}

}  // namespace inferscale
