// Conversations: worked by hand, against a plain list that is sorted, and draws that stay put.

#include "workload/conversation_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "workload/workload_source.h"

namespace inferscale {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A conversation every 2 s, of 3 turns 4 s apart: 1 + 5 * 0.1 + 2.5.
GeneratedOptions steady(std::uint64_t requests) {
  return {.requests = requests,
          .arrivals = ConstantArrivals{.rate_rps = 0.5},
          .prompt_tokens = {ConstantLength{10}},
          .output_tokens = {ConstantLength{5}},
          .conversations = ConversationOptions{.turns = {ConstantLength{3}, 1, kMostTurns},
                                               .think_time = {.mean_s = 2.5},
                                               .answer_base = Duration::from_seconds(1),
                                               .answer_per_token = Duration::from_millis(100)}};
}

GeneratedOptions varied(std::uint64_t requests) {
  return {.requests = requests,
          .arrivals = PoissonArrivals{.rate_rps = 3},
          .prompt_tokens = {LognormalLength{200, 1}},
          .output_tokens = {LognormalLength{100, 1}},
          .prefixes = PrefixOptions{.tenants = 5,
                                    .zipf_exponent = 1,
                                    .system_prompt_tokens = {LognormalLength{300, 1}}},
          .conversations = ConversationOptions{
              .turns = {LognormalLength{6, 1}, 1, 40},
              .think_time = {.shape = DelayShape::kLognormal, .mean_s = 20, .cv = 1.5},
              .max_context_tokens = 3000}};
}

// The pieces of the requests belong to the source, which stays.
struct Talks {
  explicit Talks(const GeneratedOptions& options, std::uint64_t seed = 9) : source(options, seed) {
    Request request;
    while (source.next(request)) requests.push_back(request);
    EXPECT_EQ(requests.size(), options.requests);
    EXPECT_FALSE(source.next(request));
  }
  ConversationSource source;
  std::vector<Request> requests;
};

TEST(Conversations, ComeInOrderOfArrivalOlderOnesFirst) {
  const Talks run(steady(9));
  using Turn = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;  // s, session, prompt
  std::vector<Turn> turns;
  for (const Request& request : run.requests) {
    EXPECT_EQ(request.id, turns.size());
    EXPECT_EQ(request.output_tokens, 5U);
    EXPECT_EQ(request.max_tokens, 5U);
    EXPECT_EQ(request.tenant, Request::kNobody);
    turns.emplace_back(request.arrival.ns() / kSecond, request.session, request.prompt_tokens);
  }
  EXPECT_EQ(turns, (std::vector<Turn>{{2, 0, 10},
                                      {4, 1, 10},
                                      {6, 0, 25},
                                      {6, 2, 10},
                                      {8, 1, 25},
                                      {8, 3, 10},
                                      {10, 0, 40},
                                      {10, 2, 25},
                                      {10, 4, 10}}));
}

TEST(Conversations, HaveAPieceForEachPartOfThePromptAndForTheAnswer) {
  const Talks run(steady(9));
  const Request& first = run.requests[0];
  const Request& second = run.requests[2];
  const Request& third = run.requests[6];
  EXPECT_EQ(first.content_pieces, 1U);
  EXPECT_EQ(second.content_pieces, 3U);
  EXPECT_EQ(third.content_pieces, 5U);
  EXPECT_EQ(first.content, second.content);
  EXPECT_EQ(first.content, third.content);
  for (std::uint32_t i = 0; i < 6; ++i) {
    EXPECT_EQ(third.content[i].tokens, i % 2 == 0 ? 10U : 5U);
    for (std::uint32_t j = 0; j < i; ++j) EXPECT_NE(third.content[i].key, third.content[j].key);
    EXPECT_NE(third.content[i].key, run.requests[1].content[i].key) << "another conversation's";
  }
  EXPECT_TRUE(first.output_is_content && second.output_is_content && third.output_is_content);
}

TEST(Conversations, EndBeforeTheirContextIsTooLong) {
  // Turns need 15, 30 and 45 tokens.
  GeneratedOptions options = steady(4);
  options.conversations->max_context_tokens = 44;
  const Talks two(options);
  EXPECT_EQ(two.requests[2].session, 0U);
  EXPECT_EQ(two.requests[3].session, 2U);
  std::map<std::uint32_t, int> turns;
  options.requests = 100;
  const Talks of_two_turns(options);
  for (const Request& request : of_two_turns.requests) ++turns[request.session];
  EXPECT_EQ(turns[0], 2);
  options.conversations->max_context_tokens = 45;
  turns.clear();
  const Talks of_three_turns(options);
  for (const Request& request : of_three_turns.requests) ++turns[request.session];
  EXPECT_EQ(turns[0], 3);
}

TEST(Conversations, CutAFirstTurnThatIsTooLongByItself) {
  GeneratedOptions options = steady(3);
  options.conversations->max_context_tokens = 100;
  options.prompt_tokens = {ConstantLength{1000}};
  Request request = Talks(options).requests[0];
  EXPECT_EQ(request.prompt_tokens, 99U);
  EXPECT_EQ(request.output_tokens, 1U);
  options.prompt_tokens = {ConstantLength{60}};
  options.output_tokens = {ConstantLength{1000}};
  request = Talks(options).requests[0];
  EXPECT_EQ(request.prompt_tokens, 60U);
  EXPECT_EQ(request.output_tokens, 40U);
  options.prefixes = {.tenants = 1, .system_prompt_tokens = {ConstantLength{1000}}};
  const Talks run(options);
  EXPECT_EQ(run.requests[0].prompt_tokens, 99U);
  EXPECT_EQ(run.requests[0].output_tokens, 1U);
  EXPECT_EQ(run.requests[0].content[0].tokens, 98U) << "the system prompt";
}

// What conversations are, written down plainly: all of them in a list, which is then sorted.
std::vector<Request> listed(const GeneratedOptions& options, std::uint64_t seed,
                            std::uint32_t conversations) {
  const ConversationOptions& talk = *options.conversations;
  const auto arrivals = make_arrivals(options.arrivals, RandomStream(seed, "arrivals"));
  LengthSampler prompts(options.prompt_tokens, RandomStream(seed, "prompt_tokens"));
  LengthSampler answers(options.output_tokens, RandomStream(seed, "output_tokens"));
  LengthSampler turns(talk.turns, RandomStream(seed, "conversation_turns"));
  DelaySampler thinking(talk.think_time, RandomStream(seed, "think_times"));
  TenantPrompts tenants(*options.prefixes, talk.max_context_tokens - 2, seed);
  std::vector<Request> requests;
  for (std::uint32_t session = 0; session < conversations; ++session) {
    Request request;
    request.session = session;
    request.tenant = tenants.draw();
    std::uint32_t history = tenants.system_prompt(request.tenant).tokens;
    std::int64_t arrival = arrivals->next().ns();
    bool open = true;
    const std::uint32_t count = turns.draw();
    for (std::uint32_t turn = 0; turn < count; ++turn) {
      request.arrival = Instant::nanos(arrival);
      request.prompt_tokens = history + prompts.draw();
      request.output_tokens = answers.draw();
      if (turn == 0) {
        request.prompt_tokens = std::min(request.prompt_tokens, talk.max_context_tokens - 1);
        request.output_tokens =
            std::min(request.output_tokens, talk.max_context_tokens - request.prompt_tokens);
      }
      history = request.prompt_tokens + request.output_tokens;
      open = open && history <= talk.max_context_tokens;
      if (open) requests.push_back(request);
      arrival += talk.answer_base.ns() + talk.answer_per_token.ns() * request.output_tokens;
      if (turn + 1 < count) arrival += thinking.draw().ns();
    }
  }
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival < b.arrival; });
  return requests;
}

