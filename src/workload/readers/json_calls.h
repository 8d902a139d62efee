// One session of Claude Code calls as its JSON object says it: structure and keys, not yet meaning.
//
// Strict about what stands where: a key that is unknown, missing or there twice, a value of another
// kind. Numbers stay as they are written, so that no time goes through a floating-point number.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace inferscale {

struct JsonCall {
  std::ptrdiff_t parent = -1;  // index of the agent among whose calls it is; -1: the main agent
  std::size_t index = 0;       // in its list
  bool is_agent = false;       // an agent that starts, with calls of its own behind it
  std::string type;
  std::string time;  // seconds
  std::string prompt;
  std::string output;
  std::string agent_id;
  std::string answer_time;  // seconds; empty, like the two below: the line doesn't say
  std::string stop;
  std::string duration;  // of an agent, milliseconds
  std::size_t hashes_begin = 0;
  std::size_t hashes_end = 0;
};

struct JsonSession {
  std::string id;
  std::string block_size;
  std::string hash_scope;
  std::vector<JsonCall> calls;  // those of an agent behind its own entry
  std::vector<std::uint64_t> hashes;

  // Takes one line; what is wrong with it, or nothing.
  std::string parse(const std::string& line);
  // "requests[3].requests[0]"
  std::string path_of(const JsonCall& call) const;
  std::span<const std::uint64_t> hashes_of(const JsonCall& call) const {
    return std::span(hashes).subspan(call.hashes_begin, call.hashes_end - call.hashes_begin);
  }
};

}  // namespace inferscale
