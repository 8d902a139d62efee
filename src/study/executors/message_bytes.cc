#include "study/executors/message_bytes.h"

#include <array>

#include "study/metric.h"

namespace inferscale {
namespace {

enum class RecordKind : std::uint8_t { kNone, kFigures, kFailure };

// A bit for each figure.
using Present = std::array<std::uint64_t, (kMetricCount + 63) / 64>;

std::uint64_t bit_of(Metric metric) {
  return std::uint64_t{1} << (static_cast<unsigned>(metric) % 64);
}

template <typename Words>
auto& word_of(Words& present, Metric metric) {
  return present[static_cast<std::size_t>(metric) / 64];
}

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
  Present present{};
  for (const MetricInfo& info : all_metrics()) {
    if (record->figures[info.metric]) word_of(present, info.metric) |= bit_of(info.metric);
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
  const auto present = take<Present>();
  for (const MetricInfo& info : all_metrics()) {
    if ((word_of(present, info.metric) & bit_of(info.metric)) == 0) continue;
    record.figures.set(info.metric, take<double>());
  }
  return record;
}

}  // namespace inferscale
