// Strict reading of the fields of one JSON object; the first error is kept.
//
// The only part of the catalogue whose interface shows the JSON library; used inside readers/.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace inferscale {

// Parses text that must be one JSON object. The error says where parsing stopped.
Result<nlohmann::json> parse_json_object(const std::string& text, const std::string& source);

// A view of one object. Keys that are null read as missing, as Hugging Face means them.
class HfFields {
 public:
  HfFields(const nlohmann::json& object, std::string source, std::string prefix = {});

  // At least `min` and at most 2^40; without a fallback the key is required.
  std::int64_t integer(std::string_view key, std::int64_t min,
                       std::optional<std::int64_t> fallback = std::nullopt);
  std::optional<double> number(std::string_view key);
  bool boolean(std::string_view key, bool fallback);
  std::string text(std::string_view key, const std::string& fallback);
  std::vector<std::string> texts(std::string_view key);  // a list; empty when missing
  std::int64_t list_size(std::string_view key);          // 0 when missing
  std::optional<HfFields> object(std::string_view key);
  // The first object among the values of this one; for maps whose keys are names.
  std::optional<HfFields> first_object();
  bool has(std::string_view key) const;

  void fail(std::string_view key, const std::string& expected);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  // Takes over the error of a view below this one.
  void join(const HfFields& below);

 private:
  const nlohmann::json* find(std::string_view key) const;

  const nlohmann::json* object_;
  std::string source_;
  std::string prefix_;
  std::optional<Error> error_;
};

}  // namespace inferscale
