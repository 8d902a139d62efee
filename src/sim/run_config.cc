#include "sim/run_config.h"

#include <algorithm>

#include "core/slo_class_options.h"

namespace inferscale {
namespace {

// It is printed as it is, and a terminal would obey what is not text.
bool is_printable(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

ModelSpec read_model(ConfigReader& deployment, const ModelResolver& resolve_model) {
  const std::string name =
      deployment.text("model", std::nullopt,
                      "the model: a name of the catalogue (`inferscale models` lists them) or the "
                      "path of a Hugging Face config.json");
  if (deployment.is_describing()) return {};
  if (name.empty()) {
    // Written as null: the reader reports it as missing, at finish().
    deployment.finish_missing();
    return {};
  }
  const Result<ModelSpec> model = resolve_model(name);
  if (model) return *model;
  deployment.fail("model", model.error().to_string());
  return {};
}

void read_deployment(ConfigReader& root, const ModelResolver& resolve_model, RunConfig& config) {
  ConfigReader deployment = root.map("deployment", "what serves the requests");
  const ModelSpec model = read_model(deployment, resolve_model);
  config.deployment = read_replica(deployment, model);
  const bool known = model.layers > 0 || deployment.is_describing();
  if (!known) return;
  config.fleet = read_fleet(deployment, config.deployment);
  deployment.finish();
}

OutputOptions read_output(ConfigReader& root) {
  ConfigReader output = root.map("output", "what the run folder holds");
  OutputOptions options;
  options.outcomes =
      output.boolean("outcomes", true, "write outcomes.jsonl, a line for each request");
  const auto interval = output.optional_number(
      "signals_interval_s",
      {.fallback = 1.0,
       .min = 1e-3,
       .max = 1e6,
       .unit = "s",
       .doc = "time between two rows of signals.jsonl, which says how full the replica is; null: "
              "none are taken"});
  if (interval) options.signals_interval = Duration::from_seconds(*interval);
  output.finish();
  return options;
}

void read_targets(ConfigReader& root, RunConfig& config) {
  config.slo = read_slo(root);
  config.slo_classes = read_slo_classes(root);
  if (config.slo_classes.empty()) return;
  if (config.slo.any()) {
    config.warnings.emplace_back(
        "slo judges no request: each has a class of slo_classes, which states its whole SLO.");
  }
  config.slo = {};
}

// Whose class a tenant names.
void check_tenants(ConfigReader& root, RunConfig& config) {
  for (TenantConfig& tenant : config.admission.tenants) {
    if (!tenant.class_name) continue;
    tenant.slo_class = find_slo_class(config.slo_classes, *tenant.class_name);
    if (tenant.slo_class) continue;
    const std::string expected = config.slo_classes.empty()
                                     ? "there are no slo_classes"
                                     : "expected one of " + names_of(config.slo_classes);
    root.map("tenants", "").map(tenant.name, "").fail("slo_class", expected);
  }
}

}  // namespace

RunConfig read_run_config(ConfigReader& root, const ModelResolver& resolve_model) {
  RunConfig config;
  config.name = root.text("name", "run", "a name for tables and reports");
  if (!is_printable(config.name)) root.fail("name", "expected text without control characters");
  config.seed = static_cast<std::uint64_t>(
      root.integer("seed", {.fallback = 42,
                            .min = 0,
                            .doc = "all random numbers follow from it: the same seed gives the "
                                   "same bytes"}));
  read_deployment(root, resolve_model, config);
  ConfigReader workload = root.map("workload", "the requests: generated, or the rows of a trace");
  config.workload = read_workload_options(workload);
  read_targets(root, config);
  config.measurement = read_measurement(root);
  config.output = read_output(root);
  config.clients = read_clients(root);
  config.admission = read_admission(root);
  check_tenants(root, config);
  return config;
}

}  // namespace inferscale
