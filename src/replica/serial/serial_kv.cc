// What a call of a chain finds in a serial station's memory, and what it leaves there.

#include <algorithm>

#include "base/check.h"
#include "replica/serial/serial_replica.h"

namespace inferscale {
namespace {

std::optional<std::uint32_t> chain_of(const Request& request) {
  if (request.program == nullptr) return std::nullopt;
  return request.program->chain;
}

// Tokens that are in the cache when the last token has come: that one is never written.
TokenCount tokens_at_end(const Request& request) {
  return static_cast<TokenCount>(request.prompt_tokens) + request.output_tokens - 1;
}

}  // namespace

// Of `tokens` tokens that the chain has left, those that the call can use: history only, whole
// blocks, and not the prompt's last token, whose computation gives the first of the answer.
TokenCount SerialReplica::usable(const Request& request, TokenCount tokens) const {
  const TokenCount history = std::min(request.program->history_tokens, request.prompt_tokens - 1);
  return whole_tokens(options_.layout, std::min(tokens, history));
}

std::optional<TokenCount> SerialReplica::take_room(Instant now) {
  const Request& head = waiting_.front();
  const KvLayout& layout = options_.layout;
  const TokenCount needed = layout.blocks_each_group(tokens_at_end(head)) * layout.block_tokens;
  if (store_.make_room(chain_of(head), needed)) {
    return store_.begin_call(chain_of(head), needed);
  }
  wake_at_ = store_.next_departure();
  CHECK(wake_at_ > now && wake_at_ < Instant::never()) << "a call that was not refused never fits";
  return std::nullopt;
}

TokenCount SerialReplica::take_history(TokenCount idle, Instant now, Duration& moving) {
  const Request& request = call_.request;
  if (request.program == nullptr) return 0;
  if (!host_) return usable(request, idle);
  const std::uint32_t chain = request.program->chain;
  const std::optional<HostTier::Entry> entry = host_->find(chain);
  const TokenCount history = entry ? usable(request, entry->tokens) : 0;
  if (history == 0) {
    host_->drop(chain, now);
    return 0;
  }
  const Duration rest = std::max(entry->done - now, Duration());
  usage_.retention.exposed_ns += static_cast<double>(rest.ns());
  moving = rest + host_->restore(chain, history, now);
  return history;
}

void SerialReplica::leave_history(Instant now) {
  store_.end_call();
  const ProgramCall* const program = call_.request.program;
  if (program == nullptr) return;
  const TokenCount tokens = whole_tokens(options_.layout, call_.computed);
  if (program->ends_chain && !retention().keep_ended) {
    usage_.retention.dropped_ended += tokens;
    return;
  }
  switch (retention().idle) {
    case IdleKv::kRetain:
      store_.keep(program->chain, tokens);
      return;
    case IdleKv::kRecompute:
      usage_.retention.dropped_recompute += tokens;
      return;
    case IdleKv::kOffload:
      if (const std::optional<Instant> done = host_->offload(program->chain, tokens, now)) {
        store_.keep_moving(program->chain, tokens, *done);
      }
      return;
  }
}

void SerialReplica::end_chain(const Request& request, Instant now) {
  CHECK(request.program != nullptr) << "request " << request.id << " belongs to no chain";
  if (retention().keep_ended) return;
  settle(now);
  store_.drop_ended(request.program->chain);
  if (host_) host_->drop(request.program->chain, now);
}

void SerialReplica::settle(Instant now) {
  store_.settle(now);
  if (host_) host_->settle(now);
}

}  // namespace inferscale
