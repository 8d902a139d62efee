// Sessions out of a Mooncake trace, which has calls with the hashes of their blocks and nothing
// about sessions.
//
// A call continues the latest earlier one whose whole chain of full blocks its own chain begins
// with, if that chain's last block was new when the earlier call had it (a chain that is but a
// system prompt says nothing about who goes on), and if nobody has continued it yet. A call that
// comes second is the beginning of a fork: a session of its own, which shares its beginning.

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "workload/readers/sessions/session_formats.h"
#include "workload/readers/trace_reader.h"

namespace inferscale {
namespace {

class Joiner {
 public:
  Joiner(const Trace& calls, RecordedTrace& trace) : calls_(calls), trace_(trace) {}
  void add(std::uint32_t row);
  void finish();

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  // A call that ends in a block of its own.
  struct Ending {
    std::uint32_t row = 0;
    std::size_t session = 0;
    std::uint32_t tokens = 0;  // up to it
    bool continued = false;
  };

  // The pieces of the prompt's full blocks; a last block that isn't full is a piece of its own.
  std::span<const ContentPiece> full_pieces(std::uint32_t row) const;
  Ending* call_before(std::span<const ContentPiece> pieces);
  std::size_t begin_session(std::size_t forked_from);

  const Trace& calls_;
  RecordedTrace& trace_;
  std::map<std::uint64_t, Ending> endings_;  // by the key of the last full piece
  std::set<std::uint64_t> seen_;             // keys of pieces
  std::vector<std::size_t> groups_;          // of each session: the one that it is a fork of, or it
  std::uint64_t continued_ = 0;
};

std::span<const ContentPiece> Joiner::full_pieces(std::uint32_t row) const {
  const std::span<const ContentPiece> pieces = calls_.content.of(row);
  const std::uint32_t block = calls_.content.block_tokens;
  const bool has_rest = !pieces.empty() && pieces.back().tokens % block != 0;
  return has_rest ? pieces.first(pieces.size() - 1) : pieces;
}

Joiner::Ending* Joiner::call_before(std::span<const ContentPiece> pieces) {
  std::uint32_t tokens = 0;
  for (const ContentPiece& piece : pieces) tokens += piece.tokens;
  for (std::size_t i = pieces.size(); i-- > 0; tokens -= pieces[i].tokens) {
    const auto found = endings_.find(pieces[i].key);
    // A hash that stands for beginnings of two lengths is none.
    if (found != endings_.end() && found->second.tokens == tokens) return &found->second;
  }
  return nullptr;
}

std::size_t Joiner::begin_session(std::size_t forked_from) {
  trace_.sessions.push_back({.chains = {RecordedChain()}});
  groups_.push_back(forked_from == kNone ? groups_.size() : groups_[forked_from]);
  return groups_.size() - 1;
}

void Joiner::add(std::uint32_t row) {
  const std::span<const ContentPiece> pieces = full_pieces(row);
  Ending* before = call_before(pieces);
  RecordedCall call = {.prompt_tokens = calls_.prompt_tokens[row],
                       .output_tokens = calls_.output_tokens[row],
                       .content = row};
  std::size_t session = kNone;
  if (before == nullptr || before->continued) {
    session = begin_session(before == nullptr ? kNone : before->session);
  } else {
    before->continued = true;
    session = before->session;
    ++continued_;
    RecordedCall& last = trace_.sessions[session].chains.front().calls.back();
    last.gap = Duration::nanos(calls_.arrival_ns[row] - calls_.arrival_ns[before->row]);
    call.history_tokens = before->tokens;
  }
  trace_.sessions[session].chains.front().calls.push_back(call);
  if (!pieces.empty() && !seen_.contains(pieces.back().key)) {
    const std::uint32_t block = calls_.content.block_tokens;
    endings_[pieces.back().key] = {row, session, call.prompt_tokens / block * block};
  }
  for (const ContentPiece& piece : pieces) seen_.insert(piece.key);
}

void Joiner::finish() {
  std::map<std::size_t, std::uint32_t> groups;
  for (const std::size_t group : groups_) ++groups[group];
  for (const auto& [group, sessions] : groups) {
    if (sessions < 2) continue;
    ++trace_.known_forks.fork_groups;
    trace_.known_forks.forks += sessions;
  }
  trace_.notes.push_back("sessions are put together from what prompts have in common: " +
                         counted(continued_, "call continues", "calls continue") +
                         " an earlier one; the gap between them is that of their timestamps, the "
                         "answer's time in it; when "
                         "sessions began is not replayed");
}

}  // namespace

Result<void> read_mooncake_sessions(const std::string& path, RecordedTrace& trace) {
  Result<Trace> calls = read_trace(
      {.file = path, .format = TraceFormat::kMooncake, .sort = true, .skip_failed = true}, "", 0);
  if (!calls) return std::unexpected(calls.error());
  Joiner joiner(*calls, trace);
  for (std::uint32_t row = 0; row < calls->rows(); ++row) joiner.add(row);
  joiner.finish();
  trace.blocks = std::move(calls->content);
  for (std::string& change : calls->changes) trace.notes.push_back(std::move(change));
  if (calls->rows_failed > 0) {
    trace.notes.push_back(counted(calls->rows_failed, "call", "calls") +
                          " without output (failed) left out");
  }
  return {};
}

}  // namespace inferscale
