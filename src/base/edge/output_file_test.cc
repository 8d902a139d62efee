// Writing: what becomes visible, and what happens when the machine refuses.

#include "base/edge/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "base/check.h"
#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

// Files may not grow beyond `bytes` while the object lives: a disk that is full, for one process.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_ = {};
  void (*handler_)(int) = nullptr;
};

// Runs as a user without rights of its own while the object lives, when the tests run as root.
class OrdinaryUser {
 public:
  OrdinaryUser() : root_(::geteuid() == 0) {
    if (root_) CHECK(::seteuid(65534) == 0);
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (root_) CHECK(::seteuid(0) == 0);
  }

 private:
  bool root_;
};

TEST(OutputFile, AppearsOnlyWhenFinished) {
  const TestFolder folder;
  Result<OutputFile> file = OutputFile::create(folder / "out");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("one "));
  ASSERT_TRUE(file->append("two"));
  EXPECT_FALSE(folder.has("out"));
  EXPECT_TRUE(folder.has("out.partial"));
  ASSERT_TRUE(file->finish());
  EXPECT_EQ(folder.read("out"), "one two");
  EXPECT_FALSE(folder.has("out.partial"));
}

TEST(OutputFile, LeavesNothingWhenItIsDropped) {
  const TestFolder folder;
  {
    Result<OutputFile> file = OutputFile::create(folder / "out");
    ASSERT_TRUE(file->append(std::string(1 << 20, 'x')));
  }
  EXPECT_FALSE(folder.has("out"));
  EXPECT_FALSE(folder.has("out.partial"));
}

TEST(OutputFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const TestFolder folder;
  folder.write("out", "old");
  {
    Result<OutputFile> file = OutputFile::create(folder / "out");
    ASSERT_TRUE(file->append("half of the new"));
  }
  EXPECT_EQ(folder.read("out"), "old");
  ASSERT_TRUE(write_file(folder / "out", "new"));
  EXPECT_EQ(folder.read("out"), "new");
}

TEST(OutputFile, WritesEverythingOnceInOrder) {
  const TestFolder folder;
  std::string expected;
  Result<OutputFile> file = OutputFile::create(folder / "out");
  for (int i = 0; i < 200000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    expected += line;
    ASSERT_TRUE(file->append(line));
  }
  ASSERT_TRUE(file->finish());
  EXPECT_TRUE(folder.read("out") == expected);
}

TEST(OutputFile, SaysThatTheDiskIsFull) {
  Result<OutputFile> file = OutputFile::create("/dev/full");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("buffered"));
  const Result<void> finished = file->finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().to_string(), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(finished.error().code, ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(OutputFile, RemovesWhatDidNotFitAndRepeatsTheError) {
  const TestFolder folder;
  const FileSizeLimit limit(100000);
  Result<OutputFile> file = OutputFile::create(folder / "out");
  const Result<void> first = file->append(std::string(1 << 20, 'x'));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().to_string(), folder / "out" + ": cannot be written: File too large");
  EXPECT_FALSE(folder.has("out.partial"));
  EXPECT_EQ(file->append("more").error().message, first.error().message);
  EXPECT_EQ(file->finish().error().message, first.error().message);
  EXPECT_FALSE(folder.has("out"));
}

TEST(OutputFile, FollowsASymbolicLink) {
  const TestFolder folder;
  folder.write("real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  ASSERT_TRUE(write_file(folder / "link", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(folder.read("real"), "new");
}

TEST(OutputFile, RefusesAFolderAndAMissingOne) {
  const TestFolder folder;
  const Result<void> directory = write_file(folder / "", "x");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().message, "is a folder: expected the name of a file");
  const Result<void> missing = write_file(folder / "no/such/out", "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, folder / "no/such/out");
  EXPECT_EQ(missing.error().message, "cannot be created: No such file or directory");
}

TEST(OutputFile, RefusesAFolderWithoutPermission) {
  const TestFolder folder;
  ASSERT_TRUE(make_folder(folder / "locked"));
  std::filesystem::permissions(folder / "", std::filesystem::perms::all);
  std::filesystem::permissions(folder / "locked", std::filesystem::perms(0555));
  const OrdinaryUser user;
  const Result<void> written = write_file(folder / "locked/out", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().to_string(),
            folder / "locked/out" + ": cannot be created: Permission denied");
  const Result<void> made = make_folder(folder / "locked/inner");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().to_string(),
            folder / "locked/inner" + ": cannot make the folder: Permission denied");
}

TEST(MakeFolder, MakesEveryStepAndTakesWhatIsThere) {
  const TestFolder folder;
  ASSERT_TRUE(make_folder(folder / "a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
  EXPECT_TRUE(make_folder(folder / "a/b/c"));
  EXPECT_TRUE(make_folder(folder / "a/b/d/"));
}

TEST(MakeFolder, NamesTheFileInTheWay) {
  const TestFolder folder;
  folder.write("file", "x");
  for (const std::string& path : {folder / "file", folder / "file/below/it"}) {
    const Result<void> made = make_folder(path);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().to_string(),
              path + ": cannot make the folder: '" + folder / "file" + "' is a file");
  }
  EXPECT_FALSE(make_folder(""));
}

TEST(FolderLock, IsHadByOneAtATime) {
  const TestFolder folder;
  {
    const Result<FolderLock> lock = FolderLock::take(folder / "");
    ASSERT_TRUE(lock);
    EXPECT_FALSE(FolderLock::try_take(folder / "").value().has_value());
  }
  EXPECT_TRUE(FolderLock::try_take(folder / "").value().has_value());
  EXPECT_FALSE(folder.has(".lock"));  // only where folders can't be locked
  EXPECT_EQ(FolderLock::try_take(folder / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace inferscale
