#include "workload/readers/sessions/alike_sessions.h"

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

constexpr std::size_t kFewestCalls = 3;

using Signature = std::vector<std::uint64_t>;

void add_call(const RecordedCall& call, Signature& signature) {
  signature.push_back(std::uint64_t{call.prompt_tokens} << 32 | call.output_tokens);
}

// Of everything; empty: too few calls.
Signature whole_signature(const RecordedSession& session) {
  Signature signature;
  std::size_t calls = 0;
  for (const RecordedChain& chain : session.chains) {
    calls += chain.calls.size();
    signature.push_back(chain.calls.size());
    signature.push_back(std::uint64_t{chain.spawner} << 32 | chain.spawner_call);
    signature.push_back(static_cast<std::uint64_t>(chain.delay.ns()));
    signature.push_back(static_cast<std::uint64_t>(chain.rest.ns()));
    signature.push_back(chain.joined ? 1 : 0);
    for (const RecordedCall& call : chain.calls) {
      add_call(call, signature);
      signature.push_back(call.history_tokens);
      // Of the last call of a chain it says nothing.
      if (&call != &chain.calls.back()) {
        signature.push_back(static_cast<std::uint64_t>(call.gap.ns()));
      }
    }
  }
  return calls < kFewestCalls ? Signature() : signature;
}

// Of the first calls of the main chain; empty: there are fewer.
Signature first_signature(const RecordedSession& session) {
  Signature signature;
  const std::vector<RecordedCall>& calls = session.chains.front().calls;
  if (calls.size() < kFewestCalls) return signature;
  for (std::size_t k = 0; k < kFewestCalls; ++k) {
    add_call(calls[k], signature);
    if (k + 1 < kFewestCalls) signature.push_back(static_cast<std::uint64_t>(calls[k].gap.ns()));
  }
  return signature;
}

// "1 session is an exact copy of another one", "2 sessions are ..."
std::string copies_note(const ProgramDuplicates& found) {
  const bool one = found.duplicates == 1;
  return counted(found.duplicates, "session is", "sessions are") + " the same as " +
         (one ? "an earlier one" : "earlier ones") +
         " in every length and gap: " + (found.dropped > 0 ? "left out" : "replayed all the same");
}

std::string forks_note(const ProgramDuplicates& found) {
  return counted(found.forks, "session is a fork", "sessions are forks") + " in " +
         counted(found.fork_groups, "group", "groups") +
         " that begin alike and go on differently: all are replayed, so what they have in common "
         "counts more than once";
}

}  // namespace

ProgramDuplicates find_alike_sessions(RecordedTrace& trace, bool drop) {
  ProgramDuplicates found = trace.known_forks;
  std::set<Signature> wholes;
  std::map<Signature, std::uint32_t> beginnings;
  std::vector<RecordedSession> kept;
  for (RecordedSession& session : trace.sessions) {
    Signature whole = whole_signature(session);
    const bool is_copy = !whole.empty() && !wholes.insert(std::move(whole)).second;
    if (is_copy) {
      ++found.duplicates;
      if (drop) ++found.dropped;
    } else if (Signature first = first_signature(session); !first.empty()) {
      ++beginnings[std::move(first)];
    }
    if (!is_copy || !drop) kept.push_back(std::move(session));
  }
  trace.sessions = std::move(kept);
  for (const auto& [signature, sessions] : beginnings) {
    if (sessions < 2) continue;
    ++found.fork_groups;
    found.forks += sessions;
  }
  if (found.duplicates > 0) trace.notes.push_back(copies_note(found));
  if (found.forks > 0) trace.notes.push_back(forks_note(found));
  return found;
}

}  // namespace inferscale
