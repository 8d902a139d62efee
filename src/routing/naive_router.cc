#include "routing/naive_router.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace inferscale {
namespace {

bool is_known(const ReplicaSignals& reading) {
  return reading.queue_depth && reading.running && *reading.queue_depth >= 0 &&
         *reading.running >= 0;
}

std::pair<int, std::uint32_t> owner_of(const Request& request) {
  if (request.session != Request::kNobody) return {1, request.session};
  if (request.tenant != Request::kNobody) return {2, request.tenant};
  return {0, 0};
}

}  // namespace

void NaiveRouter::add_replica(const ReplicaTraits& traits) {
  replicas_.push_back({.traits = traits, .read_at = calls_.size(), .began = calls_.size()});
}

void NaiveRouter::observe(std::uint32_t replica, const ReplicaSignals& signals) {
  replicas_[replica].reading = signals;
  replicas_[replica].read_at = calls_.size();
}

void NaiveRouter::dispatched(std::uint32_t replica, const Request& request, Instant now) {
  calls_.push_back({.replica = replica, .request = request, .at = now});
}

void NaiveRouter::finished(std::uint32_t replica, RequestId request, Instant now) {
  std::size_t dispatch = calls_.size();
  while (calls_[dispatch - 1].is_end || calls_[dispatch - 1].request.id != request) --dispatch;
  calls_.push_back({.replica = replica,
                    .request = calls_[dispatch - 1].request,
                    .at = now,
                    .is_end = true,
                    .dispatch = dispatch - 1});
}

void NaiveRouter::forget(std::uint32_t replica) {
  replicas_[replica].reading = {};
  replicas_[replica].began = calls_.size();
}

bool NaiveRouter::is_in_reading(std::size_t call) const {
  const Replica& of = replicas_[calls_[call].replica];
  if (call >= of.read_at) return false;
  return options_.staleness == Duration() || calls_[call].at <= of.reading.observed_at;
}

NaiveRouter::Sums NaiveRouter::in_flight(std::uint32_t replica) const {
  Sums sums;
  for (const Call& call : calls_) {
    if (call.replica != replica) continue;
    const int sign = call.is_end ? -1 : 1;
    sums.requests += sign;
    sums.tokens += sign * (TokenCount{call.request.prompt_tokens} + call.request.max_tokens);
    sums.prompts += sign * TokenCount{call.request.prompt_tokens};
  }
  return sums;
}

NaiveRouter::Sums NaiveRouter::since_reading(std::uint32_t replica) const {
  const ReplicaSignals& reading = replicas_[replica].reading;
  TokenCount share = 0;
  if (is_known(reading) && reading.tokens_in_flight) {
    const std::int64_t there = *reading.queue_depth + *reading.running;
    if (there > 0) share = *reading.tokens_in_flight / there;
  }
  Sums sums;
  for (std::size_t i = replicas_[replica].began; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    if (call.replica != replica || is_in_reading(i)) continue;
    const TokenCount tokens = TokenCount{call.request.prompt_tokens} + call.request.max_tokens;
    sums.requests += call.is_end ? -1 : 1;
    sums.prompts += (call.is_end ? -1 : 1) * TokenCount{call.request.prompt_tokens};
    sums.tokens += !call.is_end ? tokens : is_in_reading(call.dispatch) ? -share : -tokens;
  }
  return sums;
}

double NaiveRouter::requests(std::uint32_t replica) const {
  const ReplicaSignals& reading = replicas_[replica].reading;
  if (!is_known(reading)) return static_cast<double>(in_flight(replica).requests);
  const std::int64_t read = *reading.queue_depth + *reading.running;
  if (!options_.corrections) return static_cast<double>(read);
  return static_cast<double>(std::max<std::int64_t>(0, read + since_reading(replica).requests));
}

double NaiveRouter::tokens(std::uint32_t replica) const {
  const ReplicaSignals& reading = replicas_[replica].reading;
  if (!reading.tokens_in_flight) return static_cast<double>(in_flight(replica).tokens);
  if (!options_.corrections) return static_cast<double>(*reading.tokens_in_flight);
  return static_cast<double>(
      std::max<TokenCount>(0, *reading.tokens_in_flight + since_reading(replica).tokens));
}

double NaiveRouter::load(std::uint32_t replica) const {
  const Replica& of = replicas_[replica];
  const auto cache = static_cast<double>(of.traits.kv_cache_tokens);
  switch (options_.policy) {
    case RouterPolicy::kLeastTokens:
    case RouterPolicy::kPrefixAware:
      return tokens(replica) / of.traits.weight;
    case RouterPolicy::kBoundedAffinity:
      return tokens(replica) * of.traits.token_ns;
    case RouterPolicy::kLeastKv:
      if (!of.reading.kv_used_fraction) {
        return cache == 0 ? std::numeric_limits<double>::infinity()
                          : static_cast<double>(in_flight(replica).prompts) / cache;
      }
      if (!options_.corrections || cache == 0) return *of.reading.kv_used_fraction;
      return std::max(0.0, *of.reading.kv_used_fraction +
                               static_cast<double>(since_reading(replica).prompts) / cache);
    default:
      return requests(replica) / of.traits.weight;
  }
}

