// Where the time of a run of agent programs went. A person who is away for two days keeps a run
// going that is otherwise over: its rates and its means over time are then of hours in which next
// to nothing happened. These figures say so.
//
// Cost: eight bytes for each turn that finished.

#pragma once

#include <optional>
#include <span>

#include "core/outcome.h"
#include "core/session_record.h"

namespace inferscale {

struct SessionTimes {
  double last_begin_s = 0;         // of the sessions that began before the end
  double after_share = 0;          // of the run's time: what lies after that
  double after_sessions_mean = 0;  // sessions in progress in it, mean over it
  // Nothing when no turn finished.
  std::optional<Instant> most_turns;                     // see most_turns_finished
  std::optional<double> most_turns_output_tokens_per_s;  // until then, of turns finished by then

  // After its last session began the run took longer than before.
  bool long_tail() const { return after_share > 0.5; }
};

// The instant by which 99 % of the turns that finished had finished: the value of rank
// ceil(0.99 n). Nothing when there are none.
std::optional<Instant> most_turns_finished(std::span<const CallRecord> calls,
                                           std::span<const Outcome> outcomes);

// The part of the run that plots over time show: up to `most_turns_finished` where more than half
// of the run comes after it, else up to `end`, which is that of the run.
Instant busy_end(std::span<const CallRecord> calls, std::span<const Outcome> outcomes, Instant end);

// `outcomes` are those that `records` refer to.
SessionTimes session_times(const ProgramRecords& records, std::span<const Outcome> outcomes,
                           Instant end);

}  // namespace inferscale
