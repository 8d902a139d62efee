// `inferscale models` and `inferscale hardware`: what the catalogue holds.

#include <fmt/format.h>

#include "base/json_writer.h"
#include "catalog/accelerators.h"
#include "catalog/models.h"
#include "cli/commands.h"
#include "report/text/text_table.h"

namespace inferscale {
namespace {

std::string billions(std::int64_t parameters) {
  return fmt::format("{:.2f}", static_cast<double>(parameters) * 1e-9);
}

JsonValue model_json(const CatalogModel& model) {
  const ModelSpec& spec = model.spec;
  JsonValue aliases = JsonValue::array();
  for (const std::string& alias : model.aliases) aliases.append(alias);
  return JsonValue::object()
      .add("name", spec.name)
      .add("aliases", std::move(aliases))
      .add("parameters", spec.total_parameters())
      .add("layers", spec.layers)
      .add("hidden_dim", spec.hidden_dim)
      .add("heads", spec.heads)
      .add("kv_heads", spec.kv_heads)
      .add("head_dim", spec.head_dim)
      .add("experts", spec.moe ? spec.moe->experts : 0)
      .add("experts_per_token", spec.moe ? spec.moe->experts_per_token : 0)
      .add("max_context", spec.max_context)
      .add("kv_elements_per_token", spec.kv_elements_per_token())
      .add("native_weight_bits", spec.native_weight_bits)
      .add("source", spec.source);
}

class Models final : public Command {
 public:
  std::string name() const override { return "models"; }
  std::string summary() const override { return "List the models of the catalogue"; }
  void declare(Arguments& arguments) override { arguments.flag("--json", json_, "as JSON"); }
  Result<int> run() override {
    JsonValue list = JsonValue::array();
    TextTable table({"model", ">parameters (1e9)", ">layers", ">hidden", ">heads", ">KV heads",
                     "experts", ">context", ">KV bytes/token", "also"});
    for (const CatalogModel& model : catalog_models()) {
      const ModelSpec& spec = model.spec;
      list.append(model_json(model));
      table.add(
          {spec.name, billions(spec.total_parameters()), std::to_string(spec.layers),
           std::to_string(spec.hidden_dim), std::to_string(spec.heads),
           spec.mla ? "MLA" : std::to_string(spec.kv_heads),
           spec.moe ? fmt::format("{} of {}", spec.moe->experts_per_token, spec.moe->experts) : "-",
           std::to_string(spec.max_context), std::to_string(2 * spec.kv_elements_per_token()),
           model.aliases.empty() ? "" : model.aliases.front()});
    }
    if (json_) {
      fmt::print("{}", list.indented_text());
    } else {
      fmt::print(
          "{}\n  KV bytes are of a 16-bit cache, over all layers. The path of a Hugging "
          "Face config.json works wherever a name does.\n  Sources: inferscale models "
          "--json, docs/catalog.md\n",
          table.text());
    }
    return 0;
  }

 private:
  bool json_ = false;
};

JsonValue accelerator_json(const CatalogAccelerator& accelerator) {
  const HardwareSpec& spec = accelerator.spec;
  return JsonValue::object()
      .add("name", spec.name)
      .add("memory_bytes", spec.memory_bytes)
      .add("memory_provenance", provenance_name(accelerator.memory))
      .add("memory_bandwidth_bytes_per_s", spec.memory_bandwidth)
      .add("flops_16bit", spec.flops_16bit)
      .add("flops_8bit", spec.flops_8bit)
      .add("link_bandwidth_bytes_per_s", spec.link_bandwidth)
      .add("link_latency_s", spec.link_latency_s)
      .add("link_provenance", provenance_name(accelerator.link))
      .add("compute_efficiency", spec.compute_efficiency)
      .add("memory_efficiency", spec.memory_efficiency)
      .add("step_overhead_s", spec.step_overhead_s)
      .add("sequence_overhead_s", spec.sequence_overhead_s)
      .add("efficiency_provenance", provenance_name(accelerator.efficiency))
      .add("source", spec.source);
}

class Hardware final : public Command {
 public:
  std::string name() const override { return "hardware"; }
  std::string summary() const override { return "List the accelerators of the catalogue"; }
  void declare(Arguments& arguments) override { arguments.flag("--json", json_, "as JSON"); }
  Result<int> run() override {
    JsonValue list = JsonValue::array();
    TextTable table({"hardware", ">memory GiB", ">TB/s", ">16-bit TFLOP/s", ">8-bit", ">link GB/s",
                     ">compute eff.", ">memory eff.", "efficiencies"});
    for (const CatalogAccelerator& accelerator : catalog_accelerators()) {
      const HardwareSpec& spec = accelerator.spec;
      list.append(accelerator_json(accelerator));
      table.add({spec.name, fmt::format("{:.1f}", spec.memory_bytes / 1073741824.0),
                 fmt::format("{:.2f}", spec.memory_bandwidth * 1e-12),
                 short_number(spec.flops_16bit * 1e-12),
                 spec.flops_8bit > 0 ? short_number(spec.flops_8bit * 1e-12) : "-",
                 short_number(spec.link_bandwidth * 1e-9),
                 fmt::format("{:.2f}", spec.compute_efficiency),
                 fmt::format("{:.2f}", spec.memory_efficiency),
                 std::string(provenance_name(accelerator.efficiency))});
    }
    if (json_) {
      fmt::print("{}", list.indented_text());
    } else {
      fmt::print(
          "{}\n  Peaks are dense. Other hardware is described in the configuration itself. "
          "Sources: inferscale hardware --json, docs/catalog.md\n",
          table.text());
    }
    return 0;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_models_command() {
  return std::make_unique<Models>();
}
std::unique_ptr<Command> make_hardware_command() {
  return std::make_unique<Hardware>();
}

}  // namespace inferscale
