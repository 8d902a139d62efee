// Writing files so that a full disk or a refused permission is an error with the file's name, and
// never a file that looks whole and is not.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace inferscale {

// Makes the folder (and those above it) if it is not there. Errors: permission, a file in the way.
Result<void> make_folder(const std::string& path);

// Keeps other processes that ask for the same lock out of a folder until the object goes. Ends with
// the process, so it never stays behind. File systems that don't lock folders (NFS) get a file
// ".lock" in it, which stays and means nothing.
class FolderLock {
 public:
  static Result<FolderLock> take(const std::string& folder);  // waits for its turn
  // Nothing when another process has it.
  static Result<std::optional<FolderLock>> try_take(const std::string& folder);
  FolderLock(FolderLock&& other) noexcept : descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  static Result<std::optional<FolderLock>> lock(const std::string& folder, int operation);
  int descriptor_;
};

// A file under construction: written to `path` + ".partial", renamed to `path` by finish(). What
// was not finished is removed when the object goes. A device or a pipe (/dev/stdout) is written
// directly, and a symbolic link stays: the file that it names is replaced. Buffered; append() may
// fail late, finish() reports everything that went wrong. After an error nothing more is written,
// and every call gives that error again.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  Result<void> append(std::string_view text);
  // REQUIRES: called once, and append() no more after it.
  Result<void> finish();
  const std::string& path() const;

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// create, append, finish.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace inferscale
