#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace inferscale {
namespace {

std::atomic<bool> stop_flag{false};
std::atomic<std::int64_t> stop_second{0};
static_assert(std::atomic<bool>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler sets them");

// Wrappers send one wish to stop twice (to the process and to its group), so only a signal that
// comes later than that is a second wish.
void on_stop(int signal) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!stop_flag.exchange(true)) {
    stop_second.store(now.tv_sec);
  } else if (now.tv_sec > stop_second.load() + 1) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

PlotGlyphs plot_glyphs() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string locale(value);
    const bool utf8 = locale.find("UTF-8") != std::string::npos ||
                      locale.find("utf8") != std::string::npos ||
                      locale.find("utf-8") != std::string::npos;
    return utf8 ? PlotGlyphs::kUnicode : PlotGlyphs::kAscii;
  }
  return PlotGlyphs::kAscii;
}

const std::atomic<bool>& stop_requested() {
  return stop_flag;
}

void listen_for_stop() {
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
}

ProgressLine::ProgressLine(std::string label, std::uint64_t total, std::string unit)
    : label_(std::move(label)),
      total_(total),
      unit_(std::move(unit)),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      started_(std::chrono::steady_clock::now()),
      last_(started_) {}

void ProgressLine::show_part(std::uint64_t done, std::uint64_t total, std::uint64_t reused) {
  if (!on_terminal_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\033[K{} {:3.0f} %  {} of {} {}", label_,
             100 * static_cast<double>(done) / static_cast<double>(total), done, total, unit_);
  if (done > reused) {
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    const double left = static_cast<double>(total - done) / static_cast<double>(done - reused);
    fmt::print(stderr, "  {:.0f} s left", elapsed * left);
  }
  std::fflush(stderr);
}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

}  // namespace inferscale
