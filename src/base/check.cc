#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace inferscale::internal {

CheckFailure::CheckFailure(const char* condition, const char* file, int line) {
  *this << file << ":" << line << ": check failed: " << condition << ": ";
}

CheckFailure& CheckFailure::operator<<(std::string_view text) {
  text_.append(text);
  return *this;
}

CheckFailure& CheckFailure::operator<<(long long number) {
  text_.append(std::to_string(number));
  return *this;
}

CheckFailure& CheckFailure::operator<<(unsigned long long number) {
  text_.append(std::to_string(number));
  return *this;
}

CheckFailure& CheckFailure::operator<<(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%g", number);
  text_.append(digits);
  return *this;
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "inferscale: internal error: %s\n", text_.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace inferscale::internal
