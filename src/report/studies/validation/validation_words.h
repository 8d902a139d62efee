// The sentences with which the text of a validation begins: what its errors mean for somebody who
// wants to use a prediction.

#pragma once

#include <string>

#include "report/studies/validation/validation_rows.h"

namespace inferscale {

// A signed relative error as people read it: "+9.1 %", "-50.0 %", "+1235 %".
std::string error_percent(double relative_error);
// The same without a sign.
std::string ape_percent(double ape);

// Paragraphs, each with an empty line after it.
std::string validation_verdict(const ValidationRows& rows);

}  // namespace inferscale
