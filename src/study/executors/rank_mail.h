// What the ranks of a study say to each other: messages with a kind, and farewells.
//
// All goes between rank 0 and the others; the others never talk among themselves. A rank that ends,
// for whatever reason, says so; nobody ends before all have said it, so that none waits for a rank
// that is gone and none is killed by the launcher while it has something to say.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "study/executors/mpi_world.h"

namespace inferscale {

enum class MailKind : std::uint8_t {
  kReady,    // to rank 0: a rank begins a batch; hash of its runs, threads
  kRuns,     // from rank 0: runs to simulate
  kEnded,    // to rank 0: a run and its record, or that it was stopped
  kRecords,  // from rank 0: records of the batch, to all
  kStop,     // from rank 0: stop what goes on
  kFarewell  // both ways: the error that a rank ends with, if any
};

struct Mail {
  int from = 0;
  MailKind kind = MailKind::kReady;
  std::uint32_t batch = 0;
  std::string content;
};

struct Farewell {
  int rank = 0;
  std::optional<Error> error;
};

class RankMail {
 public:
  explicit RankMail(std::unique_ptr<MpiWorld> world);
  RankMail(const RankMail&) = delete;
  RankMail& operator=(const RankMail&) = delete;

  int rank() const { return world_->rank(); }
  int ranks() const { return world_->ranks(); }
  int ranks_on_machine() const { return world_->ranks_on_machine(); }

  void send(int to, MailKind kind, std::uint32_t batch, const std::string& content);
  // The next message if there is one; farewells are noted instead.
  std::optional<Mail> receive();
  // The first rank that ends.
  const std::optional<Farewell>& farewell() const { return farewell_; }
  // Says farewell, waits for the others', and leaves the world.
  void leave(const std::optional<Error>& error);

 private:
  std::unique_ptr<MpiWorld> world_;
  std::set<int> gone_;
  std::optional<Farewell> farewell_;
};

}  // namespace inferscale
