// CHECK and DCHECK: programmer errors stop the program, in release too (CHECK).
//
//   CHECK(free >= 0) << "allocated more blocks than there are: " << free;
//
// A wrong number is worse than a dead run. Never used on input: bad input is a `Result`.

#pragma once

#include <sstream>

namespace inferscale::internal {

// Collects the message and stops the program when it goes out of scope.
class CheckFailure {
 public:
  CheckFailure(const char* condition, const char* file, int line);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Gives both arms of the conditional in CHECK the type void.
struct Voidify {
  void operator&(std::ostream&) const {}
};

}  // namespace inferscale::internal

#define CHECK(condition)                            \
  (condition) ? static_cast<void>(0)                \
              : ::inferscale::internal::Voidify() & \
                    ::inferscale::internal::CheckFailure(#condition, __FILE__, __LINE__).stream()

#ifdef NDEBUG
#define DCHECK(condition) CHECK(true || (condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif
