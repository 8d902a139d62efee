#include "report/decision_log_comparison.h"

#include <utility>

#include "report/decision_log_lines.h"

namespace inferscale {

Result<DecisionLogComparison> DecisionLogComparison::open(const std::string& path,
                                                          std::int64_t recorded) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return std::unexpected(lines.error());
  std::string head;
  const Result<bool> has_head = lines->next(head);
  if (!has_head) return std::unexpected(has_head.error());
  return DecisionLogComparison(std::move(*lines), recorded);
}

void DecisionLogComparison::on_decision(const DecisionRecord& record) {
  ++finding_.taken;
  if (error_ || finding_.first_other_line || finding_.taken > finding_.recorded) return;
  const Result<bool> more = lines_.next(recorded_line_);
  if (!more) {
    error_ = more.error();
    return;
  }
  line_.clear();
  append_decision_line(line_, record);
  line_.pop_back();  // the end of the line
  if (!*more || line_ != recorded_line_) finding_.first_other_line = finding_.taken + 1;
}

Result<DecisionLogComparison::Finding> DecisionLogComparison::finish() {
  if (error_) return std::unexpected(*error_);
  if (finding_.taken < finding_.recorded && !finding_.first_other_line) {
    finding_.first_other_line = finding_.taken + 2;
  }
  return finding_;
}

}  // namespace inferscale
