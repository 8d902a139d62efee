// Collects the rows that a reader understood into a Trace: order, failed calls, names, content,
// origin.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/edge/input_file.h"
#include "base/result.h"
#include "core/carried_columns.h"
#include "workload/content_tree.h"
#include "workload/trace.h"
#include "workload/trace_content.h"

namespace inferscale {

// One row. Optional cells count when the builder was told that the trace has their column.
struct TraceRow {
  std::int64_t arrival_ns = 0;  // on the file's own time line
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;  // 0: a failed call
  std::string_view tenant;          // empty: none
  std::string_view session;
  std::int64_t priority = CarriedColumns::kNoPriority;
  double deadline_ms = 0;
  std::span<const std::uint64_t> block_hashes;
  ContentTree::Node content = 0;
  std::uint32_t series = 0;           // rows of one series are in order of arrival
  std::int64_t session_begin_ns = 0;  // counts where the columns say so
};

struct TraceColumns {
  bool tenant = false;
  bool session = false;
  bool priority = false;
  bool deadline = false;
  // The file is made of several series, one after the other, each in order of arrival: rows are
  // put in order without being asked.
  bool several_series = false;
  std::uint32_t block_tokens = 0;  // 0: the file says nothing about content
  bool session_begins = false;     // rows say when their sessions began
  bool content_tree = false;       // rows are prompts of tree(); else they have block hashes
};

class TraceBuilder {
 public:
  TraceBuilder(TraceFormat format, const TraceOptions& options);

  void set_columns(const TraceColumns& columns);
  ContentTree& tree() { return tree_; }
  // The column's name and what is in it, for errors of the two checks below.
  struct Cell {
    std::string_view name;
    std::string_view text;
  };
  // Takes the row that `lines` gave last, or leaves it out when it is a failed call and those are
  // skipped. Errors: an arrival before the one above, a failed call that isn't to be skipped.
  Result<void> add(const TraceRow& row, Cell arrival, Cell output, const LineReader& lines);

  // A sentence about how the rows differ from the file's.
  void note_change(std::string change) { trace_.changes.push_back(std::move(change)); }

  // Sorts and cuts as the options say. `rebase`: the first arrival becomes instant 0.
  Result<Trace> finish(bool rebase, const std::string& path);

 private:
  class NameTable {
   public:
    std::uint32_t index_of(std::string_view name, std::vector<std::string>& names);

   private:
    struct Hash {
      using is_transparent = void;
      std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
      }
    };
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> indices_;
  };

  Result<void> check_order(const TraceRow& row, Cell arrival, const LineReader& lines);
  void put_in_order();
  TraceContent finish_content() const;

  const TraceOptions& options_;
  Trace trace_;
  TraceColumns columns_;
  std::uint64_t scope_;  // of the keys of content
  std::optional<BlockChains> chains_;
  ContentTree tree_;
  std::vector<ContentTree::Node> prompts_;  // by row
  std::vector<std::int64_t> latest_by_series_;
  std::uint64_t earlier_ = 0;  // rows that were earlier than the one above in their series
  NameTable tenants_;
  NameTable sessions_;
};

}  // namespace inferscale
