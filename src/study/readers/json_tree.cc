#include "study/readers/json_tree.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace inferscale {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;

class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit TreeBuilder(const SourcePosition& at) : at_(at) {}

  ConfigNode take() { return std::move(root_); }
  const std::optional<std::string>& error() const { return error_; }

  bool null() override { return place(ConfigNode::null(at_)); }
  bool boolean(bool value) override { return bare(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return bare(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return bare(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return bare(text); }
  bool string(string_t& text) override { return place(ConfigNode::scalar(text, true, at_)); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return open(ConfigNode::map(at_)); }
  bool start_array(std::size_t) override { return open(ConfigNode::list(at_)); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    open_.back().key = text;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const Json::exception& error) override {
    const std::string message = error.what();
    const std::size_t detail = message.rfind(": ");
    return refuse("not valid JSON at byte " + std::to_string(position) +
                  (detail == std::string::npos ? "" : message.substr(detail)));
  }

 private:
  struct Open {
    ConfigNode node;
    std::string key;
  };

  bool refuse(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool bare(std::string text) { return place(ConfigNode::scalar(std::move(text), false, at_)); }
  bool open(ConfigNode node) {
    if (open_.size() == kDeepest) return refuse("nested deeper than 64: expected a flat case");
    open_.push_back({.node = std::move(node), .key = {}});
    return true;
  }
  bool close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    return place(std::move(node));
  }
  bool place(ConfigNode value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Open& parent = open_.back();
    if (!parent.node.is_map()) {
      parent.node.append(std::move(value));
      return true;
    }
    if (parent.node.find(parent.key) != nullptr) {
      return refuse("key '" + parent.key + "' twice in one object: expected it once");
    }
    parent.node.append(parent.key, std::move(value), at_);
    return true;
  }

  SourcePosition at_;
  ConfigNode root_;
  std::vector<Open> open_;
  std::optional<std::string> error_;
};

}  // namespace

Result<ConfigNode> parse_json_tree(std::string_view text, const SourcePosition& at) {
  TreeBuilder builder(at);
  const bool whole = Json::sax_parse(text.begin(), text.end(), &builder);
  if (whole && !builder.error()) return builder.take();
  return fail(ErrorCode::kInvalidInput,
              builder.error().value_or("not valid JSON: expected one value"), at.to_string());
}

}  // namespace inferscale
