#include "tidy/source_text.h"

#include <algorithm>

namespace inferscale::tidy {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {
    const std::string blank = blanked(text);
    parts_ = {std::string(text), std::string(text), blank};
  }

  SourceText split() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        comment(text_.find('\n', at_), 0);
      } else if (starts("/*")) {
        comment(text_.find("*/", at_ + 2), 2);
      } else if (text_[at_] == '"') {
        const bool raw = at_ > 0 && text_[at_ - 1] == 'R' && (at_ < 2 || !is_word(text_[at_ - 2]));
        raw ? raw_string() : quoted();
      } else if (text_[at_] == '\'' && (at_ == 0 || !is_word(text_[at_ - 1]))) {
        quoted();
      } else {
        ++at_;
      }
    }
    return std::move(parts_);
  }

 private:
  static std::string blanked(std::string_view text) {
    std::string blank(text);
    for (char& c : blank) {
      if (c != '\n') c = ' ';
    }
    return blank;
  }

  bool starts(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }

  static void blank(std::string& part, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (part[i] != '\n') part[i] = ' ';
    }
  }

  void comment(std::size_t end, std::size_t end_length) {
    end = std::min(end == std::string_view::npos ? end : end + end_length, text_.size());
    blank(parts_.code, at_, end);
    blank(parts_.uncommented, at_, end);
    std::copy_n(text_.data() + at_, end - at_, parts_.comments.data() + at_);
    at_ = end;
  }

  // Blanks what stands between the marks at `at_` and `end - 1` in the code.
  void literal(std::size_t end) {
    end = std::min(end, text_.size());
    if (end > at_ + 2) blank(parts_.code, at_ + 1, end - 1);
    at_ = end;
  }

  void quoted() {
    const char mark = text_[at_];
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != mark && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    literal(end + 1);
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return quoted();
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t close = text_.find(end, open);
    literal(close == std::string_view::npos ? close : close + end.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  SourceText parts_;
};

}  // namespace

SourceText split_source(std::string_view text) {
  return Splitter(text).split();
}

int line_of(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(offset), '\n'));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace inferscale::tidy
