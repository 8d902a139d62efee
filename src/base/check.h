// CHECK and DCHECK: programmer errors stop the program, in release too (CHECK).
//
//   CHECK(free >= 0) << "allocated more blocks than there are: " << free;
//
// A wrong number is worse than a dead run. Never used on input: bad input is a `Result`.
//
// The message takes numbers and text as std::ostream would print them; nothing of the standard
// library's streams comes with this header, which nearly every file reads.

#pragma once

#include <string>
#include <string_view>

namespace inferscale::internal {

// Collects the message and stops the program when it goes out of scope. `cold`: what leads here is
// kept apart from the code that runs.
class CheckFailure {
 public:
  [[gnu::cold]] CheckFailure(const char* condition, const char* file, int line);
  CheckFailure(const CheckFailure&) = delete;
  CheckFailure& operator=(const CheckFailure&) = delete;
  [[noreturn]] ~CheckFailure();
  CheckFailure& message() { return *this; }

  CheckFailure& operator<<(std::string_view text);
  CheckFailure& operator<<(const char* text) { return *this << std::string_view(text); }
  CheckFailure& operator<<(char character) { return *this << std::string_view(&character, 1); }
  CheckFailure& operator<<(int number) { return *this << static_cast<long long>(number); }
  CheckFailure& operator<<(long number) { return *this << static_cast<long long>(number); }
  CheckFailure& operator<<(long long number);
  CheckFailure& operator<<(unsigned number) {
    return *this << static_cast<unsigned long long>(number);
  }
  CheckFailure& operator<<(unsigned long number) {
    return *this << static_cast<unsigned long long>(number);
  }
  CheckFailure& operator<<(unsigned long long number);
  CheckFailure& operator<<(double number);

 private:
  std::string text_;
};

// Gives both arms of the conditional in CHECK the type void.
struct Voidify {
  void operator&(const CheckFailure&) const {}
};

}  // namespace inferscale::internal

#define CHECK(condition)                            \
  (condition) ? static_cast<void>(0)                \
              : ::inferscale::internal::Voidify() & \
                    ::inferscale::internal::CheckFailure(#condition, __FILE__, __LINE__).message()

#ifdef NDEBUG
#define DCHECK(condition) CHECK(true || (condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif
