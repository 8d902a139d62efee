// Reading files, plain or gzip: whole, or line by line in constant memory.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace inferscale {

// The whole content of a file (unpacked when it is gzip). Errors: not found, a directory, not
// readable, larger than `max_bytes` after unpacking, damaged gzip.
Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

// The lines of a file one after the other, without their end ("\n" or "\r\n"); a last line without
// an end counts. A UTF-8 byte-order mark before the first line is left out. Gzip is recognised by
// its first bytes. Memory: two buffers and the longest line.
class LineReader {
 public:
  static Result<LineReader> open(const std::string& path);
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;
  ~LineReader();

  // The next line; false at the end of the file. Errors: damaged gzip, a read error, a line longer
  // than 16 MiB, a NUL byte (the file is not text). After an error every call gives it again.
  Result<bool> next(std::string& line);
  std::int64_t line_number() const;  // of the line that next() gave last, from 1; 0 before
  const std::string& path() const;
  // Of the unpacked bytes up to the end of the line that next() gave last, line ends included.
  std::uint32_t crc32() const;

 private:
  struct State;
  explicit LineReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace inferscale
