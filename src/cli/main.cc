// The program: a table of its commands, one file each.

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace inferscale;
  // A reader that closes the pipe early ("inferscale models | head") ends the program quietly.
  std::signal(SIGPIPE, SIG_DFL);
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_simulate_command());
  commands.push_back(make_agents_command());
  for (std::unique_ptr<Command>& sweep : agents_sweep_commands()) {
    commands.push_back(std::move(sweep));
  }
  commands.push_back(make_capacity_command());
  commands.push_back(make_explore_command());
  commands.push_back(make_ab_command());
  commands.push_back(make_sensitivity_command());
  commands.push_back(make_validate_command());
  commands.push_back(make_tune_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_report_command());
  commands.push_back(make_policies_command());
  commands.push_back(make_policies_recommend_command());
  commands.push_back(make_policies_probe_command());
  commands.push_back(make_signals_command());
  commands.push_back(make_trace_inspect_command());
  commands.push_back(make_trace_sessions_command());
  commands.push_back(make_models_command());
  commands.push_back(make_hardware_command());
  commands.push_back(make_config_reference_command());
  commands.push_back(make_config_example_command());
  return run_command_line(commands, argc, argv);
}
