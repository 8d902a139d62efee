// From attempts to requests: what callers saw of each call, whatever it took.
//
// A request that was retried has several attempts, each with an outcome of its own. Goodput and
// latency are of requests: they count from the first attempt's arrival to what the attempt that
// counts delivered. The other attempts are kept beside (attempts.jsonl) and never mixed in.
//
// Cost: two readings of the attempts, 64 bytes for each request.

#pragma once

#include <span>
#include <vector>

#include "core/client_record.h"
#include "core/outcome.h"
#include "core/session_record.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

// The outcomes of requests, in order of first arrival. `attempts` are those that `clients` refers
// to; `slo`, or the class of an attempt, is what a stall in a resumed stream is judged by. Of
// each request:
//
//   arrival       of its first attempt
//   start, first token, cached tokens
//                 of the attempt whose first token the client kept: the last one, or where a broken
//                 stream was resumed an earlier one; never and 0 where none came
//   finish        of the last attempt, when it finished and the client was still there
//   prompt        of the first attempt: a resumed attempt's is longer by what had come
//   output        what the client kept, of resumed streams together
//   stalls        of all kept attempts, and the time between the last token of a broken stream and
//                 the next one
//   status        finished; refused, deferred or lost as the last attempt was; abandoned when the
//                 client left, or its stream broke, and it did not come again; unfinished
std::vector<Outcome> fold_attempts(std::span<const Outcome> attempts, const ClientRecords& clients,
                                   const Slo& slo, const RequestClasses& classes = {});

// The same table for the calls of agent programs, whose attempts are told by `programs.call_of`: a
// row for each call that was presented, in order of the instants at which they were ready (and
// then of calls).
ClientRecords client_records_of(const ProgramRecords& programs, std::span<const Outcome> attempts);

}  // namespace inferscale
