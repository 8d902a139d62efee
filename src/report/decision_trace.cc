#include "report/decision_trace.h"

#include "base/json_writer.h"

namespace inferscale {
namespace {

JsonValue seconds(Instant at) {
  std::string text;
  append_json_scaled(text, at.ns(), 9);
  return JsonValue::raw(std::move(text));
}

JsonValue ids(std::span<const RequestId> requests) {
  JsonValue list = JsonValue::array();
  for (const RequestId id : requests) list.append(id);
  return list;
}

JsonValue chunks_of(const StepReport& report) {
  JsonValue list = JsonValue::array();
  for (const StepReport::Chunk& chunk : report.chunks) {
    list.append(JsonValue::object()
                    .add("request", chunk.request)
                    .add("tokens", chunk.tokens)
                    .add("cached_before", chunk.before));
  }
  return list;
}

}  // namespace

void DecisionTrace::write(std::string line) {
  if (error_) return;
  line += '\n';
  if (const Result<void> written = file_.append(line); !written) error_ = written.error();
}

void DecisionTrace::on_step(const StepReport& report) {
  JsonValue line = JsonValue::object();
  line.add("event", "step")
      .add("replica", report.replica)
      .add("start_s", seconds(report.start))
      .add("end_s", seconds(report.end))
      .add("steps", report.steps)
      .add("decodes", report.decodes)
      .add("chunks", chunks_of(report))
      .add("admitted", ids(report.admitted))
      .add("preempted", ids(report.preempted))
      .add("running", report.running)
      .add("queue_depth", report.queue_depth)
      .add("kv_blocks_free", report.kv_blocks_free)
      .add("head_waits_for", std::string(head_waits_name(report.head_waits)));
  if (report.head_waits != HeadWaits::kNobody) line.add("head", report.head);
  write(line.text());
}

void DecisionTrace::on_route(const RouteReport& report) {
  JsonValue scores = JsonValue::array();
  for (const RouteReport::Choice& choice : report.choices) {
    scores.append(JsonValue::object().add("replica", choice.replica).add("score", choice.score));
  }
  JsonValue line = JsonValue::object();
  line.add("event", "route")
      .add("at_s", seconds(report.at))
      .add("request", report.request)
      .add("pool", report.pool)
      .add("replica", report.choices.empty() ? JsonValue() : JsonValue(report.choices[0].replica))
      .add("score_means", report.meaning)
      .add("scores", std::move(scores));
  write(line.text());
}

Result<void> DecisionTrace::finish() {
  if (error_) return std::unexpected(*error_);
  return file_.finish();
}

}  // namespace inferscale
