#include "metrics/session_backlog.h"

#include <vector>

namespace inferscale {

Backlog judge_sessions(const ProgramRecords& records) {
  std::vector<Outcome> sessions;
  sessions.reserve(records.sessions.size());
  for (const SessionRecord& session : records.sessions) {
    Outcome& outcome = sessions.emplace_back();
    outcome.arrival = session.begin;
    outcome.start = session.begin;
    outcome.first_token = session.begin;
    if (session.end == Instant::never()) continue;
    outcome.finish = session.end;
    outcome.status = OutcomeStatus::kFinished;
  }
  return judge_backlog(sessions, Instant());
}

}  // namespace inferscale
