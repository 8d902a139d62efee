#include "validation/real_engine_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/number_text.h"
#include "validation/table_file.h"

namespace inferscale {
namespace {

// Between which two grid points a value lies, and how far along; extrapolates from the last two.
struct Place {
  std::size_t below = 0;
  double along = 0;
};

Place place_of(const std::vector<double>& grid, double value) {
  CHECK(grid.size() >= 2) << "a grid of one point";
  const auto above = std::upper_bound(grid.begin() + 1, grid.end() - 1, value);
  const auto below = static_cast<std::size_t>(above - grid.begin() - 1);
  return {below, std::max(0.0, (value - grid[below]) / (grid[below + 1] - grid[below]))};
}

// A curve through measured points.
struct Curve {
  std::vector<double> grid;
  std::vector<double> time_us;

  double at(double value) const {
    const Place place = place_of(grid, value);
    return time_us[place.below] + place.along * (time_us[place.below + 1] - time_us[place.below]);
  }
};

using Curves = std::map<std::string, Curve, std::less<>>;

Result<Curves> read_curves(const std::string& file, std::string_view axis) {
  const std::array<CsvColumn, 3> columns = {{{"layer"}, {axis}, {"time_us"}}};
  Curves curves;
  Result<void> read = read_table(file, columns, [&](const CsvRows& rows) -> Result<void> {
    Curve& curve = curves[std::string(rows.cell(0))];
    const auto x = parse_finite(rows.cell(1));
    if (!x || (!curve.grid.empty() && *x <= curve.grid.back())) {
      return rows.wrong(1, "a number greater than in the layer's row before");
    }
    const auto time = parse_finite(rows.cell(2));
    if (!time || *time <= 0) return rows.wrong(2, "microseconds greater than 0");
    curve.grid.push_back(*x);
    curve.time_us.push_back(*time);
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return curves;
}

// Times by (chunk, cached before it, decoding sequences, context of each). A chunk of 0 has nothing
// cached before it and no sequences have no context: there the table has only 0.
class AttentionTable {
 public:
  static Result<AttentionTable> read(const std::string& file) {
    constexpr std::array<CsvColumn, 5> kColumns = {
        {{"prefill_chunk"}, {"kv_prefill"}, {"n_decode"}, {"kv_decode"}, {"time_us"}}};
    AttentionTable table;
    Result<void> read = read_table(file, kColumns, [&](const CsvRows& rows) -> Result<void> {
      std::array<double, 5> values{};
      for (CsvIndex column = 0; column < values.size(); ++column) {
        const auto value = parse_finite(rows.cell(column));
        if (!value || *value < 0) return rows.wrong(column, "a number of at least 0");
        values[column] = *value;
      }
      table.times_[{values[0], values[1], values[2], values[3]}] = values[4];
      for (CsvIndex axis = 0; axis < 4; ++axis) table.grids_[axis].push_back(values[axis]);
      return {};
    });
    if (!read) return std::unexpected(read.error());
    for (auto& grid : table.grids_) {
      std::ranges::sort(grid);
      grid.erase(std::ranges::unique(grid).begin(), grid.end());
    }
    table.grids_[3].erase(table.grids_[3].begin());  // 0 is not a context
    table.raise_decodes();
    return table;
  }

  double at(double chunk, double cached, double sequences, double context) const {
    const std::array<Place, 4> places = {place_of(grids_[0], chunk), place_of(grids_[1], cached),
                                         place_of(grids_[2], sequences),
                                         place_of(grids_[3], context)};
    double sum = 0;
    for (unsigned corner = 0; corner < 16; ++corner) {
      double weight = 1;
      std::array<double, 4> point{};
      for (std::size_t axis = 0; axis < 4; ++axis) {
        const bool above = ((corner >> axis) & 1U) != 0;
        weight *= above ? places[axis].along : 1 - places[axis].along;
        point[axis] = grids_[axis][places[axis].below + (above ? 1 : 0)];
      }
      if (weight != 0) sum += weight * time_at(point);
    }
    return sum;
  }

  // The grid's contexts.
  const std::vector<double>& contexts() const { return grids_[3]; }

 private:
  using Point = std::tuple<double, double, double, double>;

  double time_at(const std::array<double, 4>& point) const {
    const bool prefills = point[0] > 0;
    const bool decodes = point[2] > 0;
    if (!prefills && !decodes) return 0;
    // The largest chunks were not measured together with the most sequences.
    const auto found =
        times_.find({point[0], prefills ? point[1] : 0, point[2], decodes ? point[3] : 0});
    CHECK(found != times_.end()) << "the profile has no attention at " << point[0] << ", "
                                 << point[1] << ", " << point[2] << ", " << point[3];
    return found->second;
  }

  // Noise may make a longer context cheaper by a hair; a decode step never is.
  void raise_decodes() {
    for (double sequences : grids_[2]) {
      double most = 0;
      for (double context : grids_[3]) {
        const auto found = times_.find({0, 0, sequences, context});
        if (found != times_.end()) most = found->second = std::max(found->second, most);
      }
    }
  }

  std::map<Point, double> times_;
  std::array<std::vector<double>, 4> grids_;
};

class ProfileLatency final : public LatencyModel {
 public:
  ProfileLatency(Curves dense, Curves output, AttentionTable attention, std::int64_t layers)
      : dense_(std::move(dense)),
        output_(std::move(output)),
        attention_(std::move(attention)),
        layers_(static_cast<double>(layers)) {}

  std::string_view name() const override { return "profile"; }

  StepCost cost(const StepShape& shape) const override {
    const auto sequences = static_cast<double>(shape.decode_sequences);
    const auto chunk = static_cast<double>(shape.prefill_tokens);
    const double tokens = sequences + chunk;
    const double cached =
        chunk == 0 ? 0 : std::max(0.0, shape.prefill_pairs / chunk - (chunk + 1) / 2);
    const double context =
        sequences == 0 ? 0 : static_cast<double>(shape.decode_context) / sequences;
    const double attention = attention_.at(chunk, cached, sequences, context);
    const double time_us = layers_ * (dense_us(tokens) + attention) +
                           dense_.find("embedding")->second.at(tokens) +
                           dense_.find("final_layernorm")->second.at(tokens) +
                           output_us(sequences + static_cast<double>(shape.prefill_sequences));
    if (chunk > 0) return {.first_ns = 1000 * time_us, .growth_ns = 0, .valid_steps = 1};
    return line_of(time_us, attention, sequences, context);
  }

 private:
  // A decode step is linear in the mean context as far as the next grid point.
  StepCost line_of(double time_us, double attention, double sequences, double context) const {
    const auto& grid = attention_.contexts();
    const auto above = std::upper_bound(grid.begin(), grid.end(), context);
    StepCost cost{.first_ns = 1000 * time_us};
    cost.growth_ns =
        1000 * layers_ * std::max(0.0, attention_.at(0, 0, sequences, context + 1) - attention);
    if (above != grid.end()) {
      const auto steps = static_cast<std::int64_t>(*above - context);
      cost.valid_steps = 1 + steps;
      if (steps == 0) cost.growth_ns = 0;
    }
    return cost;
  }

  double dense_us(double tokens) const {
    double sum = 0;
    for (const char* layer : {"layernorm", "layernorm", "qkv_proj", "rotary_emb", "o_proj",
                              "gate_up_proj", "act_fn", "down_proj"}) {
      sum += dense_.find(layer)->second.at(tokens);
    }
    return sum;
  }

  double output_us(double sequences) const {
    return output_.find("lm_head")->second.at(sequences) +
           output_.find("sampler")->second.at(sequences);
  }

  Curves dense_;
  Curves output_;
  AttentionTable attention_;
  double layers_;
};

Result<void> expect_layers(const Curves& curves, std::initializer_list<const char*> layers,
                           const std::string& file) {
  for (const char* layer : layers) {
    const auto found = curves.find(layer);
    if (found == curves.end() || found->second.grid.size() < 2) {
      return fail(ErrorCode::kInvalidInput, std::string("expected two rows or more of ") + layer,
                  file);
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<LatencyModel>> read_profile_latency(const std::string& stem,
                                                           std::int64_t layers) {
  const std::string dense_file = stem + "_dense.csv.gz";
  const std::string output_file = stem + "_per_sequence.csv.gz";
  Result<Curves> dense = read_curves(dense_file, "tokens");
  if (!dense) return std::unexpected(dense.error());
  Result<Curves> output = read_curves(output_file, "sequences");
  if (!output) return std::unexpected(output.error());
  Result<void> complete =
      expect_layers(*dense,
                    {"layernorm", "qkv_proj", "rotary_emb", "o_proj", "gate_up_proj", "act_fn",
                     "down_proj", "embedding", "final_layernorm"},
                    dense_file);
  if (complete) complete = expect_layers(*output, {"lm_head", "sampler"}, output_file);
  if (!complete) return std::unexpected(complete.error());
  Result<AttentionTable> attention = AttentionTable::read(stem + "_attention.csv.gz");
  if (!attention) return std::unexpected(attention.error());
  return std::make_unique<ProfileLatency>(std::move(*dense), std::move(*output),
                                          std::move(*attention), layers);
}

}  // namespace inferscale
