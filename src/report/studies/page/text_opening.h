// How the text of a study begins: its verdict, sentence by sentence, up to the first table.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace inferscale {

struct OpeningPart {
  std::string head;      // "Verdict", in a line "Verdict    The treatment is better."; may be empty
  std::string text;      // on one line, however the text wraps it
  bool command = false;  // options for a command line: "--set deployment.replicas=2"
  bool operator==(const OpeningPart&) const = default;
};

// A title in the first line is left out. Tables, and their titles, end the opening: their lines
// begin with spaces, their titles have no full stop.
std::vector<OpeningPart> opening_of(std::string_view text);

}  // namespace inferscale
