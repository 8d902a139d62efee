// Conversations: sessions of turns, each of whose prompts is everything before it and new tokens.
//
//   turn 1:  [system prompt] [new 1]
//   turn 2:  [system prompt] [new 1] [answer 1] [new 2]
//   turn 3:  [system prompt] [new 1] [answer 1] [new 2] [answer 2] [new 3]     each [..] a piece
//
// Conversations begin by the arrival process, whose rate is thus one of conversations; `requests`
// counts turns. A turn comes a think time after the turn before it has been answered. This is still
// open loop: nobody waits for the system. When the answer will be there is not asked but assumed,
// as an allowance:
//
//   arrival(k + 1) = arrival(k) + answer_base + answer_per_token * output_tokens(k) + think time
//
// A conversation ends after its turns, or before the first one whose prompt and answer would be
// longer than max_context_tokens. Its first turn is cut to fit instead.
//
// Streams: "arrivals", "prompt_tokens" (new tokens) and "output_tokens" as for single requests,
// "conversation_turns", "think_times", "tenants". A conversation takes all of its draws when it
// begins, and as many whatever its context allows: conversation k has the same turns whatever its
// neighbours' times are, and a longer run begins like a shorter one.
//
// Cost: the logarithm of the open conversations for a turn. Memory: 8 bytes for each turn of an
// open conversation, and 32 bytes of content for each turn there ever was.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "workload/delays.h"
#include "workload/generated_source.h"

namespace inferscale {

class ConversationSource final : public RequestSource {
 public:
  // REQUIRES: options.conversations.
  ConversationSource(const GeneratedOptions& options, std::uint64_t run_seed);
  bool next(Request& request) override;
  std::uint64_t size() const override { return requests_; }

 private:
  struct Conversation {
    std::uint32_t session = 0;
    std::uint32_t tenant = Request::kNobody;
    const ContentPiece* pieces = nullptr;
    std::uint32_t prompt_pieces = 0;  // of the next turn
    std::uint32_t prompt_tokens = 0;
    std::uint32_t turn = 0;                 // the next one
    std::vector<std::int64_t> arrivals_ns;  // of its turns
  };
  // A conversation that waits for its next turn. The earliest comes first, then the oldest.
  struct Pending {
    std::int64_t arrival_ns;
    std::uint32_t session;
    std::uint32_t place;  // in open_
    bool operator>(const Pending& other) const {
      return arrival_ns != other.arrival_ns ? arrival_ns > other.arrival_ns
                                            : session > other.session;
    }
  };

  // Draws a whole conversation that begins at that instant.
  void begin(Conversation& conversation, std::int64_t begin_ns);
  // Draws its turns into drawn_ (but for the system prompt, all of them) and their arrivals.
  void draw_turns(Conversation& conversation, std::int64_t begin_ns, TokenCount context);
  ContentPiece* allocate(std::size_t pieces);
  void take_turn(Conversation& conversation, Request& request);
  std::uint32_t open_place();

  std::uint64_t requests_;
  std::uint64_t made_ = 0;
  ConversationOptions options_;
  std::unique_ptr<ArrivalProcess> arrivals_;
  LengthSampler prompt_tokens_;
  LengthSampler output_tokens_;
  LengthSampler turns_;
  DelaySampler think_times_;
  std::optional<TenantPrompts> tenants_;

  std::uint32_t next_session_ = 0;
  Instant next_begin_;
  std::vector<Pending> pending_;  // a heap
  std::vector<Conversation> open_;
  std::vector<std::uint32_t> unused_places_;
  std::vector<ContentPiece> drawn_;
  std::vector<std::unique_ptr<ContentPiece[]>> chunks_;  // content, which stays where it is
  std::size_t chunk_used_ = 0;                           // of the last chunk
};

}  // namespace inferscale
