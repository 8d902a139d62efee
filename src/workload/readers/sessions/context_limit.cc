#include "workload/readers/sessions/context_limit.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

constexpr std::uint32_t kGone = UINT32_MAX;

// Returns whether anything was cut.
bool cut_calls(std::uint32_t most_tokens, RecordedChain& chain) {
  const auto too_long =
      std::find_if(chain.calls.begin(), chain.calls.end(), [most_tokens](const RecordedCall& call) {
        return std::uint64_t{call.prompt_tokens} + call.output_tokens > most_tokens;
      });
  if (too_long == chain.calls.end()) return false;
  chain.calls.erase(too_long, chain.calls.end());
  if (chain.calls.empty()) return true;
  RecordedCall& last = chain.calls.back();
  last.gap = Duration();
  last.waits_for_person = false;
  return true;
}

// Without the chains that are empty, or that nobody spawns any more.
void drop_chains(RecordedSession& session) {
  std::vector<std::uint32_t> place(session.chains.size(), kGone);
  std::vector<RecordedChain> kept;
  for (std::size_t i = 0; i < session.chains.size(); ++i) {
    RecordedChain& chain = session.chains[i];
    if (chain.calls.empty()) continue;
    if (i > 0) {
      const std::uint32_t spawner = place[chain.spawner];
      if (spawner == kGone || chain.spawner_call >= kept[spawner].calls.size()) continue;
      chain.spawner = spawner;
      // Nobody waits for what a last call spawns.
      if (chain.spawner_call + 1 == kept[spawner].calls.size()) chain.rest = Duration();
    }
    place[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(chain));
  }
  session.chains = std::move(kept);
}

}  // namespace

void end_at_context(std::uint32_t most_tokens, RecordedTrace& trace) {
  std::uint64_t shortened = 0;
  const std::size_t before = trace.sessions.size();
  for (RecordedSession& session : trace.sessions) {
    bool cut = false;
    for (RecordedChain& chain : session.chains) cut |= cut_calls(most_tokens, chain);
    if (!cut) continue;
    if (!session.chains.front().calls.empty()) ++shortened;
    drop_chains(session);
  }
  std::erase_if(trace.sessions, [](const RecordedSession& session) {
    return session.chains.empty() || session.chains.front().calls.empty();
  });
  const std::size_t gone = before - trace.sessions.size();
  if (shortened + gone == 0) return;
  trace.notes.push_back(counted(shortened, "session ends", "sessions end") +
                        " before a call longer than trace.max_context_tokens, " +
                        std::to_string(most_tokens) + ", and " +
                        counted(gone, "session is", "sessions are") +
                        " left out whose first call is: a derived workload");
}

}  // namespace inferscale
