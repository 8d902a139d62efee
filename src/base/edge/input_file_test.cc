// Reading: against files that the gzip program packed, damaged ones, and files that are not text.

#include "base/edge/input_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/edge/test_folder.h"

namespace inferscale {
namespace {

// Packs a file with the system's gzip program.
std::string gzip(const std::string& path) {
  EXPECT_EQ(std::system(("gzip -f '" + path + "'").c_str()), 0);
  return path + ".gz";
}

// Every line, or the error as its only line.
std::vector<std::string> lines_of(const std::string& path) {
  Result<LineReader> reader = LineReader::open(path);
  if (!reader) return {reader.error().to_string()};
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const Result<bool> more = reader->next(line);
    if (!more) return {more.error().to_string()};
    if (!*more) return lines;
    lines.push_back(line);
  }
}

using Lines = std::vector<std::string>;

TEST(LineReader, GivesLinesWithoutTheirEnds) {
  const TestFolder folder;
  EXPECT_EQ(lines_of(folder.write("unix", "a\n\nb\n")), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of(folder.write("windows", "a\r\n\r\nb\r\n")), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of(folder.write("no last end", "a\nb")), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(folder.write("carriage return inside", "a\rb\n")), (Lines{"a\rb"}));
  EXPECT_EQ(lines_of(folder.write("empty", "")), Lines());
  EXPECT_EQ(lines_of(folder.write("one end", "\n")), Lines{""});
}

TEST(LineReader, LeavesOutAByteOrderMarkBeforeTheFirstLineOnly) {
  const TestFolder folder;
  EXPECT_EQ(lines_of(folder.write("marked", "\xEF\xBB\xBFx\n\xEF\xBB\xBFy\n")),
            (Lines{"x", "\xEF\xBB\xBFy"}));
}

TEST(LineReader, ReadsGzipWhateverItsName) {
  const TestFolder folder;
  const std::string packed = gzip(folder.write("trace.csv", "a,b\n1,2\n"));
  EXPECT_EQ(lines_of(packed), (Lines{"a,b", "1,2"}));
  std::filesystem::rename(packed, folder / "plain.csv");
  EXPECT_EQ(lines_of(folder / "plain.csv"), (Lines{"a,b", "1,2"}));
}

TEST(LineReader, ReadsGzipMembersAfterEachOtherAndSkipsPadding) {
  const TestFolder folder;
  gzip(folder.write("one", "a\nb"));
  gzip(folder.write("two", "c\n"));
  gzip(folder.write("none", ""));
  const std::string all = folder.read("one.gz") + folder.read("none.gz") + folder.read("two.gz");
  EXPECT_EQ(lines_of(folder.write("all.gz", all + std::string(700, '\0'))), (Lines{"a", "bc"}));
}

TEST(LineReader, RefusesDamagedGzipWithFileAndLine) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string packed =
      folder.read(std::filesystem::path(gzip(folder.write("t", text))).filename());
  ASSERT_GT(packed.size(), 1000U);

  const std::string cut = folder.write("cut.gz", packed.substr(0, packed.size() / 2));
  const std::string cut_error = lines_of(cut).at(0);
  EXPECT_EQ(cut_error.find(cut + ":"), 0U) << cut_error;
  EXPECT_NE(cut_error.find("ends early"), std::string::npos) << cut_error;

  const std::string no_checksum = folder.write("nosum.gz", packed.substr(0, packed.size() - 8));
  EXPECT_NE(lines_of(no_checksum).at(0).find("ends early"), std::string::npos);

  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 8] = static_cast<char>(wrong_sum[packed.size() - 8] ^ 1);
  EXPECT_NE(lines_of(folder.write("sum.gz", wrong_sum)).at(0).find("damaged gzip data"),
            std::string::npos);

  const std::string tail = folder.write("tail.gz", packed + "not gzip");
  EXPECT_NE(lines_of(tail).at(0).find("damaged gzip data"), std::string::npos);
}

