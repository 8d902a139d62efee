// Mooncake traces: one JSON object a line with timestamp (ms), input_length, output_length and
// hash_ids, one id for each block of 512 prompt tokens.
//
// Read with a SAX handler, not into a tree: it is strict about what stands where and sees a key
// that is there twice, which a tree would drop without a word.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "workload/readers/cell_values.h"
#include "workload/readers/csv_rows.h"
#include "workload/readers/format_readers.h"

namespace inferscale {
namespace {

constexpr std::uint32_t kBlockTokens = 512;

// Collects the four values of one object; stops at the first thing that doesn't belong.
class ObjectHandler {
 public:
  enum Key { kTimestamp, kInput, kOutput, kHashes, kKeyCount };
  static constexpr const char* kNames[kKeyCount] = {"timestamp", "input_length", "output_length",
                                                    "hash_ids"};

  std::string text[3];  // the numbers as they are written
  std::vector<std::uint64_t> hashes;
  std::string problem;  // "key: what is wrong"; empty: none

  bool all_seen() {
    for (int key = 0; key < kKeyCount; ++key) {
      if (!seen_[key]) return refuse("no key '" + std::string(kNames[key]) + "'");
    }
    return true;
  }

  bool null() { return unexpected_value("null"); }
  bool boolean(bool) { return unexpected_value("true or false"); }
  bool string(std::string&) { return unexpected_value("text"); }
  bool binary(std::vector<std::uint8_t>&) { return unexpected_value("binary data"); }
  bool number_integer(std::int64_t value) { return number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) {
    if (in_list_) {
      hashes.push_back(value);
      return true;
    }
    return number(std::to_string(value));
  }
  bool number_float(double, const std::string& written) { return number(written); }
  bool start_object(std::size_t) {
    if (depth_++ > 0) return unexpected_value("an object");
    return true;
  }
  bool end_object() { return true; }
  bool start_array(std::size_t) {
    if (depth_ == 0 || in_list_ || key_ != kHashes) return unexpected_value("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() {
    in_list_ = false;
    return true;
  }
  bool key(std::string& name) {
    for (int i = 0; i < kKeyCount; ++i) {
      if (name != kNames[i]) continue;
      if (std::exchange(seen_[i], true)) return refuse("key '" + name + "' is there twice");
      key_ = static_cast<Key>(i);
      return true;
    }
    return refuse("unknown key " + quoted_for_error(name) +
                  ": expected timestamp, input_length, output_length, hash_ids");
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return refuse("not JSON from byte " + std::to_string(position) +
                  " of the line on: expected one object a line");
  }

 private:
  bool refuse(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  bool unexpected_value(const std::string& found) {
    if (depth_ == 0) return refuse("the line is " + found + ": expected a JSON object");
    return refuse(std::string(kNames[key_]) + ": " + found + ": expected " +
                  (key_ == kHashes ? "a list of whole numbers" : "a number"));
  }
  bool number(std::string written) {
    if (depth_ == 0 || in_list_ || key_ == kHashes) return unexpected_value("'" + written + "'");
    text[key_] = std::move(written);
    return true;
  }

  bool seen_[kKeyCount] = {};
  Key key_ = kTimestamp;
  int depth_ = 0;
  bool in_list_ = false;
};

std::unexpected<Error> refuse_value(const ObjectHandler& object, ObjectHandler::Key key,
                                    std::string_view expected, const LineReader& lines) {
  return fail(ErrorCode::kInvalidInput,
              std::string(ObjectHandler::kNames[key]) + ": " + quoted_for_error(object.text[key]) +
                  ": expected " + std::string(expected),
              place_of(lines));
}

Result<void> add_object(const ObjectHandler& object, TraceBuilder& builder,
                        const LineReader& lines) {
  const auto arrival = scaled_decimal(object.text[ObjectHandler::kTimestamp], 6);
  if (!arrival || *arrival < 0) {
    return refuse_value(object, ObjectHandler::kTimestamp, "milliseconds from 0 to 9e12", lines);
  }
  const auto prompt = token_count(object.text[ObjectHandler::kInput], 1);
  if (!prompt) {
    return refuse_value(object, ObjectHandler::kInput, "a whole number from 1 to 10000000", lines);
  }
  const auto output = token_count(object.text[ObjectHandler::kOutput], 0);
  if (!output) {
    return refuse_value(object, ObjectHandler::kOutput, "a whole number from 1 to 10000000", lines);
  }
  const std::size_t full_blocks = *prompt / kBlockTokens;
  const std::size_t all_blocks = full_blocks + (*prompt % kBlockTokens == 0 ? 0 : 1);
  if (object.hashes.size() != full_blocks && object.hashes.size() != all_blocks) {
    return fail(ErrorCode::kInvalidInput,
                "hash_ids: " + std::to_string(object.hashes.size()) + " ids: expected " +
                    std::to_string(all_blocks) + ", one for each block of 512 of the " +
                    std::to_string(*prompt) + " prompt tokens",
                place_of(lines));
  }
  TraceRow row;
  row.arrival_ns = *arrival;
  row.prompt_tokens = *prompt;
  row.output_tokens = *output;
  row.block_hashes = object.hashes;
  return builder.add(row, {"timestamp", object.text[ObjectHandler::kTimestamp]},
                     {"output_length", object.text[ObjectHandler::kOutput]}, lines);
}

}  // namespace

Result<void> read_mooncake_jsonl(std::string first_line, LineReader& lines, TraceBuilder& builder) {
  builder.set_columns({.block_tokens = kBlockTokens});
  std::string line = std::move(first_line);
  for (;;) {
    ObjectHandler object;
    const bool parsed = nlohmann::json::sax_parse(line, &object) && object.all_seen();
    if (!parsed) return fail(ErrorCode::kInvalidInput, object.problem, place_of(lines));
    if (Result<void> added = add_object(object, builder, lines); !added) return added;
    const Result<bool> more = next_filled_line(lines, line);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
}

}  // namespace inferscale
