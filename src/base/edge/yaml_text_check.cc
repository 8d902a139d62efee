#include "base/edge/yaml_text_check.h"

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

std::size_t utf8_sequence_length(std::string_view text) {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  // The bounds of the second byte exclude long forms, surrogates and what is beyond U+10FFFF.
  unsigned lowest = 0x80;
  unsigned highest = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) lowest = 0xA0;
    if (first == 0xED) highest = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) lowest = 0x90;
    if (first == 0xF4) highest = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte_at(text, 1) < lowest || byte_at(text, 1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_at(text, i) < 0x80 || byte_at(text, i) > 0xBF) return 0;
  }
  return length;
}

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
