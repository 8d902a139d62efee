// The bytes of a file in order, unpacked when the file is gzip.
//
// Gzip is recognised by its first two bytes, whatever the name. Several gzip members after each
// other (as `cat a.gz b.gz` makes them) read as one text, and zero bytes after the last member are
// padding, as the gzip program has it. Data that ends inside a member, a wrong checksum and
// anything else after a member are errors: half a file never reads as a whole one.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"

namespace inferscale {

class ByteSource {
 public:
  // Errors: kNotFound, kInvalidInput for a directory, kIo for what the machine refuses.
  static Result<ByteSource> open(const std::string& path);
  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  // Reads up to `size` bytes (at least 1) to `to`; 0 only at the end.
  Result<std::size_t> read(char* to, std::size_t size);

 private:
  struct State;
  explicit ByteSource(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace inferscale
