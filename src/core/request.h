// A request: one call of the model, as it arrives.
//
// `content` names the parts of the prompt that other requests may share, from its start. A piece's
// key stands for the whole prompt up to and including the piece: equal keys mean equal prompts so
// far. Tokens after the last piece belong to this request alone. The pieces are owned by the
// request's source and stay where they are until the run ends.

#pragma once

#include <cstdint>

#include "base/time.h"

namespace inferscale {

using RequestId = std::uint32_t;  // dense, from 0, in the order of arrival
using TokenCount = std::int64_t;  // tokens, sums of tokens
using BlockCount = std::int64_t;  // KV blocks of `kv_block_tokens` tokens each

struct ContentPiece {
  std::uint64_t key = 0;
  std::uint32_t tokens = 0;
};

// A request that is a call of an agent program (workload/programs): where in it. Owned by the
// request's source, like the pieces.
//
// A chain is a row of calls each of whose prompts begins with what the one before it left: its
// prompt and its answer. The main agent of a session is a chain, and so is each of its sub-agents.
struct ProgramCall {
  std::uint32_t chain = 0;  // dense over all sessions of the run
  // The prompt begins with so many tokens of the previous call's prompt and answer; 0 at the first.
  std::uint32_t history_tokens = 0;
  // Pieces of content from this one on belong to this chain alone: until its next call no prompt of
  // another chain begins so.
  std::uint32_t own_pieces_from = 0;
  // The chain's last call: what it leaves is of no use to anybody.
  bool ends_chain = false;
};

struct Request {
  RequestId id = 0;
  std::uint32_t prompt_tokens = 0;  // at least 1
  // What the engine is going to generate, at least 1. Nobody knows it before the end: only the
  // replica, which plays the model's part, reads it.
  std::uint32_t output_tokens = 0;
  // The limit that the caller asked for (`max_tokens`), known at arrival; at least output_tokens.
  // Workloads that state one length generate exactly what was asked for.
  std::uint32_t max_tokens = 0;
  Instant arrival;

  const ContentPiece* content = nullptr;
  std::uint32_t content_pieces = 0;
  // The answer will be part of a later prompt: content[content_pieces] is then its piece.
  bool output_is_content = false;
  std::uint8_t slo_class = 0;      // index of its SLO class; 0 where there are none
  std::int32_t priority = 0;       // higher is better
  std::uint32_t tenant = kNobody;  // dense indices, or nobody
  std::uint32_t session = kNobody;
  // Of the one prefix that the workload shares (`workload.shared_prefix`), the tokens that its
  // prompt begins with; 0 when it does not.
  std::uint32_t shared_prefix_tokens = 0;
  // Which presentation of the same call this is, from 0, and the id of the first one (its own id
  // where it is the first).
  std::uint32_t attempt = 0;
  RequestId first_attempt = 0;
  // Of its time, what had passed before this arrival: in earlier attempts, at the door, with a
  // replica that failed.
  // Deadlines count from arrival - spent.
  Duration spent;
  const ProgramCall* program = nullptr;  // null: a request of its own

  static constexpr std::uint32_t kNobody = UINT32_MAX;
};

}  // namespace inferscale
