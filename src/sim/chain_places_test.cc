#include "sim/chain_places.h"

#include <gtest/gtest.h>

namespace inferscale {
namespace {

TEST(ChainPlaces, AChainThatStayedHasLeftNothingElsewhere) {
  const ProgramCall first{.chain = 3};
  const ProgramCall last{.chain = 3, .ends_chain = true};
  ChainPlaces places;
  places.dispatched({.id = 0, .program = &first}, 5);
  EXPECT_TRUE(places.ended(0, 5).empty());
  places.dispatched({.id = 1, .program = &last}, 5);
  EXPECT_TRUE(places.ended(1, 5).empty());
}

TEST(ChainPlaces, AtItsEndEveryOtherReplicaIsNamedOnce) {
  const ProgramCall call{.chain = 0};
  const ProgramCall last{.chain = 0, .ends_chain = true};
  ChainPlaces places;
  RequestId id = 0;
  for (const std::uint32_t replica : {4U, 2U, 4U, 7U, 2U}) {
    places.dispatched({.id = id, .program = &call}, replica);
    EXPECT_TRUE(places.ended(id++, replica).empty());
  }
  places.dispatched({.id = id, .program = &last}, 7);
  EXPECT_EQ(places.ended(id, 7), (std::vector<std::uint32_t>{4, 2}));
  EXPECT_EQ(places.ended_request().id, id);
}

TEST(ChainPlaces, AChainThatShrinksIsDroppedWhereItWas) {
  const ProgramCall first{.chain = 0};
  const ProgramCall grown{.chain = 0, .history_tokens = 30};
  const ProgramCall compacted{.chain = 0, .history_tokens = 12};
  const auto request = [](RequestId id, const ProgramCall& call, std::uint32_t prompt) {
    return Request{.id = id, .prompt_tokens = prompt, .output_tokens = 10, .program = &call};
  };
  ChainPlaces places;
  EXPECT_TRUE(places.dispatched(request(0, first, 20), 1).empty());
  EXPECT_TRUE(places.dispatched(request(1, grown, 40), 2).empty());
  // Tried again elsewhere: the same history.
  EXPECT_TRUE(places.dispatched(request(2, grown, 40), 3).empty());
  // 50 tokens were left, 12 are kept: what 1 and 3 have is of no use, and 2 sees for itself.
  EXPECT_EQ(places.dispatched(request(3, compacted, 25), 2), (std::vector<std::uint32_t>{1, 3}));
}

}  // namespace
}  // namespace inferscale
