#include "report/text/number_words.h"

#include <fmt/format.h>

namespace inferscale {

std::string percent(double fraction) {
  if (fraction > 0 && fraction < 0.0005) return "< 0.1 %";
  if (fraction < 1 && fraction > 0.9999) return "99.99 %";
  return fmt::format("{:.{}f} %", 100.0 * fraction, fraction > 0.99 && fraction < 1 ? 2 : 1);
}

}  // namespace inferscale
