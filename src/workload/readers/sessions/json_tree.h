// A JSON object in memory, to be read strictly: for formats of small lines.
//
// Numbers stay as they are written, lists of whole numbers are kept as numbers. A key that is there
// twice is an error of its own, which a map would hide.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inferscale {

struct JsonTree {
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kText, kList, kObject };

  Kind kind = Kind::kNull;
  std::string text;                    // of a number or text
  std::vector<std::string> keys;       // of an object, beside its values
  std::vector<JsonTree> values;        // of an object or a list
  std::vector<std::uint64_t> numbers;  // of a list of whole numbers and nothing else

  // Takes one line that must be an object; what is wrong with it, or nothing.
  std::string parse(const std::string& line);
};

// The keys of one object, each asked for once.
//
//   JsonFields fields(object, "sub_requests[2].");
//   const JsonTree* tokens = fields.take("input_toks", JsonTree::Kind::kNumber);
//   fields.skip("model");
//   if (std::string problem = fields.finish(); !problem.empty()) ...
//
// The first thing that is wrong is kept: a key that is missing or of another kind, one that nobody
// asked for.
class JsonFields {
 public:
  // `prefix` stands before keys in errors: "" or "path.to.object.".
  JsonFields(const JsonTree& object, std::string prefix);

  // Null when there is no such key, which is an error, or another kind.
  const JsonTree* take(std::string_view key, JsonTree::Kind kind);
  // Null when there is no such key or its value is null.
  const JsonTree* take_optional(std::string_view key, JsonTree::Kind kind);
  // A key that says nothing of use here.
  void skip(std::string_view key);
  // An error about a value: "prefix.key: 'text': expected ...".
  void refuse(std::string_view key, std::string_view text, std::string_view expected);
  // What is wrong with the object, or nothing.
  std::string finish();

 private:
  const JsonTree* find(std::string_view key);
  void set_problem(std::string what);

  const JsonTree& object_;
  std::string prefix_;
  std::string problem_;
  std::vector<bool> asked_;  // by place among the object's keys
  std::string known_;        // keys, for errors
};

}  // namespace inferscale
