// Reads a configuration tree strictly: typed values, ranges, defaults, required and unknown keys.
//
// Each module reads its own part with a function over a `ConfigReader`. The same function, run in
// the mode that describes, yields the list of all keys with type, default, unit and meaning:
// `config reference` prints that list, so the reference cannot differ from what is read.
//
//   ConfigSession session;                                  // or ConfigSession::describing()
//   ConfigReader root(tree, session);
//   ConfigReader engine = root.map("engine", "the engine's own limits");
//   options.max_num_seqs = engine.integer("max_num_seqs", {.fallback = 256, .min = 1,
//                              .unit = "sequences", .doc = "most sequences in one batch"});
//   engine.finish();                                        // unknown keys become errors here
//   root.finish();
//   if (session.failed()) return std::unexpected(session.error());
//
// The first error is kept, later reads return defaults: one clear error for each run. A key that
// nobody read is reported before a key that is missing, because the first is mostly a misspelling
// of the second.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"

namespace inferscale {

// One line of the reference: what a key is for.
struct KeyDescription {
  std::string path;
  std::string type;  // "number", "integer", "true or false", "text", "map", "list", or "a | b | c"
  std::string fallback;  // as written in YAML; "required" when there is none
  std::string unit;
  std::string doc;
  std::string condition;  // "process: gamma": the key belongs to that choice only; else empty
};

// A number's rules. Without a fallback the key is required. An optional number that is not written
// takes the fallback, or is nothing without one; written as null it is nothing.
struct NumberRule {
  std::optional<double> fallback = std::nullopt;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  // min itself is not allowed
  std::string_view unit = {};
  std::string_view doc = {};
};

struct IntegerRule {
  std::optional<std::int64_t> fallback = std::nullopt;
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string_view unit = {};
  std::string_view doc = {};
};

// What one reading of a whole configuration shares: the first error, or the description.
class ConfigSession {
 public:
  ConfigSession() = default;
  static ConfigSession describing();

  bool is_describing() const { return describing_; }
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  const std::vector<KeyDescription>& descriptions() const { return descriptions_; }
  // The tree that was read, with the default filled in for every key that was not written (but for
  // keys inside lists).
  const ConfigNode& effective() const { return effective_; }

 private:
  friend class ConfigReader;
  void fail(const SourcePosition& at, std::string message);
  void fill_in(const std::string& path, ConfigNode value);

  bool describing_ = false;
  ConfigNode effective_;
  std::optional<Error> error_;
  std::vector<KeyDescription> descriptions_;
  std::string condition_;
  std::deque<ConfigNode> inherited_;  // trees that were made for inheriting(), with their readers
};

// A view of one map. Cheap to make; keeps a reference to the tree and the session.
class ConfigReader {
 public:
  // `root` may be null (an empty document) or a map; anything else is an error.
  ConfigReader(const ConfigNode& root, ConfigSession& session);

  // A map below this one. Missing or null reads as empty, so its keys take their defaults.
  ConfigReader map(std::string_view key, std::string_view doc);
  // Nothing when the key is missing or null. In a description always a reader.
  std::optional<ConfigReader> optional_map(std::string_view key, std::string_view doc);
  // A list of maps, possibly empty; in a description one empty map.
  std::vector<ConfigReader> list(std::string_view key, std::string_view doc);

  double number(std::string_view key, const NumberRule& rule);
  std::optional<double> optional_number(std::string_view key, const NumberRule& rule);
  std::int64_t integer(std::string_view key, const IntegerRule& rule);
  std::optional<std::int64_t> optional_integer(std::string_view key, const IntegerRule& rule);
  std::vector<double> numbers(std::string_view key, const NumberRule& rule);
  bool boolean(std::string_view key, bool fallback, std::string_view doc);
  // Without a fallback the key is required.
  std::string text(std::string_view key, std::optional<std::string> fallback, std::string_view doc);
  std::optional<std::string> optional_text(std::string_view key, std::string_view doc);
  std::string choice(std::string_view key, std::initializer_list<std::string_view> choices,
                     std::optional<std::string_view> fallback, std::string_view doc);

  // Runs `body` when `chosen` equals `value`; in a description always, marking the keys with
  // "key: value" as their condition.
  void when(std::string_view key, std::string_view chosen, std::string_view value,
            const std::function<void()>& body);

  // True when the key is written and not null.
  bool has(std::string_view key) const;
  bool is_describing() const { return session_->is_describing(); }
  // A key whose map may inherit. When the map itself says `chooser` otherwise than the one that it
  // would inherit from, the keys that belong to the choice mean something else: nothing is taken.
  struct Inheritance {
    std::string_view key;
    std::string_view chooser = {};
  };
  // A reader in this one's place that also reads what `base` has written for these keys, where this
  // map has not: maps inherit key by key. Errors about an inherited value say where it is written.
  ConfigReader inheriting(const ConfigReader& base, std::initializer_list<Inheritance> keys) const;
  // A reader in this one's place that has what `defaults` holds for these keys, where this map has
  // not: as inheriting(), and noted as defaults in the session's effective tree.
  ConfigReader with_defaults(const ConfigNode& defaults,
                             std::initializer_list<Inheritance> keys) const;
  // The whole value of `key`, for readers of free-form parts; null when missing. Counts as read.
  const ConfigNode* raw(std::string_view key, std::string_view type, std::string_view doc,
                        std::string_view fallback = "null");

  // An error about `key` (or about this map, when the key is empty or missing).
  void fail(std::string_view key, std::string_view expected);
  // Every key of the map must have been read by now.
  void finish();
  // Reports a missing key at once, where the rest of the map can't be read without it.
  void finish_missing() {
    if (!missing_.empty()) session_->fail(position_, missing_);
  }

  const std::string& path() const { return path_; }
  // Where this map begins; for a map that is not written, where the map around it begins.
  const SourcePosition& position() const { return position_; }

 private:
  ConfigReader(const ConfigNode* node, ConfigSession* session, std::string path,
               SourcePosition position);
  // The value of `key`, marked as known; null when missing or null.
  const ConfigNode* take(std::string_view key);
  std::string path_of(std::string_view key) const;
  void missing(std::string_view key, std::string_view expected);
  // Notes the default that a key takes which is not written.
  void fill_in(std::string_view key, std::string text, bool quoted);
  void fill_in_null(std::string_view key);
  void wrong(std::string_view key, const ConfigNode& value, std::string_view expected);
  void describe(std::string_view key, std::string_view type, std::string fallback,
                std::string_view unit, std::string_view doc);
  std::optional<double> parse_number(std::string_view key, const ConfigNode& value,
                                     const NumberRule& rule);
  std::optional<std::int64_t> parse_integer(std::string_view key, const ConfigNode& value,
                                            const IntegerRule& rule);

  const ConfigNode* node_;
  ConfigSession* session_;
  std::string path_;
  SourcePosition position_;
  std::vector<std::string> known_;
  std::string missing_;  // the first missing key's message, reported by finish()
};

}  // namespace inferscale
