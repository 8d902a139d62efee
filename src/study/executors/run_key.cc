#include "study/executors/run_key.h"

#include "base/check.h"
#include "base/number_text.h"
#include "base/random.h"
#include "base/utf8.h"

namespace inferscale {

RunKey key_of(const Scenario& scenario, const RunRequest& request) {
  RunKey key{.scenario = valid_utf8(scenario.label()),
             .fingerprint = scenario.fingerprint(),
             .seed = request.seed,
             .settings = {},
             .scales = {request.scales.prefill, request.scales.decode, request.scales.transfer}};
  key.settings.reserve(request.settings.size());
  for (const Setting& setting : request.settings) {
    key.settings.push_back(valid_utf8(setting_text(setting)));
  }
  return key;
}

UniqueRuns::UniqueRuns(const std::vector<Scenario>& scenarios,
                       std::span<const RunRequest> requests) {
  run_of_request_.reserve(requests.size());
  for (const RunRequest& request : requests) {
    CHECK(request.scenario < scenarios.size()) << "a run of a scenario that the study has not";
    const auto [entry, fresh] =
        index_.try_emplace(key_of(scenarios[request.scenario], request), keys_.size());
    if (fresh) {
      keys_.push_back(&entry->first);
      requests_.push_back(&request);
    }
    run_of_request_.push_back(entry->second);
  }
}

std::uint64_t UniqueRuns::hash(const std::string& identity) const {
  std::string text = identity;
  for (const RunKey* key : keys_) {
    text += key->scenario + '\n' + std::to_string(key->fingerprint) + ' ' +
            std::to_string(key->seed) + '\n';
    for (const std::string& setting : key->settings) text += setting + '\n';
    for (const double scale : key->scales) text += number_text(scale) + '\n';
  }
  return stable_hash(text);
}

}  // namespace inferscale
