// What the rules need to know of a C++ file: its includes, its functions, where a word stands.
//
// A scanner of braces and words, not a parser: it is right for code in the house style and says too
// little, never too much, about code that is not.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tidy/source_text.h"

namespace inferscale::tidy {

struct Include {
  std::string header;
  int line = 0;
};

std::vector<Include> find_includes(const SourceText& source);

struct Function {
  std::string name;  // the last name before its parameters
  int line = 0;      // of its opening brace
  int length = 0;    // lines from the opening brace to the closing one
};

// Functions with a body, those in classes too; a lambda counts with the function around it.
std::vector<Function> find_functions(const SourceText& source);

struct WordRule {
  std::string_view word;   // may be qualified: "std::log"
  bool call_only = false;  // only followed by "(", and not as the member of an object
};

// The lines on which the word stands in the code. An unqualified word that is called also matches
// behind "std::", but behind no other qualifier.
std::vector<int> find_word(const SourceText& source, const WordRule& rule);

}  // namespace inferscale::tidy
