// runs.jsonl while a study goes on: a line is appended for each run that ends.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "study/executors/run_lines.h"

namespace inferscale {

// The runs of a journal in its order; none when there is no file. A last line without its end was
// cut off, and is left out. Errors: a damaged line.
Result<std::vector<KeptRun>> read_journal(const std::string& path);

class RunJournal {
 public:
  // Makes the file where there is none, and cuts off a last line without its end.
  static Result<RunJournal> open(const std::string& path);
  RunJournal(RunJournal&& other) noexcept;
  RunJournal& operator=(RunJournal&& other) noexcept;
  ~RunJournal();

  // `line` with its end: all of it is in the file, or nothing and an error. What is in it outlives
  // the process, but not a power cut: no fsync.
  Result<void> append(std::string_view line);

 private:
  RunJournal(std::string path, int descriptor, std::int64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  // of the whole lines
};

}  // namespace inferscale
