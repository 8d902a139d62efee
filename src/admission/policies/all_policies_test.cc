// What holds for every policy in the table.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy_test_support.h"
#include "base/random.h"

namespace inferscale {
namespace {

// What a policy can't be made without.
WrittenParameters required_parameters(std::string_view policy) {
  if (policy == "equal_volume_shed") return {{"rate", "0.3"}};
  return {};
}

RequestView random_request(RandomStream& random, std::uint64_t number, Instant now) {
  RequestView request;
  request.request = number;
  request.tenant = 1 + random.below(5);
  request.session = 1 + random.below(20);
  request.root_session = request.session;
  request.prompt_tokens = static_cast<TokenCount>(1 + random.below(5'000));
  request.max_tokens = static_cast<TokenCount>(1 + random.below(1'000));
  request.predicted_output_tokens = request.max_tokens;
  request.arrival = now;
  request.ttft_deadline = now + Duration::from_seconds(0.2 + 5 * random.uniform());
  request.itl_target = Duration::from_seconds(0.05);
  request.priority = static_cast<std::int32_t>(random.below(5)) - 2;
  request.slo_class = static_cast<std::uint8_t>(random.below(2));
  return request;
}

double random_value(Signal signal, RandomStream& random) {
  return random.uniform() * std::min(spec_of(signal).most, 30.0);
}

constexpr std::uint32_t kReplicas = 3;

void set_readings(FakePool& pool, RandomStream& random) {
  for (const SignalSpec& spec : all_signals()) {
    pool.set(spec.signal, random_value(spec.signal, random));
    for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
      pool.set_replica(replica, spec.signal, random_value(spec.signal, random));
    }
    if (random.below(10) == 0) pool.set_unknown(spec.signal);
  }
}

// A random course of decisions, admissions, ends and readings, the same for the same seed.
std::vector<Decision> decisions(AdmissionPolicy& policy, std::uint64_t seed) {
  RandomStream random(seed, "course");
  FakePool pool(policy.needs().signals);
  pool.service_model() = {.step_ns = 7e6,
                          .prefill_ns_per_token = 8e4,
                          .decode_ns_per_sequence = 2.5e5,
                          .chunk_tokens = 512,
                          .kv_capacity_tokens = 100'000,
                          .max_num_seqs = 64,
                          .replicas = kReplicas,
                          .provenance = ServiceProvenance::kCatalogue,
                          .confidence = 1};
  std::vector<Decision> taken;
  std::vector<RequestView> running;
  double seconds = 0;
  for (std::uint64_t number = 0; number < 3'000; ++number) {
    seconds += 0.1 * random.uniform();
    pool.set_now(seconds);
    set_readings(pool, random);
    policy.on_reading(pool);
    if (policy.tick_interval()) policy.on_tick(pool);
    const RequestView request = random_request(random, number, pool.now());
    taken.push_back(policy.decide(request, pool));
    if (taken.back().admitted()) {
      policy.on_admit(request, pool.now());
      running.push_back(request);
    } else if (taken.back().verdict == Verdict::kDefer && taken.back().may_hold) {
      policy.on_held(request, pool.now());
      policy.on_left_hold(request, pool.now());
    }
    if (running.empty() || random.below(3) == 0) continue;
    const RequestView ended = running.front();
    running.erase(running.begin());
    policy.on_outcome(ended, {.end = PermitEnd::kFinished,
                              .admitted_at = ended.arrival,
                              .dispatched_at = ended.arrival,
                              .first_token = ended.arrival,
                              .now = pool.now(),
                              .output_tokens = ended.max_tokens,
                              .in_flight_at_admission = 5});
  }
  return taken;
}

bool same(const Decision& a, const Decision& b) {
  return a.verdict == b.verdict && a.reason == b.reason && a.retry_after == b.retry_after &&
         a.may_hold == b.may_hold && a.wakes_held == b.wakes_held && a.failed == b.failed;
}

TEST(AllPolicies, TheSameInputsInTheSameOrderGiveTheSameDecisions) {
  for (const PolicyEntry& entry : all_policies()) {
    const WrittenParameters parameters = required_parameters(entry.card.name);
    if (!read_policy_for_test(entry.card.name, parameters).has_value()) continue;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const auto once = decisions(*make_policy_for_test(entry.card.name, parameters), seed);
      const auto twice = decisions(*make_policy_for_test(entry.card.name, parameters), seed);
      EXPECT_TRUE(std::equal(once.begin(), once.end(), twice.begin(), twice.end(), same))
          << entry.card.name << ", seed " << seed;
    }
  }
}

TEST(AllPolicies, ARefusalHasAReasonAndAnAdmissionHasNone) {
  for (const PolicyEntry& entry : all_policies()) {
    const WrittenParameters parameters = required_parameters(entry.card.name);
    if (!read_policy_for_test(entry.card.name, parameters).has_value()) continue;
    for (const Decision& d : decisions(*make_policy_for_test(entry.card.name, parameters), 7)) {
      ASSERT_EQ(d.admitted(), d.reason == Reason::kNone) << entry.card.name;
    }
  }
}

// Knows nothing but one signal, which is zero; whoever takes the values of the others for readings
// is misled.
class UnknownPool final : public PoolView {
 public:
  UnknownPool(double value, std::optional<Signal> known)
      : reading_{.value = value}, known_(known) {}
  Instant now() const override { return Instant(); }
  Reading read(Signal signal) const override {
    return signal == known_ ? Reading{.value = 0, .observed_at = now()} : reading_;
  }
  std::uint32_t replicas() const override { return 2; }
  Reading read_replica(Signal, std::uint32_t) const override { return reading_; }
  const ServiceModel& service() const override { return service_; }

 private:
  Reading reading_;
  std::optional<Signal> known_;
  ServiceModel service_{.kv_capacity_tokens = 1};
};

TEST(AllPolicies, UnknownSignalsRefuseNobody) {
  const std::vector<std::pair<const char*, WrittenParameters>> judged_by_signals = {
      {"fixed_concurrency", {}},
      {"token_budget", {}},
      {"queue_depth", {}},
      {"queue_age", {}},
      {"kv_threshold", {}},
      {"dual_gate", {}},
      {"probabilistic_shed",
       {{"probability", "1"}, {"signal", "queue_depth"}, {"low", "-1"}, {"high", "0"}}}};
  for (const auto& [name, parameters] : judged_by_signals) {
    const auto policy = make_policy_for_test(name, parameters);
    EXPECT_FALSE(policy->needs().signals.is_empty()) << name;
    for (const double value : {0.0, 1.0, 1e12}) {
      for (const std::optional<Signal> known :
           {std::optional<Signal>(), {Signal::kPrefixHitRate}}) {
        const UnknownPool pool(value, known);
        EXPECT_TRUE(policy->decide({.prompt_tokens = 1'000}, pool).admitted()) << name;
      }
    }
  }
}

TEST(AllPolicies, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const PolicyEntry& entry : all_policies()) {
    EXPECT_TRUE(names.insert(entry.card.name).second) << entry.card.name;
  }
}

// A card that lists other parameters than are read would be wrong in every report.
TEST(AllPolicies, CardsSayWhereEachParameterThatIsReadComesFrom) {
  for (const PolicyEntry& entry : all_policies()) {
    const ConfigNode empty = parameters_for_test({});
    ConfigSession session = ConfigSession::describing();
    ConfigReader reader(empty, session);
    entry.read(reader);
    std::set<std::string> read;
    for (const KeyDescription& key : session.descriptions()) read.insert(key.path);
    std::set<std::string> noted;
    for (const ParameterNote& note : entry.card.parameters) noted.insert(std::string(note.key));
    const bool all_are_read = std::includes(read.begin(), read.end(), noted.begin(), noted.end());
    EXPECT_TRUE(all_are_read) << entry.card.name;
    if (entry.card.name == "rules") continue;  // what they say is their author's
    EXPECT_EQ(read, noted) << entry.card.name;
  }
}

}  // namespace
}  // namespace inferscale
