#include "study/executors/study_folder.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/edge/output_file.h"
#include "study/executors/run_journal.h"
#include "study/executors/run_lines.h"
#include "study/executors/study_file.h"

namespace inferscale {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStudyFile = "study.json";
constexpr const char* kRunsFile = "runs.jsonl";
constexpr const char* kResultFile = "result.json";
constexpr const char* kPageFile = "report.html";  // made from the others

// What a study that was killed while it made its folder leaves, and hidden files of systems.
bool means_nothing(const std::string& name) {
  return name.starts_with('.') || name == std::string(kStudyFile) + ".partial";
}

// An error where files stand that no study wrote.
Result<void> check_is_free(const std::string& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (means_nothing(name)) continue;
    return fail(ErrorCode::kInvalidConfig,
                "holds '" + name +
                    "' and no study.json, so it is not a study folder: expected a study's "
                    "folder, an empty or a new one",
                path);
  }
  if (error) return fail(ErrorCode::kIo, "cannot be read: " + error.message(), path);
  return {};
}

class Folder final : public StudyFolder {
 public:
  Folder(std::string path, FolderLock lock, const StudyManifest& manifest)
      : path_(std::move(path)), lock_(std::move(lock)), study_text_(study_file_text(manifest)) {}

  Result<void> begin(const StudyManifest& manifest);
  const std::string& path() const override { return path_; }
  std::size_t known() const override { return known_; }
  const RunResult* ask(const RunKey& key) override;
  Result<const RunResult*> add(const RunKey& key, const RunResult& record) override;
  Result<void> finish(const JsonValue& result) override;

 private:
  struct Entry {
    std::optional<RunResult> record;
    bool asked = false;
  };
  using Entries = std::map<RunKey, Entry>;

  std::string file(const char* name) const { return path_ + "/" + name; }
  Result<void> take_up(std::vector<KeptRun> runs);

  std::string path_;
  FolderLock lock_;
  std::string study_text_;
  bool study_text_differs_ = false;  // in what is not compared: a name, a warning
  std::optional<RunJournal> journal_;
  Entries entries_;
  std::vector<Entries::const_iterator> order_;  // in which they were asked for
  std::size_t known_ = 0;
};

Result<void> Folder::begin(const StudyManifest& manifest) {
  std::error_code error;
  if (fs::exists(file(kStudyFile), error)) {
    Result<std::string> there = read_same_study(file(kStudyFile), path_, manifest);
    if (!there) return std::unexpected(there.error());
    study_text_differs_ = *there != study_text_;
    Result<std::vector<KeptRun>> runs = read_journal(file(kRunsFile));
    if (!runs) return std::unexpected(runs.error());
    if (Result<void> taken = take_up(std::move(*runs)); !taken) return taken;
  } else {
    if (Result<void> is_free = check_is_free(path_); !is_free) return is_free;
    if (Result<void> written = write_file(file(kStudyFile), study_text_); !written) return written;
  }
  Result<RunJournal> journal = RunJournal::open(file(kRunsFile));
  if (!journal) return std::unexpected(journal.error());
  journal_ = std::move(*journal);
  return {};
}

Result<void> Folder::take_up(std::vector<KeptRun> runs) {
  std::int64_t line = 0;
  for (KeptRun& run : runs) {
    ++line;
    const auto [entry, fresh] = entries_.try_emplace(std::move(run.key));
    if (fresh) {
      entry->second.record = std::move(run.record);
    } else if (entry->second.record != run.record) {
      return fail(ErrorCode::kInvalidInput,
                  "contradicts an earlier line: expected one record for each run",
                  file(kRunsFile) + ":" + std::to_string(line));
    }
  }
  known_ = entries_.size();
  return {};
}

const RunResult* Folder::ask(const RunKey& key) {
  const auto entry = entries_.try_emplace(key).first;
  if (!entry->second.asked) {
    entry->second.asked = true;
    order_.push_back(entry);
  }
  return entry->second.record ? &*entry->second.record : nullptr;
}

Result<const RunResult*> Folder::add(const RunKey& key, const RunResult& record) {
  const auto entry = entries_.find(key);
  CHECK(entry != entries_.end() && !entry->second.record) << "a run that nobody waits for";
  // A result that is followed by new runs is that of a folder somebody took runs out of.
  for (const char* name : {kResultFile, kPageFile}) {
    std::error_code error;
    fs::remove(file(name), error);
    if (error) return fail(ErrorCode::kIo, "cannot be removed: " + error.message(), file(name));
  }
  if (Result<void> added = journal_->append(run_line(key, record)); !added) {
    return std::unexpected(added.error());
  }
  entry->second.record = record;
  return &*entry->second.record;
}

Result<void> Folder::finish(const JsonValue& result) {
  Result<OutputFile> runs = OutputFile::create(file(kRunsFile));
  if (!runs) return std::unexpected(runs.error());
  for (const Entries::const_iterator entry : order_) {
    CHECK(entry->second.record.has_value()) << "a study ends before its runs";
    const Result<void> written = runs->append(run_line(entry->first, *entry->second.record));
    if (!written) return written;
  }
  if (Result<void> written = runs->finish(); !written) return written;
  if (study_text_differs_) {
    if (Result<void> written = write_file(file(kStudyFile), study_text_); !written) return written;
  }
  return write_file(file(kResultFile), result.indented_text());
}

}  // namespace

Result<std::unique_ptr<StudyFolder>> StudyFolder::open(const std::string& path,
                                                       const StudyManifest& manifest) {
  if (Result<void> made = make_folder(path); !made) return std::unexpected(made.error());
  Result<std::optional<FolderLock>> lock = FolderLock::try_take(path);
  if (!lock) return std::unexpected(lock.error());
  if (!*lock) {
    return fail(ErrorCode::kInvalidConfig,
                "another process writes to this folder: expected another folder, or wait for it",
                path);
  }
  auto folder = std::make_unique<Folder>(path, std::move(**lock), manifest);
  if (Result<void> begun = folder->begin(manifest); !begun) return std::unexpected(begun.error());
  return folder;
}

}  // namespace inferscale
