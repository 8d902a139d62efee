#include "report/chrome_trace.h"

#include <utility>

namespace inferscale {
namespace {

JsonValue micros(std::int64_t ns) {
  std::string text;
  append_json_scaled(text, ns, 3);
  return JsonValue::raw(std::move(text));
}

JsonValue event(const char* phase, std::string name, std::uint32_t replica, Instant at) {
  return JsonValue::object()
      .add("ph", phase)
      .add("name", std::move(name))
      .add("pid", replica)
      .add("ts", micros(at.ns()));
}

std::string slice_name(const StepReport& report) {
  if (report.chunks.empty()) return "decode";
  return report.decodes == 0 ? "prefill" : "mixed";
}

JsonValue arguments(const StepReport& report) {
  TokenCount tokens = 0;
  for (const StepReport::Chunk& chunk : report.chunks) tokens += chunk.tokens;
  return JsonValue::object()
      .add("steps", report.steps)
      .add("decodes", report.decodes)
      .add("prompts", report.chunks.size())
      .add("prompt_tokens", tokens)
      .add("admitted", report.admitted.size())
      .add("preempted", report.preempted.size())
      .add("head_waits_for", std::string(head_waits_name(report.head_waits)));
}

}  // namespace

ChromeTrace::ChromeTrace(OutputFile file) : file_(std::move(file)) {
  if (const Result<void> written = file_.append("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
      !written) {
    error_ = written.error();
  }
}

void ChromeTrace::write(const JsonValue& event) {
  if (error_) return;
  const std::string line = (first_ ? "\n" : ",\n") + event.text();
  first_ = false;
  if (const Result<void> written = file_.append(line); !written) error_ = written.error();
}

void ChromeTrace::name_replica(std::uint32_t replica) {
  if (replica < named_.size() && named_[replica]) return;
  if (replica >= named_.size()) named_.resize(replica + 1, false);
  named_[replica] = true;
  write(JsonValue::object()
            .add("ph", "M")
            .add("name", "process_name")
            .add("pid", replica)
            .add("args", JsonValue::object().add("name", "replica " + std::to_string(replica))));
}

void ChromeTrace::counters(const StepReport& report) {
  const auto count = [&](const char* name, std::int64_t value) {
    JsonValue counter = event("C", name, report.replica, report.start);
    counter.add("args", JsonValue::object().add(name, value));
    write(counter);
  };
  count("queue_depth", report.queue_depth);
  count("running", report.running);
  count("kv_blocks_free", report.kv_blocks_free);
}

void ChromeTrace::on_step(const StepReport& report) {
  name_replica(report.replica);
  counters(report);
  JsonValue slice = event("X", slice_name(report), report.replica, report.start);
  slice.add("tid", 0)
      .add("dur", micros((report.end - report.start).ns()))
      .add("args", arguments(report));
  write(slice);
  for (const RequestId id : report.preempted) {
    JsonValue mark = event("i", "preempt " + std::to_string(id), report.replica, report.start);
    mark.add("tid", 0).add("s", "t");
    write(mark);
  }
}

void ChromeTrace::span(const char* name, RequestId id, std::uint32_t replica, Instant from,
                       Instant to) {
  for (const auto& [phase, at] : {std::pair{"b", from}, std::pair{"e", to}}) {
    JsonValue edge = event(phase, name, replica, at);
    edge.add("cat", "request").add("id", id);
    write(edge);
  }
}

void ChromeTrace::request(RequestId id, const Outcome& outcome) {
  if (outcome.start == Instant::never()) return;
  name_replica(outcome.replica);
  span("waiting", id, outcome.replica, outcome.arrival, outcome.start);
  if (outcome.first_token == Instant::never()) return;
  span("prefill", id, outcome.replica, outcome.start, outcome.first_token);
  if (outcome.finish == Instant::never()) return;
  span("decode", id, outcome.replica, outcome.first_token, outcome.finish);
}

Result<void> ChromeTrace::finish(std::span<const Outcome> outcomes) {
  RequestId id = 0;
  for (const Outcome& outcome : outcomes) request(id++, outcome);
  if (error_) return std::unexpected(*error_);
  if (const Result<void> written = file_.append("\n]}\n"); !written) return written;
  return file_.finish();
}

}  // namespace inferscale
