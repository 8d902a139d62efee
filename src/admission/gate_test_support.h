// Gates for tests: a policy that does what a test says, and the record of what was decided.

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "admission/gate.h"
#include "base/check.h"

namespace inferscale {

inline Instant at_s(double seconds) {
  return Instant() + Duration::from_seconds(seconds);
}

// Asks the test, and notes what it is told.
struct ScriptedCalls {
  std::function<Decision(const RequestView&, const PoolView&)> decide;
  PolicyNeeds needs;
  std::optional<Duration> tick_interval;
  int admitted = 0;
  int admitted_in_shadow = 0;
  std::vector<AttemptEnd> ends;
  int held = 0;
  int left_hold = 0;
  int ticks = 0;
};

class ScriptedPolicy final : public AdmissionPolicy {
 public:
  ScriptedPolicy(ScriptedCalls& calls, const PolicySetting& setting)
      : calls_(calls), setting_(setting) {}
  const PolicyNeeds& needs() const override { return calls_.needs; }
  Decision decide(const RequestView& request, const PoolView& pool) override {
    return calls_.decide(request, pool);
  }
  void on_admit(const RequestView&, Instant) override {
    ++(setting_.is_shadow ? calls_.admitted_in_shadow : calls_.admitted);
  }
  void on_outcome(const RequestView&, const AttemptEnd& end) override {
    calls_.ends.push_back(end);
  }
  void on_held(const RequestView&, Instant) override { ++calls_.held; }
  void on_left_hold(const RequestView&, Instant) override { ++calls_.left_hold; }
  void on_tick(const PoolView&) override { ++calls_.ticks; }
  std::optional<Duration> tick_interval() const override { return calls_.tick_interval; }

 private:
  ScriptedCalls& calls_;
  PolicySetting setting_;
};

class RecordedDecisions final : public DecisionSink {
 public:
  void on_decision(const DecisionRecord& record) override { records.push_back(record); }
  std::vector<DecisionRecord> records;
};

// Supplies everything, holds nobody.
inline GateOptions gate_options(ScriptedCalls& calls) {
  GateOptions options;
  options.policy_name = "scripted";
  options.policy = [&calls](const PolicySetting& setting) {
    return std::make_unique<ScriptedPolicy>(calls, setting);
  };
  options.on_stale = StaleRule::kClosed;
  options.supply = {
      .source = "the test", .service_model = true, .outcomes = true, .workload = "the test"};
  for (const SignalSpec& spec : all_signals()) options.supply.signals.add(spec.signal);
  return options;
}

inline std::unique_ptr<AdmissionGate> make_gate(const GateOptions& options) {
  Result<std::unique_ptr<AdmissionGate>> gate = AdmissionGate::create(options);
  CHECK(gate.has_value()) << gate.error().to_string();
  return std::move(*gate);
}

inline RequestView call_of(std::uint64_t request, CallerKey tenant = 1) {
  return {.request = request, .tenant = tenant, .prompt_tokens = 100, .max_tokens = 50};
}

}  // namespace inferscale
