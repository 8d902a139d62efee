// `inferscale signals`: what is known of a pool at the door, and where engines publish it.

#include <fmt/format.h>

#include <limits>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "cli/commands.h"
#include "cli/engine_metrics.h"
#include "cli/signal_words.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

bool has_upper_end(const SignalSpec& spec) {
  return spec.most < std::numeric_limits<double>::max();
}

std::string range_text(const SignalSpec& spec) {
  return number_text(spec.least) + " to " + (has_upper_end(spec) ? number_text(spec.most) : "any");
}

const EngineMetrics* metrics_of(Signal signal) {
  for (const EngineMetrics& row : kEngineMetrics) {
    if (row.signal == signal) return &row;
  }
  return nullptr;
}

JsonValue metrics_json(Signal signal) {
  const EngineMetrics* row = metrics_of(signal);
  if (row == nullptr) return {};
  const auto name = [](std::string_view text) {
    return text.empty() ? JsonValue() : JsonValue(text);
  };
  return JsonValue::object()
      .add("vllm", name(row->vllm))
      .add("sglang", name(row->sglang))
      .add("tensorrt_llm", name(row->tensorrt_llm))
      .add("llama_cpp", name(row->llama_cpp));
}

JsonValue signal_json(const SignalSpec& spec) {
  return JsonValue::object()
      .add("name", spec.name)
      .add("unit", spec.unit)
      .add("least", spec.least)
      .add("most", has_upper_end(spec) ? JsonValue(spec.most) : JsonValue())
      .add("origin", origin_word(spec.origin))
      .add("over_replicas", sum_word(spec.over_replicas))
      .add("windowed", spec.is_windowed)
      .add("meaning", spec.meaning)
      .add("engines", metrics_json(spec.signal));
}

void print_signals() {
  TextTable table({"signal", "unit", "range", "from", "over replicas", "window", "meaning"});
  for (const SignalSpec& spec : all_signals()) {
    table.add({std::string(spec.name), std::string(spec.unit), range_text(spec),
               std::string(origin_word(spec.origin)), std::string(sum_word(spec.over_replicas)),
               spec.is_windowed ? "yes" : "", std::string(spec.meaning)});
  }
  fmt::print(
      "{}\n  page: the engine's metrics page, as old as the last look at it. ledger: what the gate "
      "itself\n  admitted, dispatched and saw end, always of now. page+ledger: the page's reading, "
      "corrected by the\n  ledger. window: a rate over at most the configured window, by default 2 "
      "s. A reading that is missing\n  or out of its range is unknown, never zero.\n\n",
      table.text());
}

void print_engines() {
  TextTable table({"signal", "vLLM", "SGLang", "TensorRT-LLM", "llama.cpp"});
  const auto cell = [](std::string_view name) {
    return std::string(name.empty() ? "unknown" : name);
  };
  for (const EngineMetrics& row : kEngineMetrics) {
    table.add({std::string(spec_of(row.signal).name), cell(row.vllm), cell(row.sglang),
               cell(row.tensorrt_llm), cell(row.llama_cpp)});
  }
  fmt::print(
      "{}\n  No engine publishes how old its oldest waiting request is: queue_age_s is the "
      "ledger's.\n",
      table.text());
}

class Signals final : public Command {
 public:
  std::string name() const override { return "signals"; }
  std::string summary() const override { return "List the signals that admission policies read"; }
  void declare(Arguments& arguments) override { arguments.flag("--json", json_, "as JSON"); }
  Result<int> run() override {
    if (!json_) {
      print_signals();
      print_engines();
      return 0;
    }
    JsonValue list = JsonValue::array();
    for (const SignalSpec& spec : all_signals()) list.append(signal_json(spec));
    fmt::print("{}", list.indented_text());
    return 0;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::string_view origin_word(SignalOrigin origin) {
  switch (origin) {
    case SignalOrigin::kEngine:
      return "page";
    case SignalOrigin::kLedger:
      return "ledger";
    case SignalOrigin::kCorrected:
      return "page+ledger";
  }
  return "unknown";
}

std::string_view sum_word(SignalSum sum) {
  switch (sum) {
    case SignalSum::kSum:
      return "sum";
    case SignalSum::kMean:
      return "mean";
    case SignalSum::kMax:
      return "greatest";
    case SignalSum::kRatioOfSums:
      return "ratio of sums";
    case SignalSum::kOfPool:
      return "of the pool";
  }
  return "unknown";
}

std::unique_ptr<Command> make_signals_command() {
  return std::make_unique<Signals>();
}

}  // namespace inferscale
