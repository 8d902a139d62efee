// Command-line arguments: commands declare what they take, and get typed values.
//
// The one place that includes the command-line library is arguments.cc; this is the little that
// the commands use of it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace inferscale {

class Arguments {
 public:
  // `values` are filled when the command line is parsed; they outlive this object.
  virtual ~Arguments() = default;
  virtual void flag(const std::string& name, bool& value, const std::string& help) = 0;
  virtual void option(const std::string& name, std::string& value, const std::string& help) = 0;
  // May be given more than once.
  virtual void repeated(const std::string& name, std::vector<std::string>& values,
                        const std::string& help) = 0;
  virtual void positional(const std::string& name, std::string& value, bool required,
                          const std::string& help) = 0;
  // All the words behind the positionals; none is fine.
  virtual void rest(const std::string& name, std::vector<std::string>& values,
                    const std::string& help) = 0;
  // The command runs on all ranks that mpirun or Slurm started (launch.h), not on rank 0 alone.
  virtual void runs_on_all_ranks() = 0;
};

// What a command is: `declare` names its arguments, `run` does the work after they were filled.
// Commands of two words ("trace inspect") have a space in their name.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  // The program's own: not listed by the help.
  virtual bool is_hidden() const { return false; }
  virtual void declare(Arguments& arguments) = 0;
  // The exit code.
  virtual Result<int> run() = 0;
};

// Parses and runs the command that the line names. Help and version go to stdout with exit code 0;
// a line that can't be understood is one error with exit code 2.
int run_command_line(std::vector<std::unique_ptr<Command>>& commands, int argc, char** argv);

}  // namespace inferscale
