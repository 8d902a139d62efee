// What the terminal can do, and a line of progress on it.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "report/text/sparkline.h"

namespace inferscale {

// Blocks where standard output's locale is UTF-8, plain letters elsewhere.
PlotGlyphs plot_glyphs();

// Set by the first Ctrl-C or SIGTERM; one more, over a second later, ends the program at
// once.
const std::atomic<bool>& stop_requested();
void listen_for_stop();

// "simulating  45 %  450000 of 1000000 requests  3 s left", rewritten in place on standard error,
// a few times a second; nothing at all when standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine(std::string label, std::uint64_t total, std::string unit);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(std::uint64_t done) { show_part(done, total_, 0); }
  // Of a total that grows. `reused` of those done cost no time.
  void show_part(std::uint64_t done, std::uint64_t total, std::uint64_t reused);

 private:
  std::string label_;
  std::uint64_t total_;
  std::string unit_;
  bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace inferscale
