// Generated sessions: worked by hand, what prompts share, limits, and draws that stay put.

#include "workload/programs/generate_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace inferscale {
namespace {

LengthOptions constant(std::uint32_t value) {
  return {.shape = ConstantLength{value}, .min = 1, .max = 1000};
}

// A session each second, of 3 turns that are all alike but for what came before.
GeneratedSessions steady() {
  return {.count = 2,
          .turns = constant(3),
          .first_prompt_tokens = constant(100),
          .appended_tokens = constant(20),
          .output_tokens = constant(5),
          .system_prompt_tokens = 40,
          .tool_gap = {.mean_s = 2}};
}

GeneratedSessions varied(bool fork) {
  return {.count = 60,
          .turns = {LognormalLength{8, 1}, 1, 40},
          .first_prompt_tokens = {LognormalLength{300, 1}},
          .appended_tokens = {LognormalLength{60, 2}},
          .output_tokens = {LognormalLength{50, 1}},
          .system_prompt_tokens = 100,
          .tool_gap = {.shape = DelayShape::kLognormal, .mean_s = 5, .cv = 2},
          .person_gap = {.shape = DelayShape::kExponential, .mean_s = 60},
          .person_share = 0.2,
          .spawns = SpawnOptions{.probability = 0.3,
                                 .calls = {LognormalLength{2, 0.5}, 1, 5},
                                 .turns = {LognormalLength{3, 1}, 1, 10},
                                 .first_prompt_tokens = {LognormalLength{200, 1}},
                                 .fork = fork},
          .max_context_tokens = 1500};
}

constexpr ConstantArrivals kEachSecond{.rate_rps = 1};

std::vector<ContentPiece> content_of(const Programs& programs, const ProgramTurn& turn) {
  const auto begin = programs.pieces.begin() + static_cast<std::ptrdiff_t>(turn.content_begin);
  return {begin, begin + turn.content_pieces + 1};
}

TEST(GeneratePrograms, HaveEverythingBeforeThemInEachPrompt) {
  const Programs programs = generate_programs(steady(), kEachSecond, 1);
  ASSERT_EQ(broken_structure(programs), nullptr);
  ASSERT_EQ(programs.sessions.size(), 2U);
  ASSERT_EQ(programs.turns.size(), 6U);
  EXPECT_EQ(programs.sessions[0].begin, Instant::nanos(1'000'000'000));
  EXPECT_EQ(programs.sessions[1].begin, Instant::nanos(2'000'000'000));
  EXPECT_EQ(programs.sessions[0].tenant, Request::kNobody);
  EXPECT_TRUE(programs.notes.empty());
  const std::vector<std::uint32_t> prompts = {140, 165, 190};
  const std::vector<std::uint32_t> histories = {0, 145, 170};
  for (std::uint32_t i = 0; i < 6; ++i) {
    const ProgramTurn& turn = programs.turns[i];
    const std::uint32_t k = i % 3;
    EXPECT_EQ(turn.prompt_tokens, prompts[k]);
    EXPECT_EQ(turn.output_tokens, 5U);
    EXPECT_EQ(turn.call.history_tokens, histories[k]);
    EXPECT_EQ(turn.call.own_pieces_from, 1U);
    EXPECT_EQ(turn.call.ends_chain, k == 2);
    EXPECT_EQ(turn.gap, k == 2 ? Duration() : Duration::from_seconds(2));
    EXPECT_TRUE(turn.output_is_content);
    std::vector<std::uint32_t> tokens;
    for (const ContentPiece& piece : content_of(programs, turn)) tokens.push_back(piece.tokens);
    std::vector<std::uint32_t> expected = {40, 100, 5, 20, 5, 20, 5};
    expected.resize(2 * k + 3);
    EXPECT_EQ(tokens, expected);
  }
  // All but the system prompt is a session's own.
  const auto first = content_of(programs, programs.turns[2]);
  const auto second = content_of(programs, programs.turns[5]);
  EXPECT_EQ(first[0].key, second[0].key);
  std::set<std::uint64_t> keys;
  for (const auto& content : {first, second}) {
    for (const ContentPiece& piece : content) keys.insert(piece.key);
  }
  EXPECT_EQ(keys.size(), 13U);
}

TEST(GeneratePrograms, WithoutASystemPromptAllIsTheSessionsOwn) {
  GeneratedSessions options = steady();
  options.system_prompt_tokens = 0;
  const Programs programs = generate_programs(options, kEachSecond, 1);
  EXPECT_EQ(programs.turns[0].call.own_pieces_from, 0U);
  EXPECT_EQ(programs.turns[0].prompt_tokens, 100U);
  EXPECT_EQ(programs.turns[0].content_pieces, 1U);
}

TEST(GeneratePrograms, EachKeyStandsForOnePromptSoFar) {
  for (const bool fork : {false, true}) {
    const Programs programs = generate_programs(varied(fork), PoissonArrivals{.rate_rps = 2}, 5);
    ASSERT_EQ(broken_structure(programs), nullptr);
    std::map<std::uint64_t, std::vector<std::uint64_t>> beginnings;  // keys up to it, and tokens
    for (const ProgramTurn& turn : programs.turns) {
      std::vector<std::uint64_t> so_far;
      std::uint64_t tokens = 0;
      const auto content = content_of(programs, turn);
      for (const ContentPiece& piece : content) {
        so_far.push_back(piece.key);
        so_far.push_back(piece.tokens);
        const auto [at, fresh] = beginnings.emplace(piece.key, so_far);
        EXPECT_TRUE(fresh || at->second == so_far);
        tokens += piece.tokens;
      }
      EXPECT_EQ(tokens, std::uint64_t{turn.prompt_tokens} + turn.output_tokens);
      EXPECT_EQ(content.back().tokens, turn.output_tokens);
    }
  }
}

// The answer of each call is in the next prompt of its chain, all of it.
TEST(GeneratePrograms, AChainsHistoryIsThePromptAndTheAnswerBefore) {
  const Programs programs = generate_programs(varied(true), PoissonArrivals{.rate_rps = 2}, 5);
  for (const ProgramChain& chain : programs.chains) {
    for (std::uint32_t k = 1; k < chain.turns; ++k) {
      const ProgramTurn& before = programs.turns[chain.first_turn + k - 1];
      const ProgramTurn& turn = programs.turns[chain.first_turn + k];
      EXPECT_EQ(turn.call.history_tokens, before.prompt_tokens + before.output_tokens);
      EXPECT_EQ(turn.content_begin, before.content_begin);
      EXPECT_EQ(turn.content_pieces, before.content_pieces + 2);
      EXPECT_GT(turn.prompt_tokens, turn.call.history_tokens);
    }
  }
}

struct Spawned {
  std::uint32_t chain;
  const ProgramTurn* by;
};

std::vector<Spawned> spawned_chains(const Programs& programs) {
  std::vector<Spawned> list;
  for (const ProgramTurn& turn : programs.turns) {
    for (std::uint32_t i = 0; i < turn.spawns; ++i) {
      list.push_back({programs.spawned[turn.first_spawn + i], &turn});
    }
  }
  return list;
}

TEST(GeneratePrograms, SpawnedChainsBeginWithTheSystemPromptOrForkAllThatTheirSpawnerHad) {
  for (const bool fork : {false, true}) {
    const Programs programs = generate_programs(varied(fork), PoissonArrivals{.rate_rps = 2}, 5);
    const std::vector<Spawned> spawned = spawned_chains(programs);
    EXPECT_GT(spawned.size(), 50U);
    for (const Spawned& one : spawned) {
      const ProgramChain& chain = programs.chains[one.chain];
      EXPECT_TRUE(chain.joined);
      EXPECT_FALSE(one.by->waits_for_person) << "a turn that calls no tools";
      EXPECT_FALSE(one.by->call.ends_chain);
      const ProgramTurn& first = programs.turns[chain.first_turn];
      EXPECT_EQ(first.call.history_tokens, 0U);
      auto shared = content_of(programs, *one.by);
      if (!fork) shared.resize(1);
      const auto content = content_of(programs, first);
      ASSERT_EQ(content.size(), shared.size() + 2);
      EXPECT_EQ(first.call.own_pieces_from, shared.size());
      for (std::size_t i = 0; i < shared.size(); ++i) {
        EXPECT_EQ(content[i].key, shared[i].key);
        EXPECT_EQ(content[i].tokens, shared[i].tokens);
      }
    }
  }
}

// A chain's own pieces are in no other chain's prompt before its next call: a fork of the same
// chain that shares them was joined before this call, or will be spawned by a later one.
TEST(GeneratePrograms, WhatIsAChainsOwnIsInNoOtherPromptUntilItsNextCall) {
  for (const bool fork : {false, true}) {
    const Programs programs = generate_programs(varied(fork), PoissonArrivals{.rate_rps = 2}, 5);
    std::map<std::uint64_t, std::set<std::uint32_t>> chains_of;  // by key
    for (const ProgramTurn& turn : programs.turns) {
      for (const ContentPiece& piece : content_of(programs, turn)) {
        chains_of[piece.key].insert(turn.call.chain);
      }
    }
    std::map<std::uint32_t, const ProgramTurn*> spawner;
    for (const Spawned& one : spawned_chains(programs)) spawner[one.chain] = one.by;
    std::size_t shared_otherwise = 0;
    for (const ProgramTurn& turn : programs.turns) {
      const auto content = content_of(programs, turn);
      for (std::size_t i = turn.call.own_pieces_from; i < content.size(); ++i) {
        for (const std::uint32_t other : chains_of[content[i].key]) {
          if (other == turn.call.chain) continue;
          ASSERT_TRUE(spawner.contains(other));
          ASSERT_EQ(spawner[other]->call.chain, turn.call.chain);
          ASSERT_NE(spawner[other], &turn);
          ASSERT_TRUE(!turn.call.ends_chain || spawner[other] < &turn);
          ++shared_otherwise;
        }
      }
      // Nothing less than that is called its own.
      if (turn.spawns == 0 && turn.call.own_pieces_from > 0) {
        const auto& others = chains_of[content[turn.call.own_pieces_from - 1].key];
        EXPECT_GT(others.size(), 1U);
      }
    }
    EXPECT_EQ(shared_otherwise > 0, fork);
  }
}

TEST(GeneratePrograms, ASessionEndsBeforeATurnThatItsContextHasNoRoomFor) {
  GeneratedSessions options = varied(false);
  options.spawns.reset();
  const Programs cut = generate_programs(options, kEachSecond, 5);
  options.max_context_tokens = 10'000'000;
  const Programs whole = generate_programs(options, kEachSecond, 5);
  ASSERT_EQ(broken_structure(cut), nullptr);
  std::size_t shorter = 0;
  for (std::size_t s = 0; s < cut.chains.size(); ++s) {
    const ProgramChain& chain = cut.chains[s];
    const ProgramChain& all = whole.chains[s];
    std::uint32_t fit = 0;
    for (; fit < all.turns; ++fit) {
      const ProgramTurn& turn = whole.turns[all.first_turn + fit];
      if (turn.prompt_tokens + turn.output_tokens > 1500) break;
    }
    if (fit < all.turns) ++shorter;
    EXPECT_EQ(chain.turns, std::max(fit, 1U));
    for (std::uint32_t k = 0; k < fit; ++k) {
      const ProgramTurn& turn = cut.turns[chain.first_turn + k];
      const ProgramTurn& other = whole.turns[all.first_turn + k];
      EXPECT_EQ(turn.prompt_tokens, other.prompt_tokens);
      EXPECT_EQ(turn.output_tokens, other.output_tokens);
      EXPECT_EQ(turn.gap, k + 1 == fit ? Duration() : other.gap);
    }
  }
  EXPECT_GT(shorter, 5U);
  ASSERT_EQ(cut.notes.size(), 1U);
  EXPECT_EQ(cut.notes[0].find(std::to_string(shorter) + " of 60 sessions end before"), 0U)
      << cut.notes[0];
  EXPECT_TRUE(whole.notes.empty());
}

TEST(GeneratePrograms, AFirstTurnIsCutToFitAndAForkWithoutRoomIsLeftOut) {
  GeneratedSessions options = steady();
  options.max_context_tokens = 143;  // 40 + 100 leave 3 of the answer's 5
  Programs programs = generate_programs(options, kEachSecond, 1);
  ASSERT_EQ(programs.turns.size(), 2U);
  EXPECT_EQ(programs.turns[0].prompt_tokens, 140U);
  EXPECT_EQ(programs.turns[0].output_tokens, 3U);
  options.max_context_tokens = 60;
  programs = generate_programs(options, kEachSecond, 1);
  EXPECT_EQ(programs.turns[0].prompt_tokens, 59U);
  EXPECT_EQ(programs.turns[0].output_tokens, 1U);

  options.max_context_tokens = 170;  // two turns: the first spawns, with 25 tokens left for forks
  options.spawns = SpawnOptions{.probability = 1,
                                .calls = constant(2),
                                .turns = constant(1),
                                .first_prompt_tokens = constant(50),
                                .fork = true};
  programs = generate_programs(options, kEachSecond, 1);
  ASSERT_EQ(programs.chains.size(), 6U);
  EXPECT_EQ(programs.turns[2].prompt_tokens, 169U);
  EXPECT_EQ(programs.turns[2].output_tokens, 1U);
  options.system_prompt_tokens = 64;  // now the first turn fills all but one
  programs = generate_programs(options, kEachSecond, 1);
  ASSERT_EQ(programs.chains.size(), 2U);
  options.appended_tokens = constant(1);
  options.output_tokens = constant(1);
  options.max_context_tokens = 167;  // 64 + 100 + 1 + 1 + 1: two turns, and a fork fits just so
  programs = generate_programs(options, kEachSecond, 1);
  EXPECT_EQ(programs.chains.size(), 6U);
  EXPECT_EQ(programs.turns[2].prompt_tokens + programs.turns[2].output_tokens, 167U);
}

// Turns of the main chains.
std::vector<const ProgramTurn*> main_turns(const Programs& programs, std::size_t sessions) {
  std::vector<const ProgramTurn*> turns;
  for (std::size_t s = 0; s < sessions; ++s) {
    const ProgramChain& chain = programs.chains[programs.sessions[s].first_chain];
    for (std::uint32_t k = 0; k < chain.turns; ++k) {
      turns.push_back(&programs.turns[chain.first_turn + k]);
    }
  }
  return turns;
}

void expect_same_main_turns(const Programs& a, const Programs& b, std::size_t sessions) {
  const auto left = main_turns(a, sessions);
  const auto right = main_turns(b, sessions);
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i]->prompt_tokens, right[i]->prompt_tokens);
    EXPECT_EQ(left[i]->output_tokens, right[i]->output_tokens);
    EXPECT_EQ(left[i]->gap, right[i]->gap);
    EXPECT_EQ(left[i]->waits_for_person, right[i]->waits_for_person);
  }
}

TEST(GeneratePrograms, ASessionIsTheSameInALongerRunAtAnotherRateAndWithoutSubAgents) {
  GeneratedSessions options = varied(true);
  const Programs programs = generate_programs(options, PoissonArrivals{.rate_rps = 2}, 5);
  options.count = 200;
  const Programs longer = generate_programs(options, PoissonArrivals{.rate_rps = 0.1}, 5);
  expect_same_main_turns(programs, longer, 60);
  for (std::size_t c = 0; c < programs.chains.size(); ++c) {
    EXPECT_EQ(programs.chains[c].turns, longer.chains[c].turns);
  }
  for (std::size_t t = 0; t < programs.turns.size(); ++t) {
    EXPECT_EQ(programs.turns[t].prompt_tokens, longer.turns[t].prompt_tokens);
    EXPECT_EQ(content_of(programs, programs.turns[t]).back().key,
              content_of(longer, longer.turns[t]).back().key);
  }
  options.spawns.reset();
  expect_same_main_turns(programs, generate_programs(options, kEachSecond, 5), 60);
  const auto other_seed = generate_programs(options, kEachSecond, 6);
  EXPECT_NE(main_turns(other_seed, 1)[0]->prompt_tokens, main_turns(programs, 1)[0]->prompt_tokens);
}

TEST(GeneratePrograms, TheShareOfPeopleMovesNoOtherDraw) {
  GeneratedSessions options = varied(false);
  options.spawns.reset();
  options.person_share = 0;
  const Programs none = generate_programs(options, kEachSecond, 5);
  options.person_share = 1;
  const Programs all = generate_programs(options, kEachSecond, 5);
  options.person_share = 0.3;
  const Programs some = generate_programs(options, kEachSecond, 5);
  std::size_t people = 0;
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < some.turns.size(); ++i) {
    if (some.turns[i].call.ends_chain) continue;
    ++gaps;
    if (some.turns[i].waits_for_person) ++people;
    EXPECT_NE(all.turns[i].gap, none.turns[i].gap);
    EXPECT_EQ(some.turns[i].gap,
              some.turns[i].waits_for_person ? all.turns[i].gap : none.turns[i].gap);
    EXPECT_EQ(some.turns[i].prompt_tokens, none.turns[i].prompt_tokens);
  }
  EXPECT_NEAR(static_cast<double>(people) / static_cast<double>(gaps), 0.3, 0.08);
}

TEST(GeneratePrograms, NothingIsSpawnedByTheLastTurnThatFits) {
  GeneratedSessions options = steady();
  options.spawns = SpawnOptions{.probability = 1,
                                .calls = constant(2),
                                .turns = constant(1),
                                .first_prompt_tokens = constant(10)};
  EXPECT_EQ(generate_programs(options, kEachSecond, 1).chains.size(), 10U);
  options.max_context_tokens = 170;  // two of three turns: the second one had tools to call
  EXPECT_EQ(generate_programs(options, kEachSecond, 1).chains.size(), 6U);
}

TEST(BeginSessions, DrawsBeginningsAndLeavesTheRest) {
  const Programs recorded = generate_programs(varied(false), kEachSecond, 5);
  const Programs begun = begin_sessions(recorded, PoissonArrivals{.rate_rps = 0.5}, 9);
  ASSERT_EQ(broken_structure(begun), nullptr);
  ASSERT_EQ(begun.sessions.size(), recorded.sessions.size());
  EXPECT_EQ(begun.turns.size(), recorded.turns.size());
  EXPECT_NEAR(begun.sessions.back().begin.seconds(), 120, 50);  // 60 at 0.5/s
  EXPECT_EQ(begun.sessions[3].first_chain, recorded.sessions[3].first_chain);
  EXPECT_EQ(begun.notes.size(), recorded.notes.size() + 1);
  EXPECT_NE(begin_sessions(recorded, PoissonArrivals{.rate_rps = 0.5}, 10).sessions[0].begin,
            begun.sessions[0].begin);
}

}  // namespace
}  // namespace inferscale
