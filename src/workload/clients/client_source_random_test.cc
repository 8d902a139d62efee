// Random clients and random service, against a plain interpreter that looks at every request again
// whenever it wants to know what comes next.
//
// At one instant: clients that leave without closing, then presentations in order of request, then
// clients that close, then ends in order of attempt.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "workload/clients/client_behaviour.h"
#include "workload/clients/clients_test_support.h"

namespace inferscale {
namespace {

constexpr std::int64_t kNever = Instant::never().ns();

// How one attempt goes: the same for both, whatever else happens.
struct Service {
  std::int64_t takes = 0;
  std::int64_t abort_takes = 0;  // from its client's leaving to its end
  Outcome outcome;
  Answer answer;
};

Service service_of(std::uint64_t seed, std::uint32_t request, std::uint32_t attempt) {
  SplitMix64 random(seed * 1'000'003 + (std::uint64_t{request} << 20) + attempt);
  Service service;
  service.takes = static_cast<std::int64_t>(random.next() % 9);
  service.abort_takes = static_cast<std::int64_t>(random.next() % 3);
  service.outcome.status = OutcomeStatus::kRefused;
  constexpr std::array kStatuses = {429, 503, 529, 500, 400, 0};
  const std::uint64_t kind = random.next() % 10;
  if (kind < kStatuses.size()) {
    service.answer.status = kStatuses[kind];
    if (kind == 1) service.outcome.status = OutcomeStatus::kDeferred;
    if (kind == 5) service.outcome.status = OutcomeStatus::kLost;
    if (random.next() % 2 == 0) {
      service.answer.retry_after = Duration::nanos(static_cast<std::int64_t>(random.next() % 9));
    }
  } else {
    service.outcome.status = OutcomeStatus::kFinished;
  }
  return service;
}

bool one_in(RandomStream& random, std::uint64_t n) {
  return random.below(n) == 0;
}

double some_ns(RandomStream& random, std::uint64_t bound) {
  return static_cast<double>(random.below(bound)) * 1e-9;
}

// Whole nanoseconds and no jitter, so that each wait can be reckoned again.
ClientOptions random_options(RandomStream& random) {
  ClientOptions options;
  options.most_retries = static_cast<std::int64_t>(random.below(5));
  RetriedEnds& retried = options.retried;
  for (bool* on : {&retried.on_429, &retried.on_503, &retried.on_529, &retried.on_other_5xx,
                   &retried.on_broken, &retried.on_timeout}) {
    *on = !one_in(random, 4);
  }
  options.backoff = {.base_s = some_ns(random, 5),
                     .factor = static_cast<double>(1 + random.below(3)),
                     .cap_s = some_ns(random, 20),
                     .jitter = {}};
  options.retry_after.honoured = one_in(random, 2);
  if (one_in(random, 2)) options.retry_after.longest = Duration::nanos(4);
  options.retry_after.gives_up_beyond = one_in(random, 2);
  if (one_in(random, 2)) {
    options.budget = RetryBudgetOptions{.share = static_cast<double>(random.below(8)) / 8,
                                        .reserve = static_cast<std::int64_t>(random.below(3))};
  }
  if (!one_in(random, 3)) options.timeout = Duration::nanos(1 + static_cast<int>(random.below(9)));
  options.closes = one_in(random, 2);
  options.after_529 = static_cast<After529>(random.below(3));
  options.park = Duration::nanos(17);
  if (one_in(random, 2)) options.stream_failures.probability = 0.5;
  options.stream_failures.then = static_cast<AfterBrokenStream>(random.below(3));
  if (one_in(random, 3)) {
    options.router = RouterRetryOptions{
        .attempts = static_cast<int>(1 + random.below(3)),
        .backoff = {.base_s = some_ns(random, 4), .factor = 2, .cap_s = 1e-3, .jitter = {}}};
  }
  return options;
}

std::vector<Request> random_requests(RandomStream& random) {
  std::vector<Request> requests;
  std::int64_t at = 0;
  const std::uint64_t count = 1 + random.below(12);
  for (std::uint64_t i = 0; i < count; ++i) {
    at += static_cast<std::int64_t>(random.below(5));
    requests.push_back(request_at(at, static_cast<std::uint32_t>(1 + random.below(20))));
    const std::uint64_t tenant = random.below(3);
    if (tenant < 2) requests.back().tenant = static_cast<std::uint32_t>(tenant);
  }
  return requests;
}

// Instant, what, and of presentations request, attempt, prompt, output and spent time.
using Event = std::tuple<std::int64_t, char, std::uint32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t, std::int64_t>;

struct Played {
  std::vector<Event> events;
  ClientRecords records;
};

Played play_source(const std::vector<Request>& requests, const ClientOptions& options,
                   std::uint64_t seed, std::int64_t stop) {
  Played played;
  const auto source = make_client_source(std::make_unique<ListSource>(requests), options, seed);
  std::vector<std::uint32_t> first_of;  // request of each attempt
  std::map<RequestId, std::uint32_t> request_of_first;
  std::map<std::pair<std::int64_t, RequestId>, Service> served;
  while (true) {
    const std::int64_t next = source->next_at().ns();
    const std::int64_t leave = source->next_leave().ns();
    const std::int64_t end = served.empty() ? kNever : served.begin()->first.first;
    const std::int64_t now = std::min({next, leave, end});
    if (now > stop) break;
    if (next == now) {
      Request request;
      EXPECT_TRUE(source->next(request));
      EXPECT_EQ(request.arrival.ns(), now);
      EXPECT_EQ(request.id, first_of.size());
      if (request.attempt == 0) {
        EXPECT_EQ(request.first_attempt, request.id);
        const auto number = static_cast<std::uint32_t>(request_of_first.size());
        request_of_first[request.id] = number;
      }
      const std::uint32_t number = request_of_first.at(request.first_attempt);
      first_of.push_back(number);
      played.events.emplace_back(now, 'p', number, request.attempt, request.prompt_tokens,
                                 request.output_tokens, request.spent.ns());
      Service service = service_of(seed, number, request.attempt);
      service.outcome.first_token = Instant::nanos(now + 1);
      served.emplace(std::pair(now + service.takes, request.id), service);
    } else if (leave == now) {
      const RequestId id = source->take_leaver();
      played.events.emplace_back(now, 'l', id, 0, 0, 0, 0);
      const auto left = std::find_if(served.begin(), served.end(),
                                     [&](const auto& one) { return one.first.second == id; });
      Service service = left->second;
      service.outcome.status = OutcomeStatus::kAbandoned;
      served.erase(left);
      served.emplace(std::pair(now + service.abort_takes, id), service);
    } else {
      const auto [key, service] = *served.begin();
      served.erase(served.begin());
      source->ended(key.second, service.outcome, service.answer, Instant::nanos(now));
    }
  }
  played.records = *source->take_records(Instant::nanos(stop)).clients;
  return played;
}

class Interpreter {
 public:
  Interpreter(const std::vector<Request>& requests, const ClientOptions& options,
              std::uint64_t seed)
      : requests_(requests),
        options_(options),
        behaviour_(options, seed),
        seed_(seed),
        state_(requests.size()) {
    for (std::uint32_t i = 0; i < requests.size(); ++i) {
      state_[i].due = requests[i].arrival.ns();
      state_[i].record.first_arrival = requests[i].arrival;
    }
  }

