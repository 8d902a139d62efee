#include "report/studies/capacity/capacity_reading.h"

#include "report/studies/study_json.h"

namespace inferscale {
namespace {

// Lists of the result hold values of one kind; anything else is an error about the list.
std::vector<std::string> texts(JsonFields& fields, const char* key) {
  std::vector<std::string> values;
  const Json* list = fields.list(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    if (!item.is_string()) {
      fields.fail(key, "expected a list of texts");
      return {};
    }
    values.push_back(item.get<std::string>());
  }
  return values;
}

std::vector<double> numbers(JsonFields& fields, const char* key) {
  std::vector<double> values;
  const Json* list = fields.list(key);
  if (list == nullptr) return values;
  for (const Json& item : *list) {
    if (!item.is_number()) {
      fields.fail(key, "expected a list of numbers");
      return {};
    }
    values.push_back(item.get<double>());
  }
  return values;
}

ReadProbe read_probe(JsonFields& fields) {
  ReadProbe probe;
  probe.load = fields.number("load");
  probe.carried = fields.boolean("carried");
  probe.attainment_mean = fields.optional_number("attainment_mean");
  probe.attainment_worst = fields.optional_number("attainment_worst");
  probe.attainment_best = fields.optional_number("attainment_best");
  probe.attainment_deviation = fields.optional_number("attainment_deviation");
  probe.repetitions = fields.integer("repetitions");
  probe.missed_attainment = fields.integer("missed_attainment");
  probe.not_drained = fields.integer("not_drained");
  probe.unfinished = fields.integer("unfinished");
  probe.not_judged = fields.integer("not_judged");
  probe.not_simulated = fields.integer("not_simulated");
  probe.saturated = fields.integer("saturated");
  probe.drain_s = fields.optional_number("drain_s");
  probe.drain_bound_s = fields.optional_number("drain_bound_s");
  probe.ttft_ms_p95 = fields.optional_number("ttft_ms_p95");
  probe.ttft_met = fields.optional_number("ttft_met");
  probe.itl_met = fields.optional_number("itl_met");
  probe.e2e_met = fields.optional_number("e2e_met");
  probe.arrived = fields.optional_number("arrived");
  probe.refused = fields.optional_number("refused");
  probe.arrival_window_s = fields.optional_number("arrival_window_s");
  probe.service_s_max = fields.optional_number("service_s_max");
  probe.failures = texts(fields, "failures");
  return probe;
}

ReadYield read_yield(JsonFields& fields) {
  return {.offered_rps = fields.optional_number("offered_rps"),
          .goodput_rps = fields.optional_number("goodput_rps"),
          .output_tokens_per_s = fields.optional_number("output_tokens_per_s"),
          .accelerators = fields.optional_number("accelerators_mean"),
          .offered_rps_per_accelerator = fields.optional_number("offered_rps_per_accelerator"),
          .output_tokens_per_s_per_accelerator =
              fields.optional_number("output_tokens_per_s_per_accelerator")};
}

class Reader {
 public:
  explicit Reader(const Json& result) : fields_(result, place_) {}

  Result<ReadCapacity> read() {
    read_question();
    read_answer();
    read_probes();
    if (error_) return std::unexpected(*error_);
    if (fields_.failed()) return std::unexpected(fields_.error());
    return std::move(read_);
  }

 private:
  void read_question();
  void read_answer();
  void read_probes();
  std::optional<ReadYield> yield_at(const char* key);
  void keep_error(const JsonFields& fields) {
    if (fields.failed() && !error_) error_ = fields.error();
  }

  JsonPlace place_{"result.json"};
  JsonFields fields_;
  std::optional<Error> error_;
  ReadCapacity read_;
};

void Reader::read_question() {
  read_.scenario = fields_.text("scenario");
  read_.search = fields_.text("search");
  read_.unit = fields_.text("load_unit");
  read_.fixed_load = fields_.optional_number("fixed_load");
  if (read_.fixed_load) read_.fixed_load_unit = fields_.text("fixed_load_unit");
  read_.keeps_window = fields_.text("keeps") == "window";
  read_.workload_changes = texts(fields_, "workload_changes");
  if (const Json* slo = fields_.object("slo")) {
    JsonFields targets(*slo, place_, "slo.");
    read_.ttft_ms = targets.optional_number("ttft_ms");
    read_.itl_ms = targets.optional_number("itl_ms");
    read_.e2e_ms = targets.optional_number("e2e_ms");
    keep_error(targets);
  }
  if (fields_.has("slo_classes")) read_.slo_classes = fields_.text("slo_classes");
  read_.attainment_target = fields_.number("attainment_target");
  read_.tolerance = fields_.number("tolerance");
  read_.headroom = fields_.number("headroom");
  read_.repetitions = fields_.integer("repetitions");
}

std::optional<ReadYield> Reader::yield_at(const char* key) {
  if (fields_.is_null(key)) return std::nullopt;
  const Json* object = fields_.object(key);
  if (object == nullptr) return std::nullopt;
  JsonFields fields(*object, place_, std::string(key) + ".");
  const ReadYield yield = read_yield(fields);
  keep_error(fields);
  return yield;
}

void Reader::read_answer() {
  read_.verdict = fields_.text("verdict");
  read_.within_tolerance = fields_.boolean("within_tolerance");
  read_.carried = fields_.optional_number("carried");
  read_.not_carried = fields_.optional_number("not_carried");
  read_.recommended = fields_.optional_number("recommended");
  read_.best_tried = fields_.optional_number("best_tried");
  read_.not_judged = fields_.optional_number("not_judged");
  read_.at_carried = yield_at("at_carried");
  read_.at_recommended = yield_at("at_recommended");
  read_.easier_failed = numbers(fields_, "easier_failed");
  read_.repetitions_alike = fields_.boolean("repetitions_alike");
  const std::optional<double>* about = &read_.carried;
  if (read_.verdict == "never_passed") about = &read_.not_carried;
  if (read_.verdict == "not_judged") about = &read_.not_judged;
  if (!about->has_value()) fields_.fail("verdict", "expected the load that it is about");
}

void Reader::read_probes() {
  const Json* probes = fields_.list("probes");
  if (probes == nullptr) return;
  for (std::size_t i = 0; i < probes->size(); ++i) {
    if (!(*probes)[i].is_object()) {
      fields_.fail("probes", "expected a list of objects");
      return;
    }
    JsonFields fields((*probes)[i], place_, "probes[" + std::to_string(i) + "].");
    read_.probes.push_back(read_probe(fields));
    keep_error(fields);
  }
}

}  // namespace

const ReadProbe* ReadCapacity::probe_of(std::optional<double> load) const {
  if (!load) return nullptr;
  for (const ReadProbe& probe : probes) {
    if (probe.load == *load) return &probe;
  }
  return nullptr;
}

Result<ReadCapacity> read_capacity(const std::string& result_json) {
  const Result<Json> result = parse_study_result(result_json, "capacity");
  if (!result) return std::unexpected(result.error());
  return Reader(*result).read();
}

}  // namespace inferscale
