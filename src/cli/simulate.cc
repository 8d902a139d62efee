// `inferscale simulate`: one deployment, one workload, what it would do.

#include "cli/commands.h"
#include "cli/single_run.h"

namespace inferscale {
namespace {

class Simulate final : public Command {
 public:
  std::string name() const override { return "simulate"; }
  std::string summary() const override {
    return "Simulate a deployment under a workload: latency, goodput, KV use, cost";
  }
  void declare(Arguments& arguments) override { declare_run_flags(arguments, flags_); }
  Result<int> run() override { return run_once_and_report(flags_, {.example = kChatExample}); }

 private:
  RunFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_simulate_command() {
  return std::make_unique<Simulate>();
}

}  // namespace inferscale
