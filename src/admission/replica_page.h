// What is known of one replica: its last metrics page, what its counters did in the window, and how
// the ledger corrects the page.
//
// A page shows the engine as it was at `observed_at`. Since then the gate has dispatched requests
// and seen some of them produce a first token or end, so that 40 calls inside one scrape interval
// do not all see the same empty queue:
//
//   queue   = shown - (waiting ones that have left the queue since) + (dispatched since, no token)
//   running = shown + (those that left the queue) + (dispatched since, with a token) - (ended)
//   KV used = shown + (prompts to compute: of the shown queue, and dispatched since)
//             - (what ended since held)
//
// Of those that waited for a first token when the page was written, the ones beyond the shown queue
// were in their prefill; first tokens since are theirs first. A dispatched request counts as queued
// until its first token comes, even if an idle engine would start it at once: nobody has seen it.
// A queued request holds no KV cache yet and will, whatever is decided now: its prompt counts as
// used. Which of the ledger's were in the shown queue is not known; their prompts are taken to be
// as long as the mean of all that waited for a first token.
//
// Rates come from differences of counters between pages inside the window; a counter that fell
// began anew. Memory: bounded by the number of pages in the window and of events since the page
// (past kMostEvents the oldest of these are taken as shown).

#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "admission/engine_reading.h"
#include "admission/ledger.h"
#include "core/signal.h"

namespace inferscale {

class ReplicaPage {
 public:
  static constexpr std::size_t kMostEvents = 65536;
  static constexpr std::size_t kMostPages = 1024;

  // Pages out of order are dropped. `waiting`: the ledger's, at this replica, now.
  void observe(const EngineReading& page, Duration window, const WaitingShare& waiting);
  void forget();
  // What the ledger does. Of entries at this replica.
  void dispatched(const LedgerEntry& entry, Instant now);
  void first_token(const LedgerEntry& entry, Instant now);
  void ended(const LedgerEntry& entry, TokenCount output_tokens, Instant now);

  bool has_page() const { return has_page_; }
  Instant observed_at() const { return page_.observed_at; }
  TokenCount kv_capacity_tokens() const { return page_.kv_capacity_tokens.value_or(0); }
  // Whether the page has what the signal is made of.
  bool carries(Signal signal) const;
  // Unknown when the page does not have it. `corrected`: by the ledger.
  Reading read(Signal signal, bool corrected) const;
  // Of the window: differences of the two counters of prefix_hit_rate.
  struct Hits {
    double queries = 0;
    double hits = 0;
  };
  Hits hits() const { return {rates_.queries, rates_.hits}; }

 private:
  // Since the page. `dispatched_at` of the request tells whether the page has seen it.
  struct Event {
    enum class Kind : std::uint8_t { kDispatched, kFirstToken, kEnded };
    Kind kind = Kind::kDispatched;
    bool had_token = false;  // kEnded: after its first token
    bool streamed = true;
    Instant at;
    Instant dispatched_at;
    TokenCount prompt_tokens = 0;  // of the prompt, to compute
    TokenCount output_tokens = 0;  // kEnded: generated
  };
  struct Since {
    std::int64_t dispatched = 0;
    std::int64_t new_left_queue = 0;  // dispatched since; a token or an end without one
    std::int64_t new_tokens = 0;      // dispatched since; a first token
    std::int64_t old_left_queue = 0;  // dispatched before the page
    std::int64_t ended_running = 0;
    TokenCount kv_tokens = 0;
    WaitingShare new_waiting;        // dispatched since, and in the ledger's waiting
    TokenCount old_left_tokens = 0;  // prompts of old_left_queue
  };
  struct Difference {
    Instant at;
    double seconds = 0;
    double queries = 0;
    double hits = 0;
    double preemptions = 0;
    double generated = 0;
  };

  static Event event_of(Event::Kind kind, const LedgerEntry& entry, Instant now);
  void add(const Event& event);
  void count(const Event& event);
  void left_queue(const Event& event, bool is_new);
  void note_counters(const EngineReading& page, Duration window);
  double queue_now() const;
  double running_now() const;
  std::optional<double> kv_used_now(bool corrected) const;

  EngineReading page_;
  bool has_page_ = false;
  WaitingShare waiting_then_;    // in the ledger, when the page was written
  double queued_kv_tokens_ = 0;  // prompts of the shown queue
  std::deque<Event> events_;
  Since since_;
  std::deque<Difference> differences_;
  Difference rates_;  // their sums
};

}  // namespace inferscale
