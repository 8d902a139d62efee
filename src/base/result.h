// Errors as values.
//
// An operation that can fail because of its surroundings (configuration, a trace line, a file)
// returns `Result<T>`. The error says where (file and line, key) and what was expected; `main`
// prints it as one line and maps its code to the exit code. Nothing in the library throws.

#pragma once

#include <expected>
#include <string>
#include <utility>

namespace inferscale {

enum class ErrorCode {
  kInvalidConfig,  // a configuration, flag or argument is wrong
  kInvalidInput,   // a trace or another input file is wrong
  kNotFound,       // a file or a catalogue name does not exist
  kIo,             // the machine refused: permission, disk full, ...
  kInterrupted,    // the user stopped the run; what was finished is on disk
};

struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;  // what is wrong and what was expected, without a final full stop
  std::string where;    // "file:line" or "file" or empty

  // One line for people: "where: message".
  std::string to_string() const { return where.empty() ? message : where + ": " + message; }
};

// 2 for what the caller can correct, 130 for an interruption, 1 for the rest.
int exit_code(ErrorCode code);

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(where)});
}

}  // namespace inferscale
