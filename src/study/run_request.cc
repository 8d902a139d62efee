#include "study/run_request.h"

#include "base/config_json.h"
#include "base/number_text.h"

namespace inferscale {

std::string setting_text(const Setting& setting) {
  return setting.key + "=" + to_json_text(setting.value);
}

std::string request_text(const RunRequest& request) {
  std::string text = "seed=" + std::to_string(request.seed);
  for (const Setting& setting : request.settings) text += " " + setting_text(setting);
  if (request.scales != ModelScales{}) {
    text += " scales=" + number_text(request.scales.prefill) + "," +
            number_text(request.scales.decode) + "," + number_text(request.scales.transfer);
  }
  return text;
}

}  // namespace inferscale
