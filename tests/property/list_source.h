// A request source that hands out a list.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "workload/request_source.h"

namespace inferscale {

class ListSource final : public RequestSource {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }
  std::uint64_t size() const override { return requests_.size(); }

 private:
  std::vector<Request> requests_;
  std::size_t at_ = 0;
};

}  // namespace inferscale
