// The commands of the program; each is described in docs/commands.

#pragma once

#include <memory>
#include <vector>

#include "cli/arguments.h"

namespace inferscale {

std::unique_ptr<Command> make_simulate_command();
std::unique_ptr<Command> make_agents_command();
std::vector<std::unique_ptr<Command>> agents_sweep_commands();
std::unique_ptr<Command> make_capacity_command();
std::unique_ptr<Command> make_explore_command();
std::unique_ptr<Command> make_ab_command();
std::unique_ptr<Command> make_sensitivity_command();
std::unique_ptr<Command> make_validate_command();
std::unique_ptr<Command> make_tune_command();
std::unique_ptr<Command> make_replay_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_policies_command();
std::unique_ptr<Command> make_policies_recommend_command();
std::unique_ptr<Command> make_policies_probe_command();
std::unique_ptr<Command> make_signals_command();
std::unique_ptr<Command> make_trace_inspect_command();
std::unique_ptr<Command> make_trace_sessions_command();
std::unique_ptr<Command> make_models_command();
std::unique_ptr<Command> make_hardware_command();
std::unique_ptr<Command> make_config_reference_command();
std::unique_ptr<Command> make_config_example_command();

}  // namespace inferscale