TEST(Conversations, AreThoseOfAListThatIsSorted) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Talks run(varied(5000), seed);
    const std::vector<Request> expected = listed(varied(5000), seed, 5000);
    ASSERT_GT(expected.size(), run.requests.size());
    for (std::size_t i = 0; i < run.requests.size(); ++i) {
      const Request& request = run.requests[i];
      ASSERT_EQ(request.id, i);
      ASSERT_EQ(request.arrival, expected[i].arrival) << "request " << i;
      ASSERT_EQ(request.session, expected[i].session);
      ASSERT_EQ(request.tenant, expected[i].tenant);
      ASSERT_EQ(request.prompt_tokens, expected[i].prompt_tokens);
      ASSERT_EQ(request.output_tokens, expected[i].output_tokens);
      std::uint32_t tokens = 0;
      for (std::uint32_t piece = 0; piece < request.content_pieces; ++piece) {
        tokens += request.content[piece].tokens;
      }
      ASSERT_EQ(tokens, request.prompt_tokens) << "the pieces are the whole prompt";
      ASSERT_EQ(request.content[request.content_pieces].tokens, request.output_tokens);
    }
  }
}

// The lengths of each conversation's turns, from its first on.
std::map<std::uint32_t, std::vector<std::uint32_t>> turns_of(const GeneratedOptions& options) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> turns;
  const Talks run(options);
  for (const Request& request : run.requests) {
    turns[request.session].push_back(request.prompt_tokens);
    turns[request.session].push_back(request.output_tokens);
  }
  return turns;
}

