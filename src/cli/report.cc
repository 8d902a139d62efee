// `inferscale report`: one HTML page from a run folder.

#include "report/report.h"

#include <fmt/format.h>

#include "cli/commands.h"

namespace inferscale {
namespace {

class Report final : public Command {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override {
    return "Make one self-contained HTML page from a run folder";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("RUN_FOLDER", folder_, true, "a folder that 'simulate --out' wrote");
    arguments.option("--out", out_, "the page's file (default: RUN_FOLDER/report.html)");
  }
  Result<int> run() override {
    const std::string path = out_.empty() ? folder_ + "/report.html" : out_;
    if (const Result<void> written = write_report(folder_, path); !written) {
      return std::unexpected(written.error());
    }
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