TEST(LineReader, RefusesWhatIsNotText) {
  const TestFolder folder;
  const std::string binary = folder.write("binary", std::string("ok\nb\0d\n", 7));
  EXPECT_EQ(lines_of(binary), Lines{binary + ":2: a NUL byte: expected a text file in UTF-8"});
  const std::string endless = folder.write("endless", "ok\n" + std::string((16 << 20) + 1, 'x'));
  EXPECT_EQ(lines_of(endless),
            Lines{endless + ":2: a line longer than 16 MiB: expected a text file"});
}

TEST(LineReader, TakesAVeryLongLineWithinTheLimit) {
  const TestFolder folder;
  const std::string line(16 << 20, 'x');
  EXPECT_EQ(lines_of(folder.write("long", line + "\nend\n")), (Lines{line, "end"}));
}

TEST(LineReader, FindsLineEndsAnywhereInItsBuffers) {
  const TestFolder folder;
  Lines expected;
  std::string text;
  for (int i = 0; i < 400000; ++i) {
    expected.push_back(std::to_string(i));
    text += expected.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }
  EXPECT_TRUE(lines_of(folder.write("many", text)) == expected);
}

TEST(LineReader, CountsLinesAndChecksumsWhatItGave) {
  const TestFolder folder;
  // 0xCBF43926 is the check value of CRC-32 for the digits 1 to 9 in every list of CRCs.
  Result<LineReader> reader = LineReader::open(folder.write("digits", "123456789"));
  std::string line;
  EXPECT_EQ(reader->line_number(), 0);
  EXPECT_EQ(reader->crc32(), 0U);
  ASSERT_TRUE(reader->next(line).value());
  EXPECT_EQ(reader->line_number(), 1);
  EXPECT_EQ(reader->crc32(), 0xCBF43926U);

  // The same line and its end, although more has been read into the buffer.
  Result<LineReader> longer = LineReader::open(folder.write("longer", "a\r\nsecond line\n"));
  ASSERT_TRUE(longer->next(line).value());
  Result<LineReader> alone = LineReader::open(folder.write("alone", "a\r\n"));
  ASSERT_TRUE(alone->next(line).value());
  EXPECT_EQ(longer->crc32(), alone->crc32());
}

TEST(LineReader, GivesItsErrorAgain) {
  const TestFolder folder;
  Result<LineReader> reader = LineReader::open(folder.write("binary", std::string("\0\nx\n", 4)));
  std::string line;
  const Result<bool> first = reader->next(line);
  const Result<bool> second = reader->next(line);
  ASSERT_FALSE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(first.error().to_string(), second.error().to_string());
}

TEST(InputFile, NamesWhatCannotBeOpened) {
  const TestFolder folder;
  const Result<std::string> missing = read_file(folder / "missing", 10);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().where, folder / "missing");
  const Result<std::string> directory = read_file(folder / "", 10);
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(directory.error().message, "is a folder: expected a file");
}

TEST(InputFile, RefusesAFileWithoutPermission) {
  const TestFolder folder;
  const std::string secret = folder.write("secret", "x");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;  // whom permissions do not hold back
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Result<std::string> text = read_file(secret, 10);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kIo);
}

TEST(InputFile, LimitsWhatItReadsAfterUnpacking) {
  const TestFolder folder;
  EXPECT_EQ(read_file(folder.write("exact", "12345"), 5).value(), "12345");
  const Result<std::string> larger = read_file(folder.write("larger", "123456"), 5);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().message, "too large: expected at most 5 bytes");
  // A megabyte of zeros packs to about a thousand bytes.
  const std::string bomb = gzip(folder.write("bomb", std::string(1 << 20, '0')));
  ASSERT_LT(std::filesystem::file_size(bomb), 10000U);
  EXPECT_FALSE(read_file(bomb, 10000));
  EXPECT_EQ(read_file(bomb, 1 << 20).value().size(), std::size_t{1} << 20);
}

TEST(InputFile, StopsAtTheLimitOfAnEndlessFile) {
  EXPECT_FALSE(read_file("/dev/zero", 1 << 20));
}

}  // namespace
}  // namespace inferscale
