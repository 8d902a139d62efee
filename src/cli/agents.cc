// `inferscale agents`: programs of calls on one deployment, what it would do.

#include "cli/agents_example.h"
#include "cli/commands.h"
#include "cli/single_run.h"

namespace inferscale {
namespace {

class Agents final : public Command {
 public:
  std::string name() const override { return "agents"; }
  std::string summary() const override {
    return "Simulate agent sessions: turns, makespan, what becomes of their KV cache";
  }
  void declare(Arguments& arguments) override { declare_run_flags(arguments, flags_); }
  Result<int> run() override {
    return run_once_and_report(flags_, {.example = kAgentsExample, .of_sessions = true});
  }

 private:
  RunFlags flags_;
};

}  // namespace

std::unique_ptr<Command> make_agents_command() {
  return std::make_unique<Agents>();
}

}  // namespace inferscale
