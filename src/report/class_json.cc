#include "report/class_json.h"

#include <optional>

namespace inferscale {
namespace {

JsonValue target(const std::optional<Duration>& limit) {
  return limit ? JsonValue::millis(*limit) : JsonValue();
}

}  // namespace

JsonValue classes_json(std::span<const ClassFigures> classes) {
  JsonValue list = JsonValue::array();
  for (const ClassFigures& each : classes) {
    list.append(JsonValue::object()
                    .add("name", each.name)
                    .add("priority", each.priority)
                    .add("ttft_ms", target(each.slo.ttft))
                    .add("itl_ms", target(each.slo.itl))
                    .add("e2e_ms", target(each.slo.e2e))
                    .add("itl_rule", each.slo.itl_rule == ItlRule::kMax ? "max" : "p95")
                    .add("arrived", each.arrived)
                    .add("counted", each.counted)
                    .add("finished", each.finished)
                    .add("refused", each.refused)
                    .add("deferred", each.deferred)
                    .add("abandoned", each.abandoned)
                    .add("met", each.met)
                    .add("goodput", each.goodput())
                    .add("attainment_admitted", each.attainment_admitted())
                    .add("ttft_ms_p95", each.ttft_p95_ms));
  }
  return list;
}

}  // namespace inferscale
