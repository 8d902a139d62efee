#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace inferscale::internal {

CheckFailure::CheckFailure(const char* condition, const char* file, int line) {
  stream_ << file << ":" << line << ": check failed: " << condition << ": ";
}

CheckFailure::~CheckFailure() {
  const std::string message = stream_.str();
  std::fprintf(stderr, "inferscale: internal error: %s\n", message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace inferscale::internal
