// Builds a configuration tree from the events of the YAML parser, and refuses on the way what a
// configuration has no use for (see yaml_config.h). The first refusal is kept and later events are
// ignored, so the tree never grows beyond what was written in the text.

#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_node.h"
#include "base/result.h"

namespace inferscale {

class YamlTreeBuilder final : public YAML::EventHandler {
 public:
  // `text` is what the parser reads; it must outlive the builder. Without lines, positions name the
  // source only.
  YamlTreeBuilder(std::string_view text, std::string source, bool has_lines);

  const std::optional<Error>& error() const { return error_; }
  // REQUIRES: the parser came to the end of the text and there is no error.
  ConfigNode take_root() { return std::move(root_); }
  SourcePosition position(const YAML::Mark& mark) const;
  // Where a bracket that is never closed began, when the library found such a one; nothing when the
  // error is another one.
  std::optional<SourcePosition> unclosed_bracket() const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  struct PendingKey {
    std::string text;
    SourcePosition position;
  };
  // A list or map whose end has not come yet.
  struct Open {
    ConfigNode node;
    std::optional<PendingKey> key;         // in a map: its value comes next
    std::map<std::string, int> key_lines;  // in a map: the keys so far
  };

  void refuse(const YAML::Mark& mark, std::string message);
  // Whether the event may become a node; refuses it otherwise.
  bool accept(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  bool expects_key() const;
  void open(const YAML::Mark& mark, ConfigNode node);
  void close();
  void place_key(const YAML::Mark& mark, const std::string& text);
  void place(ConfigNode value);
  char character_at(const YAML::Mark& mark) const;

  std::string_view text_;
  std::string source_;
  bool has_lines_;
  int documents_ = 0;
  int nodes_ = 0;
  std::vector<Open> open_;
  ConfigNode root_;
  std::optional<Error> error_;
  // A list or map refused as a key. The library sees one too in a bracket that is never closed.
  std::optional<SourcePosition> refused_key_;
};

}  // namespace inferscale
