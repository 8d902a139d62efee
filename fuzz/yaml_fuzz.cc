// Any text as a configuration: it is refused with a place, or it becomes a tree whose JSON, read
// again as a configuration, is the same tree.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/edge/yaml_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace inferscale;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<ConfigNode> tree = parse_yaml(text, "fuzz");
  if (tree) {
    const std::string json = to_json_text(*tree);
    const Result<ConfigNode> again = parse_yaml(json, "json");
    CHECK(again) << again.error().to_string() << "\n" << json;
    CHECK(to_json_text(*again) == json) << json << "\n" << to_json_text(*again);
  } else {
    const std::string error = tree.error().to_string();
    CHECK(error.starts_with("fuzz:")) << error;
    CHECK(error.find(": ") + 2 < error.size()) << error;
  }
  ConfigNode root;
  (void)apply_setting(root, text);
  return 0;
}
