// `inferscale report`: one HTML page from a run folder or a study folder.

#include "report/report.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "report/run_folder_reader.h"
#include "report/studies/page/study_folder_reader.h"
#include "report/studies/page/study_page.h"

namespace inferscale {
namespace {

class Report final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "Make one self-contained HTML page from the folder of a run or a study";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("FOLDER", folder_, true,
                         "a folder that '--out' of simulate or of a study wrote");
    arguments.option("--out", out_, "the page's file (default: FOLDER/report.html)");
  }
  Result<int> run() override {
    const std::string path = out_.empty() ? folder_ + "/report.html" : out_;
    const bool of_study = is_study_folder(folder_);
    if (!of_study && !is_run_folder(folder_)) {
      return fail(ErrorCode::kNotFound,
                  "expected the folder of a run (manifest.json) or of a study (study.json)",
                  folder_);
    }
    const Result<void> written =
        of_study ? write_study_report(folder_, path) : write_report(folder_, path);
    if (!written) return std::unexpected(written.error());
    fmt::print("{}\n", path);
    return 0;
  }

 private:
  std::string folder_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() {
  return std::make_unique<Report>();
}

}  // namespace inferscale
