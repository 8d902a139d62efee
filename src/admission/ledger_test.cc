#include "admission/ledger.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"

namespace inferscale {
namespace {

Instant at(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

RequestView call(CallerKey tenant, CallerKey session, TokenCount prompt, TokenCount output) {
  return {.tenant = tenant,
          .session = session,
          .prompt_tokens = prompt,
          .predicted_output_tokens = output};
}

TEST(Ledger, CountsWhatIsInFlightOfThePoolTheTenantAndTheSession) {
  Ledger ledger(2);
  const std::uint64_t a = ledger.admit(call(1, 10, 100, 20), at(0), false, true);
  const std::uint64_t b = ledger.admit(call(1, 11, 50, 30), at(1), false, true);
  EXPECT_EQ(ledger.in_flight(), 2);
  EXPECT_EQ(ledger.tokens_in_flight(), 200);
  EXPECT_EQ(ledger.output_tokens_in_flight(), 50);
  EXPECT_EQ(ledger.tenant(1).in_flight, 2);
  EXPECT_EQ(ledger.session(10).tokens, 120);
  ledger.end(a);
  EXPECT_EQ(ledger.tenant(1).in_flight, 1);
  EXPECT_EQ(ledger.session(10).in_flight, 0);
  ledger.end(b);
  EXPECT_EQ(ledger.tokens_in_flight(), 0);
}

TEST(Ledger, ATicketIsGoodForOneEnd) {
  Ledger ledger(1);
  const std::uint64_t first = ledger.admit(call(1, 1, 10, 1), at(0), false, true);
  ledger.end(first);
  EXPECT_EQ(ledger.find(first), nullptr);
  const std::uint64_t second = ledger.admit(call(2, 2, 10, 1), at(1), false, true);
  EXPECT_NE(first, second);  // the same slot, told apart
  EXPECT_EQ(ledger.find(first), nullptr);
  EXPECT_NE(ledger.find(second), nullptr);
}

TEST(Ledger, TheOldestThatWaitsIsTheFirstDispatchedWithoutAToken) {
  Ledger ledger(1);
  std::vector<std::uint64_t> tickets;
  for (int i = 0; i < 3; ++i) {
    tickets.push_back(ledger.admit(call(0, 0, 10 + i, 1), at(0), false, true));
    ledger.dispatched(tickets.back(), 0, at(i));
  }
  ledger.first_token(tickets[1], at(4));
  EXPECT_EQ(ledger.oldest_waiting(0)->request.prompt_tokens, 10);
  ledger.end(tickets[0]);
  EXPECT_EQ(ledger.oldest_waiting(0)->request.prompt_tokens, 12);
  ledger.first_token(tickets[2], at(5));
  EXPECT_EQ(ledger.oldest_waiting(0), nullptr);
}

TEST(Ledger, WhoIsNotStreamedIsNeverCountedAsWaiting) {
  Ledger ledger(1);
  RequestView whole = call(0, 0, 10, 1);
  whole.streamed = false;
  ledger.dispatched(ledger.admit(whole, at(0), false, true), 0, at(0));
  EXPECT_EQ(ledger.waiting(), 0);
  EXPECT_EQ(ledger.oldest_waiting(0), nullptr);
}

TEST(Ledger, TriedElsewhereItWaitsThere) {
  Ledger ledger(2);
  const std::uint64_t ticket = ledger.admit(call(0, 0, 10, 1), at(0), false, true);
  ledger.dispatched(ticket, 0, at(0));
  ledger.first_token(ticket, at(1));
  ledger.dispatched(ticket, 1, at(2));
  EXPECT_EQ(ledger.in_flight_at(0), 0);
  EXPECT_EQ(ledger.waiting_at(1).requests, 1);
  EXPECT_EQ(ledger.in_flight(), 1);
}

// Against a list of what is in flight, summed anew each time.
TEST(Ledger, RandomHistoriesAgreeWithAPlainList) {
  RandomStream random(42, "ledger");
  Ledger ledger(3);
  struct Plain {
    RequestView request;
    std::uint32_t replica = UINT32_MAX;
    bool has_token = false;
  };
  std::map<std::uint64_t, Plain> plain;
  for (int step = 0; step < 20'000; ++step) {
    const Instant now = Instant::nanos(step);
    const std::uint64_t what = random.below(4);
    if (what == 0 || plain.empty()) {
      const RequestView request =
          call(random.below(5), random.below(9), static_cast<TokenCount>(1 + random.below(99)),
               static_cast<TokenCount>(random.below(9)));
      plain[ledger.admit(request, now, false, true)] = {.request = request};
    } else {
      auto chosen = plain.begin();
      std::advance(chosen, static_cast<std::ptrdiff_t>(random.below(plain.size())));
      if (what == 1) {
        chosen->second.replica = static_cast<std::uint32_t>(random.below(3));
        chosen->second.has_token = false;
        ledger.dispatched(chosen->first, chosen->second.replica, now);
      } else if (what == 2 && chosen->second.replica != UINT32_MAX) {
        chosen->second.has_token = true;
        ledger.first_token(chosen->first, now);
      } else {
        ledger.end(chosen->first);
        plain.erase(chosen);
      }
    }
    TokenCount tokens = 0;
    std::int64_t of_tenant = 0;
    WaitingShare waiting;
    for (const auto& [ticket, each] : plain) {
      tokens += each.request.tokens();
      of_tenant += each.request.tenant == 3 ? 1 : 0;
      if (each.replica != 1 || each.has_token) continue;
      ++waiting.requests;
      waiting.prompt_tokens += each.request.prompt_tokens;
    }
    ASSERT_EQ(ledger.tokens_in_flight(), tokens) << step;
    ASSERT_EQ(ledger.tenant(3).in_flight, of_tenant) << step;
    ASSERT_EQ(ledger.waiting_at(1).requests, waiting.requests) << step;
    ASSERT_EQ(ledger.waiting_at(1).prompt_tokens, waiting.prompt_tokens) << step;
  }
}

}  // namespace
}  // namespace inferscale
