#include "workload/conversation_source.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/check.h"
#include "workload/trace_content.h"

namespace inferscale {
namespace {

constexpr std::size_t kChunkPieces = 65'536;
constexpr int kIndexBits = 16;  // of a piece within its conversation
static_assert(2 * kMostTurns + 1 < kChunkPieces && kChunkPieces <= std::size_t{1} << kIndexBits);

}  // namespace

ConversationSource::ConversationSource(const GeneratedOptions& options, std::uint64_t run_seed)
    : requests_(options.requests),
      options_(*options.conversations),
      arrivals_(make_arrivals(options.arrivals, RandomStream(run_seed, "arrivals"))),
      prompt_tokens_(options.prompt_tokens, RandomStream(run_seed, "prompt_tokens")),
      output_tokens_(options.output_tokens, RandomStream(run_seed, "output_tokens")),
      turns_(options_.turns, RandomStream(run_seed, "conversation_turns")),
      think_times_(options_.think_time, RandomStream(run_seed, "think_times")),
      next_begin_(arrivals_->next()) {
  CHECK(requests_ <= kMostRequests) << requests_ << " requests";
  CHECK(options_.turns.max <= kMostTurns) << options_.turns.max << " turns";
  CHECK(options_.max_context_tokens >= kSmallestContext) << options_.max_context_tokens;
  // At least one token of its own and one of its answer must fit behind a system prompt.
  if (options.prefixes) {
    tenants_.emplace(*options.prefixes, options_.max_context_tokens - 2, run_seed);
  }
}

void ConversationSource::draw_turns(Conversation& conversation, std::int64_t begin_ns,
                                    TokenCount context) {
  const TokenCount most = options_.max_context_tokens;
  std::int64_t arrival_ns = begin_ns;
  bool fits = true;
  const std::uint32_t turns = turns_.draw();
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    TokenCount fresh = prompt_tokens_.draw();
    TokenCount answer = output_tokens_.draw();
    const Duration think_time = turn + 1 < turns ? think_times_.draw() : Duration();
    if (turn == 0) {
      fresh = std::min(fresh, most - context - 1);
      answer = std::min(answer, most - context - fresh);
    }
    context += fresh + answer;
    fits = fits && context <= most;
    if (!fits) continue;
    drawn_.push_back({.tokens = static_cast<std::uint32_t>(fresh)});
    drawn_.push_back({.tokens = static_cast<std::uint32_t>(answer)});
    conversation.arrivals_ns.push_back(arrival_ns);
    const Duration allowance = options_.answer_base + options_.answer_per_token * answer;
    arrival_ns = std::min(arrival_ns + (allowance + think_time).ns(), kLatestArrival.ns());
  }
}

void ConversationSource::begin(Conversation& conversation, std::int64_t begin_ns) {
  CHECK(next_session_ < Request::kNobody) << "too many conversations";
  conversation.session = next_session_++;
  conversation.turn = 0;
  conversation.arrivals_ns.clear();
  drawn_.clear();
  conversation.prompt_tokens = 0;
  if (tenants_) {
    conversation.tenant = tenants_->draw();
    drawn_.push_back(tenants_->system_prompt(conversation.tenant));
    conversation.prompt_tokens = drawn_.front().tokens;
  }
  const std::size_t shared = drawn_.size();
  draw_turns(conversation, begin_ns, conversation.prompt_tokens);

  ContentPiece* pieces = allocate(drawn_.size());
  const std::uint64_t scope =
      stable_hash("conversations") + (std::uint64_t{conversation.session} << kIndexBits);
  for (std::size_t i = shared; i < drawn_.size(); ++i) drawn_[i].key = content_key(scope, i);
  std::copy(drawn_.begin(), drawn_.end(), pieces);
  conversation.pieces = pieces;
  conversation.prompt_pieces = static_cast<std::uint32_t>(shared) + 1;
  conversation.prompt_tokens += pieces[shared].tokens;
}

ContentPiece* ConversationSource::allocate(std::size_t pieces) {
  if (chunks_.empty() || chunk_used_ + pieces > kChunkPieces) {
    chunks_.push_back(std::make_unique<ContentPiece[]>(kChunkPieces));
    chunk_used_ = 0;
  }
  ContentPiece* allocated = chunks_.back().get() + chunk_used_;
  chunk_used_ += pieces;
  return allocated;
}

void ConversationSource::take_turn(Conversation& conversation, Request& request) {
  const std::uint32_t prompt_pieces = conversation.prompt_pieces;
  request = Request();
  request.id = static_cast<RequestId>(made_++);
  request.arrival = Instant::nanos(conversation.arrivals_ns[conversation.turn]);
  request.prompt_tokens = conversation.prompt_tokens;
  request.output_tokens = conversation.pieces[prompt_pieces].tokens;
  request.max_tokens = request.output_tokens;
  request.content = conversation.pieces;
  request.content_pieces = prompt_pieces;
  request.output_is_content = true;
  request.tenant = conversation.tenant;
  request.session = conversation.session;
  ++conversation.turn;
  if (conversation.turn == conversation.arrivals_ns.size()) return;
  conversation.prompt_tokens += request.output_tokens;
  conversation.prompt_tokens += conversation.pieces[prompt_pieces + 1].tokens;
  conversation.prompt_pieces += 2;
}

std::uint32_t ConversationSource::open_place() {
  if (unused_places_.empty()) {
    open_.emplace_back();
    return static_cast<std::uint32_t>(open_.size() - 1);
  }
  const std::uint32_t place = unused_places_.back();
  unused_places_.pop_back();
  return place;
}

bool ConversationSource::next(Request& request) {
  if (made_ == requests_) return false;
  std::uint32_t place = 0;
  if (!pending_.empty() && pending_.front().arrival_ns <= next_begin_.ns()) {
    std::pop_heap(pending_.begin(), pending_.end(), std::greater<>());
    place = pending_.back().place;
    pending_.pop_back();
  } else {
    place = open_place();
    begin(open_[place], next_begin_.ns());
    next_begin_ = arrivals_->next();
  }
  Conversation& conversation = open_[place];
  take_turn(conversation, request);
  if (conversation.turn == conversation.arrivals_ns.size()) {
    unused_places_.push_back(place);
  } else {
    pending_.push_back({conversation.arrivals_ns[conversation.turn], conversation.session, place});
    std::push_heap(pending_.begin(), pending_.end(), std::greater<>());
  }
  return true;
}

}  // namespace inferscale
