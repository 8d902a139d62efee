#include "report/studies/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string side_line(JsonFields& result, const char* key, const char* head) {
  const Json* side = result.object(key);
  if (side == nullptr) return {};
  JsonFields fields(*side, kResultPlace, std::string(key) + ".");
  const std::string name = fields.text("name");
  const std::string file = fields.text("file");
  if (fields.failed()) result.fail(key, fields.error().message);
  return fmt::format("{:<11}{}\n", head, name.empty() ? file : name + " (" + file + ")");
}

std::string changes_text(JsonFields& result) {
  std::string out;
  each_member(result, "changes", [&](JsonFields& change) {
    out += wrapped(
        out.empty() ? "Changed    " : "           ",
        change.text("key") + ": " + change.text("baseline") + " -> " + change.text("treatment"));
  });
  return out.empty() ? "Changed    nothing\n" : out;
}

std::string failures_text(JsonFields& result) {
  constexpr std::size_t kMostShown = 10;
  std::vector<std::string> lines;
  each_member(result, "failures", [&](JsonFields& failed) {
    lines.push_back("  " + failed.text("alternative") + ", " + failed.text("run") + ": " +
                    failed.text("reason") + "\n");
  });
  if (lines.empty()) return {};
  std::string out = "\n" + number_of(static_cast<std::int64_t>(lines.size()), "run") +
                    " could not be simulated, and what was to be compared with them is left out:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostShown); ++i) out += lines[i];
  if (lines.size() > kMostShown) {
    out += fmt::format("  and {} more (result.json has all)\n", lines.size() - kMostShown);
  }
  return out;
}

bool is_long(double value, const std::string& unit) {
  return unit == "ms" && in_seconds(value);
}

}  // namespace

void each_member(JsonFields& fields, const char* key,
                 const std::function<void(JsonFields& member)>& body) {
  const Json* list = fields.list(key);
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& item = (*list)[i];
    const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
    if (!item.is_object()) return fields.fail(at, "expected a map");
    JsonFields member(item, kResultPlace);
    body(member);
    if (member.failed()) return fields.fail(at, member.error().message);
  }
}

std::string alternatives_text(JsonFields& result) {
  std::string out = side_line(result, "baseline", "Baseline");
  out += side_line(result, "treatment", "Treatment");
  return out + changes_text(result);
}

std::string closing_text(JsonFields& result) {
  const std::string failures = failures_text(result);
  return failures + notes_text(result);
}

std::string notes_text(JsonFields& result) {
  std::string out;
  const Json* notes = result.list("notes");
  if (notes == nullptr) return out;
  for (const Json& note : *notes) {
    if (!note.is_string()) {
      result.fail("notes", "expected texts");
      return out;
    }
    out += "\n" + wrapped("Note: ", note.get<std::string>());
  }
  return out;
}

std::string figure(double value) {
  const double size = std::fabs(value);
  if (size >= 999.95) return fmt::format("{:.0f}", value);
  if (size >= 1e-4 || size == 0) return fmt::format("{:.4g}", value);
  return fmt::format("{:.1e}", value);
}

std::string signed_percent(double share) {
  const double percent = 100 * share;
  const double size = std::fabs(percent);
  if (size > 0 && size < 0.1) return fmt::format("{:+.1g} %", percent);
  if (size >= 1000) return fmt::format("{:+.0f} %", percent);
  return percent == 0 ? "0 %" : fmt::format("{:+.1f} %", percent);
}

std::string delta_figure(double value) {
  if (std::fabs(value) >= 999.5) return fmt::format("{:+.0f}", value);
  return value == 0 ? "0" : fmt::format("{:+.3g}", value);
}

bool in_seconds(double milliseconds) {
  return std::fabs(milliseconds) >= 99'999.5;
}

std::string figure(double value, const std::string& unit) {
  return is_long(value, unit) ? figure(1e-3 * value) + " s" : figure(value);
}

std::string delta_figure(double value, const std::string& unit) {
  return is_long(value, unit) ? delta_figure(1e-3 * value) + " s" : delta_figure(value);
}

std::string interval_text(double low, double high, const std::string& unit) {
  return delta_figure(low, unit) + " to " + delta_figure(high, unit);
}

std::string figure_with_unit(double value, const std::string& unit) {
  const bool bare = unit.empty() || is_long(value, unit);
  return figure(value, unit) + (bare ? "" : " " + unit);
}

std::string enumeration(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? " and " : ", ";
    out += parts[i];
  }
  return out;
}

std::string number_of(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string wrapped(const std::string& head, const std::string& text) {
  constexpr std::size_t kColumns = 100;
  const std::string margin(display_width(head), ' ');
  std::string out;
  std::string line = head;
  bool begun = false;  // whether the line holds a word
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (begun && display_width(line) + 1 + display_width(word) > kColumns) {
      out += line + "\n";
      line = margin;
      begun = false;
    }
    line += (begun ? " " : "") + word;
    begun = true;
    at = space + 1;
  }
  return out + line + "\n";
}

}  // namespace inferscale