TEST(Conversations, KeepTheirTurnsWhateverTheTimesAre) {
  const auto before = turns_of(varied(4000));
  GeneratedOptions other = varied(4000);
  other.conversations->think_time = {.mean_s = 3};
  other.conversations->answer_per_token = Duration();
  other.arrivals = GammaArrivals{.rate_rps = 1, .cv = 2};
  int compared = 0;
  for (const auto& [session, turns] : turns_of(other)) {
    const auto found = before.find(session);
    if (found == before.end()) continue;
    // The run's end cuts conversations that were open.
    const std::size_t count = std::min(turns.size(), found->second.size());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(turns[i], found->second[i]);
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(Conversations, BeginWhenSingleRequestsWouldHaveCome) {
  GeneratedOptions options = varied(3000);
  const Talks run(options);
  options.conversations.reset();
  options.prefixes.reset();
  GeneratedSource single(options, 9);
  std::uint32_t next_session = 0;
  Request request;
  for (const Request& turn : run.requests) {
    if (turn.session != next_session) continue;
    ++next_session;
    ASSERT_TRUE(single.next(request));
    EXPECT_EQ(turn.arrival, request.arrival);
  }
  EXPECT_GT(next_session, 500U);
}

TEST(Conversations, BeginALongerRunLikeAShorterOne) {
  const Talks shorter(varied(500));
  const Talks longer(varied(2000));
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(shorter.requests[i].arrival, longer.requests[i].arrival);
    EXPECT_EQ(shorter.requests[i].prompt_tokens, longer.requests[i].prompt_tokens);
  }
}

TEST(Conversations, ThatWouldNeverEndStopAtTheLatestArrival) {
  // One begins every 1e9 s and has turns every 2e6 s, 10,000 of them: time ends at 9e9 s.
  GeneratedOptions options = steady(40'000);
  options.arrivals = ConstantArrivals{.rate_rps = 1e-9};
  options.conversations->turns = {ConstantLength{10'000}, 1, kMostTurns};
  options.conversations->think_time = {.mean_s = 1e6};
  options.conversations->answer_base = Duration::from_seconds(1e6);
  options.conversations->max_context_tokens = kMostTokens;
  const Talks run(options);
  Instant last;
  for (const Request& request : run.requests) {
    ASSERT_GE(request.arrival, last) << "time wrapped around";
    last = request.arrival;
  }
  EXPECT_EQ(last, kLatestArrival);
}

}  // namespace
}  // namespace inferscale
