#include "workload/readers/sessions/recorded_times.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/number_text.h"

namespace inferscale {
namespace {

constexpr std::int64_t kResolutionNs = 1'000'000'000;

// Sums stay below half the end of time, whatever a file says.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return std::min<std::int64_t>(a + b, kEndOfTime.ns() / 2);
}

struct TimesSeen {
  std::uint64_t unknown_answers = 0;
  std::uint64_t overlaps = 0;  // calls that begin before the one above them is answered
  std::int64_t largest_overlap_ns = 0;
  std::uint64_t joined = 0;
  std::uint64_t background = 0;
  std::uint64_t empty_chains = 0;
  std::uint64_t empty_sessions = 0;
};

std::optional<std::int64_t> median_answer(const std::vector<TimedSession>& sessions) {
  std::vector<std::int64_t> known;
  for (const TimedSession& session : sessions) {
    for (const TimedChain& chain : session.chains) {
      for (const TimedCall& call : chain.calls) {
        if (call.answer_ns) known.push_back(*call.answer_ns);
      }
    }
  }
  if (known.empty()) return std::nullopt;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>((known.size() - 1) / 2);
  std::nth_element(known.begin(), middle, known.end());
  return *middle;
}

// What an empty chain spawned counts as spawned by its parent. False: nothing is left.
bool drop_empty_chains(TimedSession& session, TimesSeen& seen) {
  if (session.chains.front().calls.empty()) return false;
  std::vector<TimedChain>& chains = session.chains;
  std::vector<std::uint32_t> place(chains.size());  // of each chain, or of what stands for it
  std::vector<std::int64_t> later(chains.size());   // its beginning against that one's
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < chains.size(); ++i) {
    TimedChain& chain = chains[i];
    const std::uint32_t parent = i == 0 ? 0 : place[chain.parent];
    const std::int64_t begin = i == 0 ? 0 : sum(chain.begin_ns, later[chain.parent]);
    if (chain.calls.empty()) {
      place[i] = parent;
      later[i] = begin;
      ++seen.empty_chains;
      continue;
    }
    chain.parent = parent;
    chain.begin_ns = begin;
    place[i] = kept;
    if (kept != i) chains[kept] = std::move(chain);
    ++kept;
  }
  chains.resize(kept);
  return true;
}

// Which of the parent's calls spawns a chain that begins at `begin_ns` on the parent's clock.
std::uint32_t spawner_of(const TimedChain& parent, std::int64_t begin_ns) {
  const auto begun =
      std::partition_point(parent.calls.begin(), parent.calls.end(),
                           [&](const TimedCall& call) { return call.start_ns <= begin_ns; });
  for (std::ptrdiff_t k = begun - parent.calls.begin() - 1; k > 0; --k) {
    const TimedCall& call = parent.calls[static_cast<std::size_t>(k)];
    if (call.start_ns + *call.answer_ns <= begin_ns + kResolutionNs) {
      return static_cast<std::uint32_t>(k);
    }
  }
  return 0;
}

class SessionTimes {
 public:
  SessionTimes(TimedSession& session, TimesSeen& seen) : timed_(session), seen_(seen) {}
  RecordedSession reckon();

 private:
  void reckon_chain(std::uint32_t index);
  // The spawned chain's delay behind `finish`, and when it ends on its parent's clock.
  std::int64_t place_spawned(std::uint32_t child, std::int64_t finish);
  // When the call behind `call`, whose gap is reckoned, is ready. `start`: as recorded.
  std::int64_t next_ready(RecordedCall& call, std::int64_t finish, std::int64_t start,
                          const std::vector<std::uint32_t>& children);
  void see_overlap(std::int64_t ns);

  TimedSession& timed_;
  TimesSeen& seen_;
  RecordedSession session_;
  std::vector<std::vector<std::vector<std::uint32_t>>> spawned_;  // chains, by chain and call
  std::vector<std::int64_t> spans_;  // of chains, from their beginning to their end
};

std::int64_t SessionTimes::place_spawned(std::uint32_t child, std::int64_t finish) {
  const std::int64_t delay = std::max<std::int64_t>(0, timed_.chains[child].begin_ns - finish);
  session_.chains[child].delay = Duration::nanos(delay);
  return sum(sum(finish, delay), spans_[child]);
}

std::int64_t SessionTimes::next_ready(RecordedCall& call, std::int64_t finish, std::int64_t start,
                                      const std::vector<std::uint32_t>& children) {
  std::optional<std::int64_t> last_end;  // of what is joined
  for (const std::uint32_t child : children) {
    const std::int64_t end = place_spawned(child, finish);
    RecordedChain& spawned = session_.chains[child];
    spawned.joined = start + kResolutionNs >= end;
    ++(spawned.joined ? seen_.joined : seen_.background);
    if (spawned.joined) last_end = std::max(last_end.value_or(end), end);
  }
  const std::int64_t gap = std::max<std::int64_t>(0, start - finish);
  if (!last_end || call.waits_for_person) {
    call.gap = Duration::nanos(gap);
    return std::max(sum(finish, gap), last_end.value_or(0));
  }
  const std::int64_t rest = std::max<std::int64_t>(0, start - *last_end);
  for (const std::uint32_t child : children) {
    if (session_.chains[child].joined) session_.chains[child].rest = Duration::nanos(rest);
  }
  return sum(*last_end, rest);
}

