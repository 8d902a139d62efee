#include "report/decision_log.h"

namespace inferscale {
namespace {

constexpr std::size_t kBufferBytes = 1 << 16;

}  // namespace

Result<DecisionLog> DecisionLog::create(const std::string& path, const DecisionLogFacts& facts) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  DecisionLog created(std::move(*file));
  created.buffer_ = decision_log_head(facts);
  return created;
}

void DecisionLog::write() {
  if (!error_) {
    if (Result<void> written = file_.append(buffer_); !written) error_ = written.error();
  }
  buffer_.clear();
}

void DecisionLog::on_decision(const DecisionRecord& record) {
  ++decisions_;
  append_decision_line(buffer_, record);
  if (buffer_.size() >= kBufferBytes) write();
}

Result<void> DecisionLog::finish() {
  write();
  if (error_) return std::unexpected(*error_);
  return file_.finish();
}

}  // namespace inferscale
