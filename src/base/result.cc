#include "base/result.h"

namespace inferscale {

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidConfig:
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
      return 2;
    case ErrorCode::kInterrupted:
      return 130;
    case ErrorCode::kIo:
      return 1;
  }
  return 1;
}

}  // namespace inferscale
