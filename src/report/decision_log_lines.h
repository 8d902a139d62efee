// The lines of `decisions.jsonl`, as docs/formats/decisions.md lays them down.
//
// Instants and spans are integer nanoseconds and other numbers the shortest text that reads back
// equal, so a record that is read again is the record that was written. Keys of callers are 64-bit
// numbers, which many readers of JSON round: they are written as 16 hexadecimal digits.

#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "core/decision_record.h"

namespace inferscale {

inline constexpr std::string_view kDecisionsSchema = "inferscale.decisions";
inline constexpr int kDecisionsSchemaVersion = 1;

// What the first line says of all others.
struct DecisionLogFacts {
  bool simulated = true;
  std::string policy;
  JsonValue more = JsonValue::object();  // anything else that a replay should know; other keys
};

std::string decision_log_head(const DecisionLogFacts& facts);  // with the end of its line
void append_decision_line(std::string& out, const DecisionRecord& record);

}  // namespace inferscale
