// Everything that one run leaves behind, as plain data: what a run folder is written from.

#pragma once

#include <span>
#include <string>

#include "base/json_writer.h"
#include "core/carried_columns.h"
#include "core/client_record.h"
#include "core/outcome.h"
#include "core/replica_report.h"
#include "core/session_record.h"
#include "core/signal_sample.h"
#include "core/slo.h"
#include "core/slo_class.h"

namespace inferscale {

// The spans are owned by whoever ran it and outlive the record.
struct RunRecord {
  JsonValue manifest = JsonValue::object();  // all facts but `schema` and `version`
  JsonValue summary = JsonValue::object();
  std::span<const Outcome> outcomes;  // in order of arrival: the index is the request's id
  // Of a run whose clients may come again: `outcomes` are then of requests, in the order of
  // `clients->requests`, and these are of the attempts that they made, by id.
  std::span<const Outcome> attempts;
  const ClientRecords* clients = nullptr;  // null: every attempt is a request of its own
  Slo slo;                                 // what `slo_met` of each request is judged by
  RequestClasses classes;                  // in place of it; of the outcomes
  CarriedColumns carried;
  std::span<const SignalSample> signals;
  std::span<const ReplicaReport> replicas;     // empty: the run has no rows of replicas
  const ProgramRecords* programs = nullptr;    // of a run of agent programs
  std::span<const std::string> session_names;  // of these; empty: they have none
  bool with_prefix_cache = false;              // outcomes then say what their prompts found there
  bool with_outcomes = true;                   // false: leave the outcomes out of the folder
};

}  // namespace inferscale
