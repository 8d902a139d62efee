// A pool for tests of policies: shows just the readings that a test puts in, and stops a policy
// that reads what it did not declare.

#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy.h"
#include "admission/registry.h"
#include "base/check.h"
#include "base/config_node.h"
#include "base/config_reader.h"

namespace inferscale {

class FakePool final : public PoolView {
 public:
  explicit FakePool(SignalSet declared = {}) : declared_(declared) {}

  Instant now() const override { return now_; }
  Reading read(Signal signal) const override {
    CHECK(declared_.has(signal)) << "not declared: " << spec_of(signal).name;
    return pool_[static_cast<std::size_t>(signal)];
  }
  std::uint32_t replicas() const override { return static_cast<std::uint32_t>(each_.size()); }
  Reading read_replica(Signal signal, std::uint32_t replica) const override {
    CHECK(declared_.has(signal)) << "not declared: " << spec_of(signal).name;
    return each_[replica][static_cast<std::size_t>(signal)];
  }
  const ServiceModel& service() const override { return service_; }

  void set_declared(SignalSet declared) { declared_ = declared; }
  void set_now(double seconds) { now_ = Instant() + Duration::from_seconds(seconds); }
  void set(Signal signal, double value) {
    pool_[static_cast<std::size_t>(signal)] = {.value = value, .observed_at = now_};
  }
  void set_unknown(Signal signal) { pool_[static_cast<std::size_t>(signal)] = {}; }
  void set_replica(std::uint32_t replica, Signal signal, double value) {
    if (each_.size() <= replica) each_.resize(replica + 1);
    each_[replica][static_cast<std::size_t>(signal)] = {.value = value, .observed_at = now_};
  }
  ServiceModel& service_model() { return service_; }

 private:
  using Row = std::array<Reading, kSignalCount>;
  SignalSet declared_;
  Instant now_;
  Row pool_;
  std::vector<Row> each_;
  ServiceModel service_;
};

// Parameters as they would be written: {{"max_waiting", "8"}, {"per", "tenant"}}.
using WrittenParameters = std::vector<std::pair<std::string, std::string>>;

inline ConfigNode parameters_for_test(const WrittenParameters& written) {
  ConfigNode map = ConfigNode::map({.source = "test"});
  for (const auto& [key, value] : written) {
    map.put(key, ConfigNode::scalar(value, false, {.source = "test"}), {.source = "test"});
  }
  return map;
}

// The policy's factory, or the error about its parameters.
inline Result<PolicyFactory> read_policy_for_test(std::string_view name,
                                                  const WrittenParameters& written) {
  const PolicyEntry* entry = find_policy(name);
  CHECK(entry != nullptr) << "no policy " << name;
  const ConfigNode tree = parameters_for_test(written);
  ConfigSession session;
  ConfigReader reader(tree, session);
  PolicyFactory factory = entry->read(reader);
  reader.finish();
  if (session.failed()) return std::unexpected(session.error());
  return factory;
}

// REQUIRES: the parameters are right.
inline std::unique_ptr<AdmissionPolicy> make_policy_for_test(std::string_view name,
                                                             const WrittenParameters& written = {},
                                                             std::uint64_t seed = 42) {
  const Result<PolicyFactory> factory = read_policy_for_test(name, written);
  CHECK(factory.has_value()) << factory.error().to_string();
  return (*factory)({.seed = seed});
}

}  // namespace inferscale
