#include "study/executors/message_bytes.h"

#include "study/metric.h"

namespace inferscale {
namespace {

static_assert(kMetricCount <= 64, "a bit for each figure");

enum class RecordKind : std::uint8_t { kNone, kFigures, kFailure };

}  // namespace

void put_text(std::string& out, std::string_view text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

void put_record(std::string& out, const std::optional<RunResult>& record) {
  if (!record) return put(out, RecordKind::kNone);
  if (!record->simulated()) {
    put(out, RecordKind::kFailure);
    return put_text(out, record->failure);
  }
  put(out, RecordKind::kFigures);
  std::uint64_t present = 0;
  for (const MetricInfo& info : all_metrics()) {
    if (record->figures[info.metric]) present |= 1ULL << static_cast<unsigned>(info.metric);
  }
  put(out, present);
  for (const MetricInfo& info : all_metrics()) {
    const std::optional<double> value = record->figures[info.metric];
    if (value) put(out, *value);
  }
}

std::optional<RunResult> MessageReader::take_record() {
  RunResult record;
  const auto kind = take<RecordKind>();
  if (kind == RecordKind::kNone) return std::nullopt;
  if (kind == RecordKind::kFailure) {
    record.failure = take_text();
    return record;
  }
  const auto present = take<std::uint64_t>();
  for (const MetricInfo& info : all_metrics()) {
    if ((present >> static_cast<unsigned>(info.metric) & 1U) == 0) continue;
    record.figures.set(info.metric, take<double>());
  }
  return record;
}

}  // namespace inferscale
