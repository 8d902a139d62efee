// What the texts of paired studies have in common: who is compared, what sets them apart, how
// figures are written, which runs failed, what a reader must know.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/json_fields.h"

namespace inferscale {

constexpr JsonPlace kResultPlace{"result.json"};

// Calls `body` with the fields of each member of the list `key`. The first error becomes `fields`'.
void each_member(JsonFields& fields, const char* key,
                 const std::function<void(JsonFields& member)>& body);

// "Baseline   whole-prompts (ab_baseline.yaml)" and so on, and the keys that differ.
std::string alternatives_text(JsonFields& result);
// Failed runs and notes; empty when there are none.
std::string closing_text(JsonFields& result);
// The result's notes alone.
std::string notes_text(JsonFields& result);

// Four significant digits, thousands as they are: 0.9863, 12.35, 13319.
std::string figure(double value);
std::string delta_figure(double value);    // three of them and a sign: "+0.53"
std::string signed_percent(double share);  // "+116.3 %"

// Whether milliseconds are so many (100,000) that they are written as "5403 s": latencies of a run
// whose backlog grows.
bool in_seconds(double milliseconds);
// The same with in_seconds() where the unit is "ms"; all others without their unit.
std::string figure(double value, const std::string& unit);
std::string delta_figure(double value, const std::string& unit);
std::string interval_text(double low, double high, const std::string& unit);
// With the unit in any case: "84.7 ms", "5403 s", "0.9863".
std::string figure_with_unit(double value, const std::string& unit);

// "a", "a and b", "a, b and c".
std::string enumeration(const std::vector<std::string>& parts);
std::string number_of(std::int64_t count, const std::string& noun);  // "1 run", "2 runs"

// Lines of at most 100 columns; those after the first begin below the first one's text.
std::string wrapped(const std::string& head, const std::string& text);

}  // namespace inferscale
