// What a routing decision costs, for each policy, in a fleet of 64 and one of 4,096 replicas.
//
// Each replica has 32 requests in flight; a request is dispatched, and the one dispatched longest
// ago ends. Requests come from 16 sessions a replica; a prompt has five content pieces: one that a
// tenant's sessions share and four of the session's own. "choose" is the decision alone, "request"
// is deciding, booking the dispatch and booking the end.
//
// Figures are CPU nanoseconds, the median of kRepeats runs in one process; ratios are to
// round_robin in the same fleet.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "base/random.h"
#include "report/text/text_table.h"
#include "routing/router.h"

namespace inferscale {
namespace {

constexpr int kRepeats = 5;
constexpr std::uint32_t kRequests = 500'000;
constexpr std::uint32_t kInFlight = 32;  // on each replica
constexpr std::uint32_t kSessions = 16;  // for each replica
constexpr std::uint32_t kPieces = 5;

constexpr RouterPolicy kPolicies[] = {
    RouterPolicy::kRoundRobin,  RouterPolicy::kRandom,          RouterPolicy::kLeastLoad,
    RouterPolicy::kLeastTokens, RouterPolicy::kLeastKv,         RouterPolicy::kPowerOfTwo,
    RouterPolicy::kPrefixAware, RouterPolicy::kSessionAffinity, RouterPolicy::kBoundedAffinity,
};

double cpu_ns() {
  return static_cast<double>(std::clock()) * (1e9 / CLOCKS_PER_SEC);
}

// The content of every session's prompts, and requests that draw a session each.
class Requests {
 public:
  explicit Requests(std::uint32_t replicas) : random_(1, "requests") {
    const std::uint32_t sessions = kSessions * replicas;
    for (std::uint32_t session = 0; session < sessions; ++session) {
      pieces_.push_back({.key = session / 256, .tokens = 1000});
      for (std::uint32_t piece = 1; piece < kPieces; ++piece) {
        pieces_.push_back({.key = (std::uint64_t{session} + 1) << 20 | piece, .tokens = 200});
      }
    }
  }

  Request next() {
    const auto session = static_cast<std::uint32_t>(random_.below(pieces_.size() / kPieces));
    const std::uint64_t bits = random_.next();
    return {.id = id_++,
            .prompt_tokens = 2000 + static_cast<std::uint32_t>(bits % 512),
            .max_tokens = 1 + static_cast<std::uint32_t>((bits >> 32) % 512),
            .content = &pieces_[std::size_t{session} * kPieces],
            .content_pieces = kPieces,
            .tenant = session / 256,
            .session = session};
  }

 private:
  std::vector<ContentPiece> pieces_;
  RandomStream random_;
  RequestId id_ = 0;
};

struct Cost {
  double choose_ns = 0;
  double request_ns = 0;
};

struct Sent {
  std::uint32_t replica = 0;
  RequestId id = 0;
};

Cost measure(RouterPolicy policy, std::uint32_t replicas) {
  Requests source(replicas);
  const std::vector<ReplicaTraits> traits(replicas, {.token_ns = 1e3, .kv_cache_tokens = 400'000});
  const auto router = make_router(RouterOptions{.policy = policy}, traits, 1);
  std::vector<Sent> in_flight(std::size_t{kInFlight} * replicas);
  std::vector<Request> requests;
  requests.reserve(kRequests);
  for (std::uint32_t i = 0; i < kRequests; ++i) requests.push_back(source.next());
  Instant now;
  const auto dispatch = [&](const Request& request, Sent& sent) {
    sent = {router->choose(request).value(), request.id};
    now = now + Duration::nanos(1000);
    router->dispatched(sent.replica, request, now);
  };
  for (Sent& sent : in_flight) dispatch(source.next(), sent);
  std::size_t oldest = 0;
  const double begin = cpu_ns();
  for (const Request& request : requests) {
    router->finished(in_flight[oldest].replica, in_flight[oldest].id, now);
    dispatch(request, in_flight[oldest]);
    oldest = oldest + 1 == in_flight.size() ? 0 : oldest + 1;
  }
  const double middle = cpu_ns();
  std::uint64_t sum = 0;
  for (const Request& request : requests) sum += router->choose(request).value();
  const double end = cpu_ns();
  if (sum == 0) std::abort();  // and so the choices can't be left out
  return {.choose_ns = (end - middle) / kRequests, .request_ns = (middle - begin) / kRequests};
}

Cost median_of(RouterPolicy policy, std::uint32_t replicas) {
  std::vector<double> choose;
  std::vector<double> request;
  for (int i = 0; i < kRepeats; ++i) {
    const Cost cost = measure(policy, replicas);
    choose.push_back(cost.choose_ns);
    request.push_back(cost.request_ns);
  }
  std::sort(choose.begin(), choose.end());
  std::sort(request.begin(), request.end());
  return {.choose_ns = choose[kRepeats / 2], .request_ns = request[kRepeats / 2]};
}

void run_benchmark() {
  TextTable table(
      {"policy", ">replicas", ">choose ns", ">to round_robin", ">request ns", ">to round_robin"});
  for (const std::uint32_t replicas : {64U, 4096U}) {
    Cost baseline;
    for (const RouterPolicy policy : kPolicies) {
      const Cost cost = median_of(policy, replicas);
      if (policy == RouterPolicy::kRoundRobin) baseline = cost;
      table.add({std::string(policy_name(policy)), std::to_string(replicas),
                 fmt::format("{:.0f}", cost.choose_ns),
                 fmt::format("{:.1f}", cost.choose_ns / baseline.choose_ns),
                 fmt::format("{:.0f}", cost.request_ns),
                 fmt::format("{:.1f}", cost.request_ns / baseline.request_ns)});
    }
  }
  fmt::print("{}", table.text());
}

}  // namespace
}  // namespace inferscale

int main() {
  inferscale::run_benchmark();
  return 0;
}
