#include "study/spread.h"

#include <algorithm>
#include <cmath>

namespace inferscale {

std::optional<Spread> spread_of(std::span<const RunResult> records, Metric metric) {
  if (records.empty()) return std::nullopt;
  Spread spread;
  const double count = static_cast<double>(records.size());
  double sum = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::optional<double> value = records[i].figures[metric];
    if (!value) return std::nullopt;
    sum += *value;
    spread.min = i == 0 ? *value : std::min(spread.min, *value);
    spread.max = i == 0 ? *value : std::max(spread.max, *value);
  }
  // Equal values have this mean, whatever their sum was rounded to.
  spread.mean = std::clamp(sum / count, spread.min, spread.max);
  if (records.size() < 2) return spread;
  double squares = 0;
  for (const RunResult& record : records) {
    const double apart = *record.figures[metric] - spread.mean;
    squares += apart * apart;
  }
  spread.sd = std::sqrt(squares / (count - 1));
  return spread;
}

JsonValue spread_json(const std::optional<Spread>& spread) {
  if (!spread) return {};
  return JsonValue::raw(JsonValue::object()
                            .add("mean", spread->mean)
                            .add("sd", spread->sd)
                            .add("min", spread->min)
                            .add("max", spread->max)
                            .text());
}

}  // namespace inferscale