NaiveRouter::Order NaiveRouter::order(std::uint32_t replica) const {
  std::size_t last = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i].replica == replica && !calls_[i].is_end) last = i + 1;
  }
  const double weight = replicas_[replica].traits.weight;
  const double next = options_.policy == RouterPolicy::kLeastKv ? requests(replica) / weight : 0;
  return {load(replica), next, -weight, last, replica};
}

std::vector<std::uint32_t> NaiveRouter::available() const {
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < replicas_.size(); ++i) {
    if (replicas_[i].available) indices.push_back(i);
  }
  return indices;
}

std::optional<std::uint32_t> NaiveRouter::least(const std::vector<std::uint32_t>& among) const {
  std::optional<Order> best;
  for (const std::uint32_t replica : among) {
    if (!best || order(replica) < *best) best = order(replica);
  }
  if (!best) return std::nullopt;
  return std::get<4>(*best);
}

// The last replica that the session was dispatched to, if it is among the sessions remembered.
std::optional<std::uint32_t> NaiveRouter::home(const Request& request) const {
  const auto owner = owner_of(request);
  std::vector<std::pair<int, std::uint32_t>> later;
  for (std::size_t i = calls_.size(); i > 0; --i) {
    const Call& call = calls_[i - 1];
    const auto other = owner_of(call.request);
    if (call.is_end || other.first == 0) continue;
    if (other == owner) {
      const bool lost = options_.policy == RouterPolicy::kBoundedAffinity &&
                        replicas_[call.replica].began > i - 1;
      if (lost || !replicas_[call.replica].available) return std::nullopt;
      return call.replica;
    }
    if (std::find(later.begin(), later.end(), other) == later.end()) later.push_back(other);
    if (later.size() == static_cast<std::size_t>(options_.most_sessions)) return std::nullopt;
  }
  return std::nullopt;
}

TokenCount NaiveRouter::matched(std::uint32_t replica, const Request& request) const {
  // The replica's pieces, the one used longest ago first.
  std::deque<ContentPiece> pieces;
  for (std::size_t i = replicas_[replica].began; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    if (call.replica != replica || call.is_end) continue;
    for (std::uint32_t p = call.request.content_pieces; p > 0; --p) {
      const ContentPiece piece = call.request.content[p - 1];
      std::erase_if(pieces, [&](const ContentPiece& other) { return other.key == piece.key; });
      pieces.push_back(piece);
      const auto tokens = [&] {
        TokenCount sum = 0;
        for (const ContentPiece& each : pieces) sum += std::max<TokenCount>(16, each.tokens);
        return sum;
      };
      while (tokens() > options_.index_tokens) pieces.pop_front();
    }
  }
  TokenCount matched = 0;
  for (std::uint32_t p = 0; p < request.content_pieces; ++p) {
    const bool held = std::any_of(pieces.begin(), pieces.end(), [&](const ContentPiece& piece) {
      return piece.key == request.content[p].key;
    });
    if (!held) break;
    matched += request.content[p].tokens;
  }
  return matched;
}

std::optional<std::uint32_t> NaiveRouter::least_cost(const Request& request) const {
  std::optional<std::pair<double, Order>> best;
  for (const std::uint32_t replica : available()) {
    const double missing = static_cast<double>(request.prompt_tokens - matched(replica, request));
    const std::pair cost(load(replica) + options_.prefix_weight * missing, order(replica));
    if (!best || cost < *best) best = cost;
  }
  if (!best) return std::nullopt;
  return std::get<4>(best->second);
}

std::optional<std::uint32_t> NaiveRouter::choose(const Request& request) const {
  const std::vector<std::uint32_t> open = available();
  if (open.empty()) return std::nullopt;
  SplitMix64 bits(SplitMix64(SplitMix64(seed_).next() ^ stable_hash("router")).next() + request.id);
  const auto draw = [&](std::size_t bound) { return (bits.next() >> 32) * bound >> 32; };
  switch (options_.policy) {
    case RouterPolicy::kRoundRobin: {
      auto last = calls_.rbegin();
      while (last != calls_.rend() && last->is_end) ++last;
      if (last == calls_.rend()) return open.front();
      const auto next = std::upper_bound(open.begin(), open.end(), last->replica);
      return next == open.end() ? open.front() : *next;
    }
    case RouterPolicy::kRandom:
      return open[draw(open.size())];
    case RouterPolicy::kPowerOfTwo: {
      if (open.size() == 1) return open.front();
      std::vector<std::uint32_t> others = open;
      const std::size_t first = draw(open.size());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(first));
      return least({open[first], others[draw(others.size())]});
    }
    case RouterPolicy::kPrefixAware:
      return least_cost(request);
    case RouterPolicy::kSessionAffinity: {
      const auto stays = home(request);
      return stays ? stays : least(open);
    }
    case RouterPolicy::kBoundedAffinity: {
      const auto stays = home(request);
      const auto away = least(open);
      const auto slack_ns = static_cast<double>(options_.affinity_slack.ns());
      return stays && load(*stays) - load(*away) <= slack_ns ? stays : away;
    }
    default:
      return least(open);
  }
}

}  // namespace inferscale
