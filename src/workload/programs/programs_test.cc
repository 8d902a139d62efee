// Every way in which the structure of programs can be broken is found, and named.

#include "workload/programs/programs.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "workload/programs/programs_test_support.h"
#include "workload/programs/session_gaps.h"

namespace inferscale {
namespace {

// Two sessions; the first spawns a joined chain of two calls and one that nobody waits for.
Programs sound() {
  Programs programs =
      assemble({{.begin = 5,
                 .chains = {{.calls = {{.gap = 4, .spawns = {1, 2}}, {.gap = 6}, {}}},
                            {.calls = {{.gap = 7}, {}}, .delay = 2},
                            {.calls = {{}}, .delay = 50, .joined = false}}},
                {.begin = 8, .chains = {{.calls = {{}}}}}});
  programs.pieces = {{.key = 1, .tokens = 6}, {.key = 2, .tokens = 4}, {.key = 3, .tokens = 3}};
  programs.turns[0].content_pieces = 2;
  programs.turns[0].output_is_content = true;
  return programs;
}

struct Break {
  const char* what;  // part of the message
  std::function<void(Programs&)> how;
};

TEST(BrokenStructure, IsNullForSoundPrograms) {
  EXPECT_EQ(broken_structure(sound()), nullptr);
  EXPECT_EQ(broken_structure(Programs()), nullptr);
}

void expect_found(const std::vector<Break>& breaks) {
  for (const Break& expected : breaks) {
    Programs programs = sound();
    expected.how(programs);
    const char* found = broken_structure(programs);
    ASSERT_NE(found, nullptr) << expected.what;
    EXPECT_NE(std::string(found).find(expected.what), std::string::npos)
        << found << ", not: " << expected.what;
  }
}

TEST(BrokenStructure, NamesWhatIsWrongWithSessionsAndChains) {
  expect_found({
      {"not in order", [](Programs& p) { p.sessions[1].begin = Instant::nanos(4); }},
      {"not in order", [](Programs& p) { p.sessions[0].begin = Instant::nanos(-1); }},
      {"begins out of range", [](Programs& p) { p.sessions[1].begin = kEndOfTime; }},
      {"session's chains do not follow", [](Programs& p) { p.sessions[0].chains = 2; }},
      {"session's chains do not follow", [](Programs& p) { p.sessions[1].chains = 2; }},
      {"session's chains do not follow", [](Programs& p) { p.sessions[1].first_chain = 2; }},
      {"chain of no session", [](Programs& p) { p.sessions.pop_back(); }},
      {"chain says that it is of another", [](Programs& p) { p.chains[1].session = 1; }},
      {"chain's calls do not follow", [](Programs& p) { p.chains[1].turns = 0; }},
      {"chain's calls do not follow", [](Programs& p) { p.chains[1].first_turn = 2; }},
      {"chain's calls do not follow", [](Programs& p) { p.chains[3].turns = 9; }},
      {"call of no chain", [](Programs& p) { p.turns.push_back(p.turns.back()); }},
      {"delay below zero", [](Programs& p) { p.chains[1].delay = Duration::nanos(-1); }},
      {"rest below zero", [](Programs& p) { p.chains[1].rest = Duration::nanos(-1); }},
      {"rest below zero", [](Programs& p) { p.chains[1].rest = kEndOfTime - Instant(); }},
      {"names", [](Programs& p) { p.session_names = {"one"}; }},
  });
}

TEST(BrokenStructure, NamesWhatIsWrongWithCalls) {
  expect_found({
      {"call says that it is of another", [](Programs& p) { p.turns[1].call.chain = 1; }},
      {"no other, ends it", [](Programs& p) { p.turns[1].call.ends_chain = true; }},
      {"no other, ends it", [](Programs& p) { p.turns[2].call.ends_chain = false; }},
      {"without tokens", [](Programs& p) { p.turns[1].prompt_tokens = 0; }},
      {"without tokens", [](Programs& p) { p.turns[1].output_tokens = 0; }},
      {"longer than what the call before", [](Programs& p) { p.turns[0].call.history_tokens = 1; }},
      {"longer than what the call before",
       [](Programs& p) { p.turns[1].call.history_tokens = 14; }},
      {"longer than its prompt", [](Programs& p) { p.turns[1].prompt_tokens = 12; }},
      {"gap below zero", [](Programs& p) { p.turns[0].gap = Duration::nanos(-1); }},
      {"gap below zero", [](Programs& p) { p.turns[0].gap = kEndOfTime - Instant(); }},
      {"gap after", [](Programs& p) { p.turns[2].gap = Duration::nanos(1); }},
      {"not among the pieces", [](Programs& p) { p.turns[0].content_begin = 1; }},
      {"not among the pieces", [](Programs& p) { p.turns[0].content_begin = 4; }},
      {"content is longer", [](Programs& p) { p.pieces[0].tokens = 7; }},
      {"owns pieces", [](Programs& p) { p.turns[0].call.own_pieces_from = 4; }},
  });
}

TEST(BrokenStructure, NamesWhatIsWrongWithWhatIsSpawned) {
  expect_found({
      {"not listed", [](Programs& p) { p.turns[0].spawns = 3; }},
      {"not listed", [](Programs& p) { p.turns[0].first_spawn = 3; }},
      {"not there", [](Programs& p) { p.spawned[0] = 4; }},
      {"before the one that spawns it", [](Programs& p) { p.spawned[0] = 0; }},
      {"another session", [](Programs& p) { p.spawned[0] = 3; }},
      {"spawned twice", [](Programs& p) { p.spawned[0] = 2; }},
      {"nobody spawns", [](Programs& p) { p.turns[0].spawns = 1; }},
      {"rest behind a chain that nobody waits for",
       [](Programs& p) { p.chains[2].rest = Duration::nanos(1); }},
      {"rest behind a chain that nobody waits for",
       [](Programs& p) {
         p.turns[0].spawns = 0;  // the last call of the main chain spawns both
         p.turns[2].first_spawn = 0;
         p.turns[2].spawns = 2;
         p.chains[1].rest = Duration::nanos(1);
       }},
      {"before the one that spawns it",
       [](Programs& p) {
         p.turns[0].spawns = 1;  // chains 1 and 2 would wait for each other
         p.turns[3].first_spawn = 1;
         p.turns[3].spawns = 1;
         p.turns[5].spawns = 1;
         p.spawned = {1, 2, 1};
         p.turns[5].first_spawn = 2;
       }},
  });
}

TEST(SessionGaps, AreTheLongestPathOfGapsAndDelays) {
  // First: the joined chain ends 2 + 7 after the first answer, later than the gap of 4; then 6.
  // The chain that nobody waits for ends at 50.
  EXPECT_EQ(session_gaps(sound())[0], Duration::nanos(50));
  EXPECT_EQ(session_gaps(sound())[1], Duration());
  Programs programs = sound();
  programs.chains[2].delay = Duration::nanos(14);
  EXPECT_EQ(session_gaps(programs)[0], Duration::nanos(15));
  programs.chains[1].rest = Duration::nanos(8);
  EXPECT_EQ(session_gaps(programs)[0], Duration::nanos(2 + 7 + 8 + 6));
  programs.turns[0].gap = Duration::nanos(20);
  EXPECT_EQ(session_gaps(programs)[0], Duration::nanos(26));
}

TEST(SessionGaps, OfMoreThanAllTimeAreAllTime) {
  const std::int64_t long_gap = kEndOfTime.ns() - 1;
  const Programs programs =
      assemble({{.chains = {{.calls = {{.gap = long_gap}, {.gap = long_gap}, {}}}}}});
  ASSERT_EQ(broken_structure(programs), nullptr);
  EXPECT_EQ(session_gaps(programs)[0], kEndOfTime - Instant());
}

}  // namespace
}  // namespace inferscale
