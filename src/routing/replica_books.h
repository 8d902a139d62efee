// A router's books: what it knows of each replica's load, and which one has the least.
//
//   load of a replica =  books alone, where the reading is unknown
//                        reading + dispatched since - finished since, at least 0
//
// "Since" counts from the instant at which the reading was observed (what happened at that very
// instant, before it arrived, is in it), which may be well before it arrived: recent dispatches and
// ends are kept with their times (up to kMostEvents for a replica, when readings have an age; a
// reading older than those is corrected by those only).
//
// | measure  | reading                | one dispatch adds            | load               |
// |----------|------------------------|------------------------------|--------------------|
// | requests | queue_depth + running  | 1                            | over weight        |
// | tokens   | tokens_in_flight       | prompt + max_tokens          | over weight        |
// | wait     | tokens_in_flight       | prompt + max_tokens          | x token_ns         |
// | kv       | kv_used_fraction       | prompt / kv_cache_tokens     | as it is           |
//
// An end takes away what the dispatch added. Only the tokens of a request that was there when the
// reading was observed are different, for the reading counts what was left of it: it takes away an
// equal share of the reading, tokens_in_flight / (queue_depth + running). Growth by generated
// tokens is left to the next reading.
//
// With a source of readings (load_source.h) an observed reading may stand for a lower bound of the
// load, and the present one is asked for where it matters. least() asks for the present load of the
// one that is least so far until that is a present load: everybody else's load is at least what he
// was compared by, so nobody else is better. The books then keep no tokens in flight of their own:
// after a dispatch or an end the source is told, and sees to it that what is known is a bound
// again.
//
// The kv measure of a replica whose reading is unknown or whose kv_cache_tokens are unknown is not
// guessed: an unknown reading is computed from the prompts in flight where kv_cache_tokens is
// known, else the replica comes behind all others (by its requests over weight); a known reading
// without kv_cache_tokens is not corrected.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/request.h"
#include "routing/available_set.h"
#include "routing/in_flight.h"
#include "routing/load_source.h"
#include "routing/load_tournament.h"
#include "routing/replica_signals.h"

namespace inferscale {

enum class LoadMeasure : std::uint8_t { kRequests, kTokens, kWait, kKv };

struct BooksOptions {
  LoadMeasure measure = LoadMeasure::kRequests;
  bool ranked = true;  // least() is asked for
  bool corrections = true;
  bool readings_have_age = false;  // else a reading is as of the call of observe()
};

class ReplicaBooks {
 public:
  static constexpr std::size_t kMostEvents = 1024;

  explicit ReplicaBooks(const BooksOptions& options) : options_(options) {}

  std::uint32_t add_replica(const ReplicaTraits& traits);
  void set_available(std::uint32_t replica, bool available);
  void observe(std::uint32_t replica, const ReplicaSignals& signals);
  // REQUIRES: readings have no age, and the loads are made of tokens.
  void observe_tokens(std::uint32_t replica, TokenCount tokens);
  void dispatched(std::uint32_t replica, const Request& request, Instant now);
  void finished(std::uint32_t replica, RequestId request, Instant now);
  void forget(std::uint32_t replica);

  std::uint32_t replicas() const { return static_cast<std::uint32_t>(entries_.size()); }
  const AvailableSet& available() const { return available_; }
  const ReplicaTraits& traits(std::uint32_t replica) const { return entries_[replica].traits; }
  // Present readings come from `source`, which outlives the books.
  void ask(LoadSource& source) { source_ = &source; }
  // What replicas are compared by.
  LoadKey key(std::uint32_t replica) {
    if (source_ != nullptr) source_->see(replica);
    return key_bound(replica);
  }
  // The same, without asking for the present load: with a source, it may be less.
  LoadKey key_bound(std::uint32_t replica) const {
    return options_.ranked && available_.contains(replica) ? tournament_.key(replica)
                                                           : computed_key(replica);
  }
  // Whether `a` is to be preferred to `b`.
  bool prefers(std::uint32_t a, std::uint32_t b) { return is_better(key(a), a, key(b), b); }
  // The available replica with the least load. REQUIRES: options.ranked.
  std::optional<std::uint32_t> least();
  // No replica has less load than this.
  double least_bound();
  // Between which the replica's load is, without asking for the present load.
  // REQUIRES: loads are made of tokens.
  struct LoadBounds {
    double least = 0;
    double most = 0;
  };
  LoadBounds bounds(std::uint32_t replica);
  // With how many tokens in flight the replica's load would be the least one, going by bounds.
  // REQUIRES: options.ranked, loads are made of tokens.
  TokenCount tokens_at_least_load(std::uint32_t replica) const;

 private:
  // Requests and their tokens: sums, or changes to a reading.
  struct Work {
    std::int64_t requests = 0;
    TokenCount tokens = 0;
    TokenCount prompt_tokens = 0;
  };
  // At `at` the work was dispatched, or it ended.
  struct Event {
    Instant at;
    DispatchedRequest work;
    bool is_end = false;
  };
  struct Entry {
    ReplicaTraits traits;
    Work in_flight;
    ReplicaSignals reading;
    Work since;                       // the reading was observed
    std::uint64_t dispatch_read = 0;  // dispatches up to this number are in the reading
    std::uint64_t last_dispatch = 0;
  };

  // REQUIRES: the replica exists.
  Entry& entry(std::uint32_t replica);
  bool counts_tokens() const { return options_.measure != LoadMeasure::kRequests; }
  static void apply(const Event& event, Entry& entry);
  static void correct(Entry& entry, std::deque<Event>& events);
  void book(std::uint32_t replica, const Event& event);
  LoadKey computed_key(std::uint32_t replica) const;
  // Brings what least() goes by up to date.
  void rank(std::uint32_t replica);
  double requests(const Entry& entry) const;
  double tokens(const Entry& entry) const;
  double load_of_tokens(const ReplicaTraits& traits, double tokens) const {
    return options_.measure == LoadMeasure::kWait ? tokens * traits.token_ns
                                                  : tokens / traits.weight;
  }
  std::optional<double> kv_fraction(const Entry& entry) const;

  BooksOptions options_;
  LoadSource* source_ = nullptr;  // null: readings come by themselves
  std::vector<Entry> entries_;
  std::vector<std::deque<Event>> events_;  // of each replica, where readings have an age
  AvailableSet available_;
  LoadTournament tournament_;
  InFlight in_flight_;  // with its tokens; empty where only requests count
  std::uint64_t dispatches_ = 0;
};

}  // namespace inferscale