  Played play(std::int64_t stop);

 private:
  enum class Due : std::uint8_t { kFirst, kRouter, kRetry, kGiveUp };
  struct State {
    std::optional<std::int64_t> due;  // to be presented, or to give up as a time-out
    Due what = Due::kFirst;
    bool due_to_timeout = false;
    std::optional<RequestId> current;
    std::int64_t ends = 0;  // of the current attempt
    std::int64_t patience = kNever;
    std::int64_t last_end = 0;
    std::int64_t retries = 0;
    std::int64_t router_retries = 0;
    std::uint32_t kept = 0;
    std::uint32_t breaks = 0;
    std::int64_t first_token = 0;  // of the current attempt
    RequestRecord record;
  };

  static std::int64_t wait(const BackoffOptions& backoff, std::int64_t before) {
    double ns = backoff.base_s * 1e9;
    for (std::int64_t i = 0; i < before; ++i) ns *= backoff.factor;
    return static_cast<std::int64_t>(std::min(ns, backoff.cap_s * 1e9) + 0.5);
  }
  bool within_budget(std::uint32_t i) const;
  bool comes(std::uint32_t i) const {
    return state_[i].what != Due::kGiveUp && (state_[i].what != Due::kRetry || within_budget(i));
  }
  // Whoever has something due will give up.
  bool nothing_can_come(std::int64_t stop) const;
  void present(std::uint32_t i, std::int64_t now, Played& played);
  void end(std::uint32_t i, std::int64_t now);
  void finish(State& state, std::int64_t now);
  void end_at_router(State& state, std::int64_t router_at);
  void end_at_client(State& state, const Answer& answer, std::int64_t now);
  void time_out(State& state, std::int64_t now);
  void try_again(State& state, bool retried, std::int64_t wait_ns, bool timeout, std::int64_t now);
  static void give_up(State& state, bool timeout) {
    state.record.status = timeout ? RequestStatus::kTimedOut : RequestStatus::kGaveUp;
  }
  bool is_over(std::uint32_t i) const {
    return state_[i].record.status != RequestStatus::kUnfinished;
  }

