#include "cli/launch.h"

#include <cstdlib>
#include <memory>

#include "base/check.h"

namespace inferscale {
namespace {

// A process is one rank, whoever asks, and what ends without leave_ranks() ends the whole job.
std::unique_ptr<RankMail>& ranks() {
  static std::unique_ptr<RankMail> joined;
  return joined;
}

}  // namespace

const Launch& launch() {
  static const Launch read = launch_of([](const char* name) { return std::getenv(name); });
  return read;
}

Result<void> join_ranks() {
  Result<std::unique_ptr<MpiWorld>> world = MpiWorld::join(launch());
  if (!world) return std::unexpected(world.error());
  ranks() = std::make_unique<RankMail>(std::move(*world));
  return {};
}

RankMail& joined_ranks() {
  CHECK(ranks() != nullptr) << "a study in a command that does not say that it runs on all ranks";
  return *ranks();
}

void leave_ranks(const std::optional<Error>& error) {
  if (ranks() == nullptr) return;
  ranks()->leave(error);
  ranks().reset();
}

}  // namespace inferscale
