// A configuration as a tree of maps, lists and scalars, each with its position in the source.
//
// The tree is what the library reads; how it came to be (YAML on disk, `--set` on the command
// line, JSON in a browser) is the business of the edges. Scalars are kept as the text that was
// written; `ConfigReader` gives them types. Maps keep their order and hold each key once.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace inferscale {

struct SourcePosition {
  std::string source;  // a file name, or "--set"
  int line = 0;        // from 1; 0: the source has no lines
  std::string to_string() const;
};

class ConfigNode {
 public:
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Entry;

  ConfigNode();
  ConfigNode(const ConfigNode&);
  ConfigNode(ConfigNode&&) noexcept;
  ConfigNode& operator=(const ConfigNode&);
  ConfigNode& operator=(ConfigNode&&) noexcept;
  ~ConfigNode();
  static ConfigNode null(SourcePosition at);
  // `quoted`: written in quotation marks, so it is text whatever it looks like.
  static ConfigNode scalar(std::string text, bool quoted, SourcePosition at);
  static ConfigNode list(SourcePosition at);
  static ConfigNode map(SourcePosition at);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_map() const { return kind_ == Kind::kMap; }
  const SourcePosition& position() const { return position_; }
  const std::string& text() const { return text_; }
  bool quoted() const { return quoted_; }
  const std::vector<ConfigNode>& items() const { return items_; }
  const std::vector<Entry>& entries() const { return entries_; }

  // The value of `key` in a map, or null when the key (or the map) is not there.
  const ConfigNode* find(std::string_view key) const;

  void append(ConfigNode item) { items_.push_back(std::move(item)); }
  // Adds an entry to a map. REQUIRES: the map does not hold `key` yet (put() looks; this doesn't).
  void append(std::string key, ConfigNode value, SourcePosition key_position);
  // Adds or replaces. Returns false when the key was there already.
  bool put(std::string key, ConfigNode value, SourcePosition key_position);
  // Sets the value at a dotted path ("deployment.engine.max_num_seqs"), making maps on the way.
  // Fails when a step of the path is a list or a scalar. A key `policy` that is set to another
  // value takes the `parameters` beside it along: they were the other policy's.
  Result<void> set_path(std::string_view dotted_path, ConfigNode value);

  // What was written, short enough for an error message: a scalar's text, "a map", "a list",
  // "null".
  std::string describe() const;

 private:
  void drop_parameters_of_another(std::string_view key, const ConfigNode& value);

  Kind kind_ = Kind::kNull;
  bool quoted_ = false;
  std::string text_;
  std::vector<ConfigNode> items_;
  std::vector<Entry> entries_;
  SourcePosition position_;
};

struct ConfigNode::Entry {
  std::string key;
  SourcePosition key_position;
  ConfigNode value;
};

}  // namespace inferscale