  const std::vector<Request>& requests_;
  const ClientOptions& options_;
  ClientBehaviour behaviour_;  // for the draw of where a stream breaks
  std::uint64_t seed_;
  std::vector<State> state_;
  std::vector<std::uint32_t> request_of_;
  std::vector<std::int64_t> ends_;  // of all attempts, even those of nobody
  std::vector<std::pair<std::uint32_t, std::int64_t>> retried_;  // tenants of all retries, when
};

bool Interpreter::within_budget(std::uint32_t i) const {
  if (!options_.budget) return true;
  const std::uint32_t tenant = requests_[i].tenant;
  std::int64_t requests = 0;
  for (std::uint32_t k = 0; k < requests_.size(); ++k) {
    if (requests_[k].tenant == tenant && state_[k].record.attempts > 0) ++requests;
  }
  const std::int64_t retries = std::count_if(retried_.begin(), retried_.end(),
                                             [&](const auto& one) { return one.first == tenant; });
  return static_cast<double>(retries + 1) <=
         options_.budget->share * static_cast<double>(requests) +
             static_cast<double>(options_.budget->reserve);
}

void Interpreter::present(std::uint32_t i, std::int64_t now, Played& played) {
  State& state = state_[i];
  RequestRecord& record = state.record;
  if (state.what == Due::kRetry) {
    retried_.emplace_back(requests_[i].tenant, now);
    ++state.retries;
  }
  state.router_retries = state.what == Due::kRouter ? state.router_retries + 1 : 0;
  if (state.what != Due::kRouter && options_.timeout) {
    state.patience = now + options_.timeout->ns();
  }
  state.due.reset();
  if (record.attempts > 0) record.waited += Duration::nanos(now - state.last_end);
  const std::uint32_t attempt = record.attempts++;
  const std::uint32_t left = requests_[i].output_tokens - state.kept;
  state.breaks = behaviour_.breaks_after(i, attempt, left);
  state.current = static_cast<RequestId>(request_of_.size());
  record.last_attempt = *state.current;
  request_of_.push_back(i);
  state.ends = now + service_of(seed_, i, attempt).takes;
  ends_.push_back(state.ends);
  state.first_token = now + 1;
  played.events.emplace_back(now, 'p', i, attempt, 100 + state.kept,
                             state.breaks > 0 ? state.breaks : left,
                             now - requests_[i].arrival.ns());
}

void Interpreter::try_again(State& state, bool retried, std::int64_t wait_ns, bool timeout,
                            std::int64_t now) {
  if (!retried || state.retries >= options_.most_retries) return give_up(state, timeout);
  state.due = now + wait_ns;
  state.what = Due::kRetry;
  state.due_to_timeout = timeout;
}

void Interpreter::time_out(State& state, std::int64_t now) {
  ++state.record.left;
  state.current.reset();
  state.last_end = now;
  try_again(state, options_.retried.on_timeout, wait(options_.backoff, state.retries), true, now);
}

void Interpreter::end(std::uint32_t i, std::int64_t now) {
  State& state = state_[i];
  RequestRecord& record = state.record;
  const Service service = service_of(seed_, i, record.attempts - 1);
  state.current.reset();
  state.last_end = now;
  if (service.outcome.finished()) return finish(state, now);
  if (service.outcome.status == OutcomeStatus::kDeferred) ++record.deferred;
  if (service.outcome.status == OutcomeStatus::kRefused) ++record.rejected;
  if (service.outcome.status == OutcomeStatus::kLost) ++record.broken;
  const int status = service.answer.status;
  const bool router_may = options_.router && state.router_retries + 1 < options_.router->attempts;
  if (router_may && status != 529 && status != 400) {
    end_at_router(state, now + wait(options_.router->backoff, state.router_retries));
  } else {
    end_at_client(state, service.answer, now);
  }
}

void Interpreter::finish(State& state, std::int64_t now) {
  RequestRecord& record = state.record;
  const Instant first_token = Instant::nanos(state.first_token);
  if (state.breaks == 0) {
    record.first_token = std::min(record.first_token, first_token);
    record.status = RequestStatus::kFinished;
    return;
  }
  ++record.broken;
  const AfterBrokenStream then = options_.stream_failures.then;
  try_again(state, then != AfterBrokenStream::kGiveUp, wait(options_.backoff, state.retries), false,
            now);
  if (then == AfterBrokenStream::kResume && state.due) {
    state.kept += state.breaks;
    record.resumed_tokens += state.breaks;
  }
  if (then == AfterBrokenStream::kResume || !state.due) {
    record.first_token = std::min(record.first_token, first_token);
  }
}

void Interpreter::end_at_router(State& state, std::int64_t router_at) {
  state.due_to_timeout = router_at >= state.patience;
  if (!state.due_to_timeout) {
    state.due = router_at;
    state.what = Due::kRouter;
  } else if (options_.retried.on_timeout && state.retries < options_.most_retries) {
    // Its client goes while the router waits.
    state.due = state.patience + wait(options_.backoff, state.retries);
    state.what = Due::kRetry;
  } else {
    state.due = state.patience;
    state.what = Due::kGiveUp;
  }
}

void Interpreter::end_at_client(State& state, const Answer& answer, std::int64_t now) {
  if (answer.status == 529 && options_.after_529 == After529::kElsewhere) {
    state.record.status = RequestStatus::kElsewhere;
    return;
  }
  const RetriedEnds& retried = options_.retried;
  const std::map<int, bool> on = {{429, retried.on_429},  {503, retried.on_503},
                                  {529, retried.on_529},  {500, retried.on_other_5xx},
                                  {0, retried.on_broken}, {400, false}};
  std::int64_t wait_ns = wait(options_.backoff, state.retries);
  bool again = on.at(answer.status);
  const auto& told = answer.retry_after;
  if (answer.status == 529 && options_.after_529 == After529::kPark) {
    wait_ns = options_.park.ns();
  } else if (options_.retry_after.honoured && told) {
    if (!options_.retry_after.longest || *told <= *options_.retry_after.longest) {
      wait_ns = told->ns();
    } else if (options_.retry_after.gives_up_beyond) {
      again = false;
    }
  }
  try_again(state, again, wait_ns, false, now);
}

bool Interpreter::nothing_can_come(std::int64_t stop) const {
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    if (!is_over(i) && state_[i].due && comes(i)) return false;
  }
  return std::all_of(ends_.begin(), ends_.end(), [&](std::int64_t end) { return end <= stop; });
}

Played Interpreter::play(std::int64_t stop) {
  Played played;
  while (true) {
    // Instant, rank at that instant, request or attempt, request.
    std::optional<std::tuple<std::int64_t, int, std::uint32_t, std::uint32_t>> next;
    const auto offer = [&](std::int64_t at, int rank, std::uint32_t order, std::uint32_t i) {
      const std::tuple one{at, rank, order, i};
      if (!next || one < *next) next = one;
    };
    for (std::uint32_t i = 0; i < state_.size(); ++i) {
      const State& state = state_[i];
      if (is_over(i)) continue;
      if (state.due) offer(*state.due, 1, i, i);
      if (!state.current) continue;
      offer(state.patience, options_.closes ? 2 : 0, options_.closes ? *state.current : i, i);
      offer(state.ends, 3, *state.current, i);
    }
    if (!next || std::get<0>(*next) > stop) break;
    const auto [now, rank, order, i] = *next;
    State& state = state_[i];
    if (rank == 1) {
      if (comes(i)) {
        present(i, now, played);
      } else {
        give_up(state, state.due_to_timeout);
      }
    } else if (rank == 3) {
      end(i, now);
    } else {
      if (rank == 2) {
        played.events.emplace_back(now, 'l', *state.current, 0, 0, 0, 0);
        ends_[*state.current] = now + service_of(seed_, i, state.record.attempts - 1).abort_takes;
      }
      time_out(state, now);
    }
  }
  if (nothing_can_come(stop)) {
    for (std::uint32_t i = 0; i < state_.size(); ++i) {
      if (!is_over(i) && state_[i].due) give_up(state_[i], state_[i].due_to_timeout);
    }
  }
  for (std::uint32_t i = 0; i < state_.size(); ++i) {
    if (requests_[i].arrival.ns() <= stop) played.records.requests.push_back(state_[i].record);
  }
  played.records.request_of = request_of_;
  return played;
}

void expect_same(const Played& found, const Played& expected) {
  EXPECT_EQ(found.events, expected.events);
  EXPECT_EQ(found.records.request_of, expected.records.request_of);
  ASSERT_EQ(found.records.requests.size(), expected.records.requests.size());
  for (std::size_t i = 0; i < found.records.requests.size(); ++i) {
    const RequestRecord& record = found.records.requests[i];
    const RequestRecord& wanted = expected.records.requests[i];
    EXPECT_EQ(record.first_arrival, wanted.first_arrival) << i;
    EXPECT_EQ(record.last_attempt, wanted.last_attempt) << i;
    EXPECT_EQ(record.attempts, wanted.attempts) << i;
    EXPECT_EQ(record.deferred, wanted.deferred) << i;
    EXPECT_EQ(record.rejected, wanted.rejected) << i;
    EXPECT_EQ(record.left, wanted.left) << i;
    EXPECT_EQ(record.broken, wanted.broken) << i;
    EXPECT_EQ(record.resumed_tokens, wanted.resumed_tokens) << i;
    EXPECT_EQ(record.waited, wanted.waited) << i;
    EXPECT_EQ(record.first_token, wanted.first_token) << i;
    EXPECT_EQ(record.status, wanted.status) << i;
  }
}

TEST(ClientSourceRandom, DoesWhatAPlainInterpreterOfClientsDoes) {
  std::map<RequestStatus, int> statuses;
  std::uint64_t retried = 0;
  std::uint64_t left = 0;
  std::uint64_t resumed = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "clients");
    const ClientOptions options = random_options(random);
    const std::vector<Request> requests = random_requests(random);
    // Some runs end early.
    const std::int64_t stop = one_in(random, 4) ? static_cast<int>(random.below(40)) : 100'000;
    const Played found = play_source(requests, options, seed, stop);
    expect_same(found, Interpreter(requests, options, seed).play(stop));
    if (testing::Test::HasFailure()) return;
    for (const RequestRecord& record : found.records.requests) {
      ++statuses[record.status];
      retried += record.attempts > 1 ? 1 : 0;
      left += record.left;
      resumed += record.resumed_tokens;
    }
  }
  for (const RequestStatus status :
       {RequestStatus::kUnfinished, RequestStatus::kFinished, RequestStatus::kGaveUp,
        RequestStatus::kTimedOut, RequestStatus::kElsewhere}) {
    EXPECT_GT(statuses[status], 300) << static_cast<int>(status);
  }
  EXPECT_GT(retried, 3000U);
  EXPECT_GT(left, 3000U);
  EXPECT_GT(resumed, 2000U);
}

// With limits of callers: none has more in flight than its limit can be, and everybody's turn
// comes.
TEST(ClientSourceRandom, NobodyIsForgottenBehindALimit) {
  std::uint64_t most_waiting = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, "limited clients");
    ClientOptions options = random_options(random);
    options.halve_after_429 = true;
    std::vector<Request> requests = random_requests(random);
    for (Request& request : requests) {
      request.session = static_cast<std::uint32_t>(random.below(2));
    }
    const Played played = play_source(requests, options, seed, 1'000'000);
    ASSERT_EQ(played.records.requests.size(), requests.size());
    for (const RequestRecord& record : played.records.requests) {
      EXPECT_NE(record.status, RequestStatus::kUnfinished);
      EXPECT_GT(record.attempts, 0U);
    }
    for (const auto& [at, what, request, attempt, prompt, output, spent] : played.events) {
      if (what == 'p' && attempt == 0 && spent > 0) ++most_waiting;
    }
  }
  EXPECT_GT(most_waiting, 500U) << "the limits were reached";
}

}  // namespace
}  // namespace inferscale
