// Runs of the program, read back from the folder that it writes: what a test of admission sees is
// what a user would.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace inferscale {

// A folder that goes with its last owner.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  // Returns the file's path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

std::string text_of_file(const std::string& path);

// A configuration of configs/admission.
std::string admission_scenario(const std::string& name);

// As `--set` takes them: "admission.policy=none".
using Settings = std::vector<std::string>;
Settings operator+(Settings settings, const Settings& more);

// A run of the program.
class ProgramRun {
 public:
  // `command`: simulate or agents.
  ProgramRun(const std::string& command, const std::string& config, const Settings& settings);

  // Whether the program ran the configuration; the rest REQUIRES that it did.
  bool succeeded() const { return succeeded_; }
  const std::string& error() const { return error_; }
  const nlohmann::json& summary() const { return summary_; }
  std::string text(const std::string& file) const;
  // Each line of a file of the run folder.
  std::vector<nlohmann::json> lines(const std::string& file) const;
  // The log without its first line, which says what it is.
  std::vector<nlohmann::json> decisions() const;

  std::int64_t finished() const { return summary_.at("requests").at("finished"); }
  std::int64_t refused() const { return summary_.at("requests").at("refused"); }
  double ttft_ms(const char* statistic) const { return summary_.at("ttft_ms").at(statistic); }
  double goodput() const { return summary_.at("slo").at("goodput"); }

 private:
  std::shared_ptr<ScratchFolder> folder_;
  bool succeeded_ = false;
  std::string error_;
  nlohmann::json summary_;
};

// The middle one, or the upper one of the two in the middle.
double median_of(std::vector<double> values);

}  // namespace inferscale
