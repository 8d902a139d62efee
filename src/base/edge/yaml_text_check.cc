#include "base/edge/yaml_text_check.h"

#include "base/utf8.h"

namespace inferscale {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

// Two capital hexadecimal digits.
std::string hexadecimal(unsigned byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return {kDigits[byte / 16], kDigits[byte % 16]};
}

}  // namespace

std::optional<TextFlaw> find_text_flaw(std::string_view text) {
  int line = 1;
  std::size_t i = 0;
  while (i < text.size()) {
    const unsigned byte = byte_at(text, i);
    const bool line_end =
        byte == '\n' || (byte == '\r' && i + 1 < text.size() && text[i + 1] == '\n');
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7F) {
      return TextFlaw{line, "the control character 0x" + hexadecimal(byte) + ": expected text"};
    }
    const std::size_t length = utf8_sequence_length(text.substr(i, 4));
    if (length == 0) {
      return TextFlaw{line,
                      "the byte 0x" + hexadecimal(byte) + " is not UTF-8: expected UTF-8 text"};
    }
    if (byte == '\n') ++line;
    i += length;
  }
  return std::nullopt;
}

}  // namespace inferscale
