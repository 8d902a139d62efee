// The ranks that this process is one of, if mpirun or Slurm started it as one of several.
//
// Commands that run studies run on all ranks, and join the others first; all other commands run on
// rank 0 alone. Only rank 0 talks to people.

#pragma once

#include <optional>

#include "base/result.h"
#include "study/executors/rank_mail.h"

namespace inferscale {

// As the environment says; read once.
const Launch& launch();
inline bool speaks() {
  return launch().rank == 0;
}

// Joins the other ranks, where there are any.
Result<void> join_ranks();
// REQUIRES: join_ranks() succeeded, and leave_ranks() was not called.
RankMail& joined_ranks();
// Says to the others how this rank ended, and waits for them. Nothing if this rank has not joined.
void leave_ranks(const std::optional<Error>& error);

}  // namespace inferscale
