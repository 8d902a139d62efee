// What replicas told: whether it is the same, and how it reads in the message of a failure.

#include <algorithm>
#include <cstring>

#include "property/replica_runs.h"

namespace inferscale {

bool Report::operator==(const Report& other) const {
  return kind == other.kind && replica == other.replica && at == other.at && id == other.id &&
         std::memcmp(&outcome, &other.outcome, sizeof(Outcome)) == 0 &&
         std::equal(std::begin(figures), std::end(figures), std::begin(other.figures));
}

std::string Report::describe() const {
  const char* kinds[] = {"ended", "handed over", "reserved", "lost"};
  std::string text = "request " + std::to_string(id) + " " + kinds[static_cast<size_t>(kind)] +
                     " by replica " + std::to_string(replica) + " at " + std::to_string(at.ns());
  if (kind == Kind::kRecord) {
    text +=
        ": " + std::string(status_name(outcome.status)) + " " +
        std::string(reason_name(outcome.reason)) + ", start " + std::to_string(outcome.start.ns()) +
        ", first token " + std::to_string(outcome.first_token.ns()) + ", finish " +
        std::to_string(outcome.finish.ns()) + ", longest gap " +
        std::to_string(outcome.itl_max.ns()) + ", over " + std::to_string(outcome.gaps_over_limit) +
        ", preemptions " + std::to_string(outcome.preemptions) + ", cached " +
        std::to_string(outcome.cached_tokens);
  } else {
    for (const std::int64_t figure : figures) text += " " + std::to_string(figure);
  }
  return text;
}

}  // namespace inferscale
