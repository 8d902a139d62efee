// What tells one run of a study from another, on disk and between ranks: everything that its record
// follows from.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/run_request.h"
#include "study/scenario.h"

namespace inferscale {

struct RunKey {
  std::string scenario;  // its label
  std::uint64_t fingerprint = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> settings;      // "key=value", in the order of the request
  std::array<double, 3> scales{1, 1, 1};  // prefill, decode, transfer
  auto operator<=>(const RunKey&) const = default;
};

RunKey key_of(const Scenario& scenario, const RunRequest& request);

// The runs of a batch, each once, in the order in which they were first asked for.
class UniqueRuns {
 public:
  // The requests outlive this object.
  UniqueRuns(const std::vector<Scenario>& scenarios, std::span<const RunRequest> requests);

  std::size_t size() const { return keys_.size(); }
  const RunKey& key(std::size_t run) const { return *keys_[run]; }
  const RunRequest& request(std::size_t run) const { return *requests_[run]; }
  // Which of them each request of the batch is.
  const std::vector<std::size_t>& run_of_request() const { return run_of_request_; }
  // Equal for ranks that ask for the same in the same study.
  std::uint64_t hash(const std::string& identity) const;

 private:
  std::map<RunKey, std::size_t> index_;
  std::vector<const RunKey*> keys_;  // into index_
  std::vector<const RunRequest*> requests_;
  std::vector<std::size_t> run_of_request_;
};

}  // namespace inferscale