void SessionTimes::see_overlap(std::int64_t ns) {
  if (ns <= 0) return;
  ++seen_.overlaps;
  seen_.largest_overlap_ns = std::max(seen_.largest_overlap_ns, ns);
}

void SessionTimes::reckon_chain(std::uint32_t index) {
  TimedChain& chain = timed_.chains[index];
  std::int64_t ready = chain.calls.front().start_ns;
  for (std::uint32_t k = 0; k < chain.calls.size(); ++k) {
    const std::int64_t finish = sum(ready, *chain.calls[k].answer_ns);
    const std::vector<std::uint32_t>& children = spawned_[index][k];
    RecordedCall call = chain.calls[k].call;
    if (k + 1 < chain.calls.size()) {
      const std::int64_t start = chain.calls[k + 1].start_ns;
      see_overlap(finish - start);
      ready = next_ready(call, finish, start, children);
    } else {
      spans_[index] = finish;
      for (const std::uint32_t child : children) place_spawned(child, finish);
      seen_.joined += children.size();
    }
    session_.chains[index].calls.push_back(call);
  }
}

RecordedSession SessionTimes::reckon() {
  session_.name = timed_.name;
  session_.chains.resize(timed_.chains.size());
  for (const TimedChain& chain : timed_.chains) spawned_.emplace_back(chain.calls.size());
  spans_.resize(timed_.chains.size());
  // Nothing happens in a chain before its first call, so each begins with that.
  std::vector<std::int64_t> firsts(timed_.chains.size());
  for (std::uint32_t i = 1; i < timed_.chains.size(); ++i) {
    TimedChain& chain = timed_.chains[i];
    firsts[i] = chain.calls.front().start_ns;
    for (TimedCall& call : chain.calls) call.start_ns -= firsts[i];
    chain.begin_ns = sum(chain.begin_ns, firsts[i]) - firsts[chain.parent];
    session_.chains[i].spawner = chain.parent;
    session_.chains[i].spawner_call = spawner_of(timed_.chains[chain.parent], chain.begin_ns);
    spawned_[chain.parent][session_.chains[i].spawner_call].push_back(i);
  }
  for (std::size_t i = timed_.chains.size(); i > 0; --i) {
    reckon_chain(static_cast<std::uint32_t>(i - 1));
  }
  return std::move(session_);
}

void estimate_answers(TimedChain& chain, std::int64_t typical_ns, TimesSeen& seen) {
  for (std::size_t k = 0; k < chain.calls.size(); ++k) {
    TimedCall& call = chain.calls[k];
    if (call.answer_ns) continue;
    ++seen.unknown_answers;
    call.answer_ns = typical_ns;
    if (k + 1 < chain.calls.size()) {
      call.answer_ns = std::min(typical_ns, chain.calls[k + 1].start_ns - call.start_ns);
    }
  }
}

}  // namespace

void take_timed_sessions(std::vector<TimedSession> sessions, RecordedTrace& trace) {
  TimesSeen seen;
  const std::int64_t typical_ns = median_answer(sessions).value_or(0);
  for (TimedSession& session : sessions) {
    if (!drop_empty_chains(session, seen)) {
      ++seen.empty_sessions;
      continue;
    }
    for (TimedChain& chain : session.chains) estimate_answers(chain, typical_ns, seen);
    trace.sessions.push_back(SessionTimes(session, seen).reckon());
  }
  const auto seconds = [](std::int64_t ns) { return number_text(static_cast<double>(ns) / 1e9); };
  const auto note = [&](std::uint64_t n, const std::string& sentence) {
    if (n > 0) trace.notes.push_back(sentence);
  };
  note(seen.unknown_answers,
       counted(seen.unknown_answers, "answer", "answers") + " of unknown length: taken for " +
           seconds(typical_ns) +
           " s, the median of the others, or the time to the next call where that is less");
  note(seen.overlaps, counted(seen.overlaps, "call begins", "calls begin") +
                          " before the one above is answered, by up to " +
                          seconds(seen.largest_overlap_ns) + " s: they wait for it");
  note(seen.joined + seen.background,
       counted(seen.joined, "sub-agent is", "sub-agents are") + " waited for, " +
           counted(seen.background, "runs", "run") + " in the background");
  note(seen.empty_chains + seen.empty_sessions,
       counted(seen.empty_sessions, "session", "sessions") + " and " +
           counted(seen.empty_chains, "sub-agent", "sub-agents") +
           " have no call left and are left out");
}

}  // namespace inferscale
