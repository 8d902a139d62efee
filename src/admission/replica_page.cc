#include "admission/replica_page.h"

#include <algorithm>

namespace inferscale {
namespace {

double grown(std::optional<double> before, std::optional<double> now) {
  if (!before || !now) return 0;
  return *now >= *before ? *now - *before : *now;
}

}  // namespace

void ReplicaPage::observe(const EngineReading& page, Duration window, const WaitingShare& waiting) {
  if (has_page_ && page.observed_at <= page_.observed_at) return;
  if (has_page_) note_counters(page, window);
  page_ = page;
  has_page_ = true;
  while (!events_.empty() && events_.front().at <= page.observed_at) events_.pop_front();
  since_ = {};
  for (const Event& event : events_) count(event);
  // Those that wait now, less who came since, with who left since.
  waiting_then_ = {
      .requests = waiting.requests - since_.new_waiting.requests + since_.old_left_queue,
      .prompt_tokens =
          waiting.prompt_tokens - since_.new_waiting.prompt_tokens + since_.old_left_tokens};
  const double queue = page.queue_depth.value_or(0);
  queued_kv_tokens_ = waiting_then_.requests > 0 && queue > 0
                          ? queue * static_cast<double>(waiting_then_.prompt_tokens) /
                                static_cast<double>(waiting_then_.requests)
                          : 0;
}

void ReplicaPage::forget() {
  *this = {};
}

void ReplicaPage::note_counters(const EngineReading& page, Duration window) {
  const Difference difference{.at = page.observed_at,
                              .seconds = (page.observed_at - page_.observed_at).seconds(),
                              .queries = grown(page_.prefix_queries, page.prefix_queries),
                              .hits = grown(page_.prefix_hits, page.prefix_hits),
                              .preemptions = grown(page_.preemptions, page.preemptions),
                              .generated = grown(page_.generated_tokens, page.generated_tokens)};
  differences_.push_back(difference);
  // The difference that reaches over the window's beginning still counts: a rate needs one.
  while (differences_.size() > 1 && (differences_.size() > kMostPages ||
                                     differences_.front().at + window < page.observed_at)) {
    differences_.pop_front();
  }
  rates_ = {};
  for (const Difference& each : differences_) {
    rates_.seconds += each.seconds;
    rates_.queries += each.queries;
    rates_.hits += each.hits;
    rates_.preemptions += each.preemptions;
    rates_.generated += each.generated;
  }
}

ReplicaPage::Event ReplicaPage::event_of(Event::Kind kind, const LedgerEntry& entry, Instant now) {
  return {.kind = kind,
          .streamed = entry.request.streamed,
          .at = now,
          .dispatched_at = entry.dispatched_at,
          .prompt_tokens = entry.request.tokens_to_compute()};
}

void ReplicaPage::dispatched(const LedgerEntry& entry, Instant now) {
  add(event_of(Event::Kind::kDispatched, entry, now));
}

void ReplicaPage::first_token(const LedgerEntry& entry, Instant now) {
  add(event_of(Event::Kind::kFirstToken, entry, now));
}

void ReplicaPage::ended(const LedgerEntry& entry, TokenCount output_tokens, Instant now) {
  Event event = event_of(Event::Kind::kEnded, entry, now);
  event.had_token = entry.first_token != Instant::never() || !entry.request.streamed;
  event.output_tokens = output_tokens;
  add(event);
}

void ReplicaPage::add(const Event& event) {
  if (!has_page_) return;
  if (events_.size() == kMostEvents) events_.pop_front();
  events_.push_back(event);
  count(event);
}

void ReplicaPage::count(const Event& event) {
  const bool is_new = event.dispatched_at > page_.observed_at;
  switch (event.kind) {
    case Event::Kind::kDispatched:
      ++since_.dispatched;
      since_.kv_tokens += event.prompt_tokens;
      if (event.streamed) {
        ++since_.new_waiting.requests;
        since_.new_waiting.prompt_tokens += event.prompt_tokens;
      }
      return;
    case Event::Kind::kFirstToken:
      left_queue(event, is_new);
      if (is_new) ++since_.new_tokens;
      return;
    case Event::Kind::kEnded:
      break;
  }
  // One that is not streamed and came since has been counted as queued all the time.
  const bool was_running = event.had_token && (event.streamed || !is_new);
  if (was_running) ++since_.ended_running;
  if (!was_running) left_queue(event, is_new);
  // Its prompt has been added, by the page, its queue or its dispatch; what an old one generated
  // was on the page, but for what came since.
  since_.kv_tokens -= event.prompt_tokens;
  if (!is_new && event.had_token) since_.kv_tokens -= event.output_tokens;
}

void ReplicaPage::left_queue(const Event& event, bool is_new) {
  ++(is_new ? since_.new_left_queue : since_.old_left_queue);
  if (!is_new) since_.old_left_tokens += event.prompt_tokens;
  if (!is_new || !event.streamed) return;
  --since_.new_waiting.requests;
  since_.new_waiting.prompt_tokens -= event.prompt_tokens;
}

double ReplicaPage::queue_now() const {
  const double shown = *page_.queue_depth;
  const double in_prefill = std::max(0.0, static_cast<double>(waiting_then_.requests) - shown);
  const double left = std::max(0.0, static_cast<double>(since_.old_left_queue) - in_prefill);
  const double came = static_cast<double>(since_.dispatched - since_.new_left_queue);
  return std::max(0.0, shown - left) + std::max(0.0, came);
}

double ReplicaPage::running_now() const {
  double left_queue = 0;
  if (page_.queue_depth) {
    const double in_prefill =
        std::max(0.0, static_cast<double>(waiting_then_.requests) - *page_.queue_depth);
    left_queue = std::clamp(static_cast<double>(since_.old_left_queue) - in_prefill, 0.0,
                            *page_.queue_depth);
  }
  return std::max(0.0, *page_.running + left_queue + static_cast<double>(since_.new_tokens) -
                           static_cast<double>(since_.ended_running));
}

std::optional<double> ReplicaPage::kv_used_now(bool corrected) const {
  if (!page_.kv_used_fraction) return std::nullopt;
  const TokenCount capacity = kv_capacity_tokens();
  if (!corrected || capacity <= 0) return page_.kv_used_fraction;
  // A value that is out of range on the page stays so: it is unknown, not a number to correct.
  if (!(*page_.kv_used_fraction >= 0 && *page_.kv_used_fraction <= 1)) {
    return page_.kv_used_fraction;
  }
  const double moved =
      (queued_kv_tokens_ + static_cast<double>(since_.kv_tokens)) / static_cast<double>(capacity);
  return std::clamp(*page_.kv_used_fraction + moved, 0.0, 1.0);
}

bool ReplicaPage::carries(Signal signal) const {
  if (!has_page_) return false;
  switch (signal) {
    case Signal::kKvUsedFraction:
      return page_.kv_used_fraction.has_value();
    case Signal::kKvFreeTokens:
      return page_.kv_used_fraction.has_value() && kv_capacity_tokens() > 0;
    case Signal::kQueueDepth:
      return page_.queue_depth.has_value();
    case Signal::kRunning:
      return page_.running.has_value();
    case Signal::kPrefixHitRate:
      return page_.prefix_queries.has_value() && page_.prefix_hits.has_value();
    case Signal::kPreemptionRate:
      return page_.preemptions.has_value();
    case Signal::kDecodeTokensPerS:
      return page_.generated_tokens.has_value();
    case Signal::kReplicasFullFraction:
      return page_.queue_depth.has_value() || page_.kv_used_fraction.has_value();
    default:
      return false;
  }
}

Reading ReplicaPage::read(Signal signal, bool corrected) const {
  if (!carries(signal)) return Reading::unknown();
  const auto known = [&](double value) { return Reading::of(signal, value, page_.observed_at); };
  switch (signal) {
    case Signal::kKvUsedFraction:
      return known(*kv_used_now(corrected));
    case Signal::kKvFreeTokens: {
      const double used = *kv_used_now(corrected);
      if (!Reading::of(Signal::kKvUsedFraction, used, page_.observed_at).is_known()) break;
      return known(static_cast<double>(kv_capacity_tokens()) * (1 - used));
    }
    case Signal::kQueueDepth:
      if (!Reading::of(signal, *page_.queue_depth, page_.observed_at).is_known()) break;
      return known(corrected ? queue_now() : *page_.queue_depth);
    case Signal::kRunning:
      if (!Reading::of(signal, *page_.running, page_.observed_at).is_known()) break;
      return known(corrected ? running_now() : *page_.running);
    case Signal::kPrefixHitRate:
      if (rates_.queries <= 0) break;  // nobody looked: no rate, not a rate of zero
      return known(rates_.hits / rates_.queries);
    case Signal::kPreemptionRate:
      if (rates_.seconds <= 0) break;
      return known(rates_.preemptions / rates_.seconds);
    case Signal::kDecodeTokensPerS:
      if (rates_.seconds <= 0) break;
      return known(rates_.generated / rates_.seconds);
    default:
      break;
  }
  return Reading::unknown();
}

}  // namespace inferscale
