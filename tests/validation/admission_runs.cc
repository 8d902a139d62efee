#include "validation/admission_runs.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace inferscale {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "admission_test.XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() {
  fs::remove_all(path_);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
  return file(name);
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string admission_scenario(const std::string& name) {
  return (fs::path(INFERSCALE_SOURCE_DIR) / "configs" / "admission" / name).string();
}

Settings operator+(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

ProgramRun::ProgramRun(const std::string& command, const std::string& config,
                       const Settings& settings)
    : folder_(std::make_shared<ScratchFolder>()) {
  std::string line = fmt::format("'{}' {} '{}'", INFERSCALE_BINARY, command, config);
  for (const std::string& setting : settings) line += fmt::format(" --set '{}'", setting);
  line += fmt::format(" --out '{}' >'{}' 2>'{}'", folder_->file("run"), folder_->file("out"),
                      folder_->file("err"));
  const int status = std::system(line.c_str());
  error_ = text_of_file(folder_->file("err"));
  succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (succeeded_) summary_ = nlohmann::json::parse(text("summary.json"));
}

std::string ProgramRun::text(const std::string& file) const {
  return text_of_file(folder_->file("run/" + file));
}

std::vector<nlohmann::json> ProgramRun::lines(const std::string& file) const {
  std::istringstream text(this->text(file));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

std::vector<nlohmann::json> ProgramRun::decisions() const {
  std::vector<nlohmann::json> all = lines("decisions.jsonl");
  if (!all.empty()) all.erase(all.begin());
  return all;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

}  // namespace inferscale
