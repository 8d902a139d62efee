#include "workload/readers/json_calls.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "workload/readers/csv_rows.h"

namespace inferscale {
namespace {

enum class Kind : std::uint8_t {
  kText,
  kNumber,
  kTextOrNull,
  kNumberOrNull,
  kCalls,
  kHashes,
  kUnread
};

struct Key {
  const char* name;
  Kind kind;
};

enum SessionKey : std::size_t { kId, kBlockSize, kHashScope, kSessionKeysNeeded = 4 };
constexpr std::array<Key, 8> kSessionKeys = {{{"id", Kind::kText},
                                              {"block_size", Kind::kNumber},
                                              {"hash_id_scope", Kind::kText},
                                              {"requests", Kind::kCalls},
                                              {"models", Kind::kUnread},
                                              {"tool_tokens", Kind::kUnread},
                                              {"system_tokens", Kind::kUnread},
                                              {"totals", Kind::kUnread}}};

enum CallKey : std::size_t {
  kType,
  kTime,
  kPrompt,
  kOutput,
  kHashIds,
  kAgentId,
  kRequests,
  kStop = 10,
  kAnswerTime = 11,
  kDuration = 15
};
constexpr std::array<Key, 22> kCallKeys = {{{"type", Kind::kText},
                                            {"t", Kind::kNumber},
                                            {"in", Kind::kNumber},
                                            {"out", Kind::kNumber},
                                            {"hash_ids", Kind::kHashes},
                                            {"agent_id", Kind::kText},
                                            {"requests", Kind::kCalls},
                                            {"model", Kind::kUnread},
                                            {"input_types", Kind::kUnread},
                                            {"output_types", Kind::kUnread},
                                            {"stop", Kind::kTextOrNull},
                                            {"api_time", Kind::kNumberOrNull},
                                            {"think_time", Kind::kUnread},
                                            {"ttft", Kind::kUnread},
                                            {"subagent_type", Kind::kUnread},
                                            {"duration_ms", Kind::kNumberOrNull},
                                            {"status", Kind::kUnread},
                                            {"models", Kind::kUnread},
                                            {"tool_tokens", Kind::kUnread},
                                            {"system_tokens", Kind::kUnread},
                                            {"tool_use_count", Kind::kUnread},
                                            {"total_tokens", Kind::kUnread}}};
static_assert(std::string_view(kCallKeys[kStop].name) == "stop");
static_assert(std::string_view(kCallKeys[kAnswerTime].name) == "api_time");
static_assert(std::string_view(kCallKeys[kDuration].name) == "duration_ms");
constexpr std::array<CallKey, 4> kKeysOfACall = {kTime, kPrompt, kOutput, kHashIds};
constexpr std::array<CallKey, 3> kKeysOfAnAgent = {kTime, kAgentId, kRequests};

std::string wanted(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "text";
    case Kind::kNumber:
      return "a number";
    case Kind::kTextOrNull:
      return "text or null";
    case Kind::kNumberOrNull:
      return "a number or null";
    case Kind::kCalls:
      return "a list of objects";
    case Kind::kHashes:
      return "a list of whole numbers";
    case Kind::kUnread:
      break;
  }
  return "anything";
}

// Fills a session while the parser goes through the line; stops at the first thing that doesn't
// belong.
class SessionHandler {
 public:
  explicit SessionHandler(JsonSession& session) : session_(session) {}

  std::string problem;  // empty: none

  bool null() {
    return expects(Kind::kTextOrNull) || expects(Kind::kNumberOrNull) || scalar("null");
  }
  bool boolean(bool) { return scalar("true or false"); }
  bool binary(std::vector<std::uint8_t>&) { return scalar("binary data"); }
  bool string(std::string& text) {
    if (expects(Kind::kText) || expects(Kind::kTextOrNull)) {
      *target() = std::move(text);
      return true;
    }
    return scalar("text");
  }
  bool number_integer(std::int64_t value) { return number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) {
    if (!levels_.empty() && levels_.back().place == Place::kHashes) {
      session_.hashes.push_back(value);
      return true;
    }
    return number(std::to_string(value));
  }
  bool number_float(double, const std::string& written) { return number(written); }

  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool key(std::string& name);
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return refuse("not JSON from byte " + std::to_string(position) +
                  " of the line on: expected one object a line");
  }

 private:
  enum class Place : std::uint8_t { kSession, kCalls, kCall, kHashes, kUnread };
  struct Level {
    Place place;
    std::ptrdiff_t call = -1;  // that it is or belongs to
    std::size_t entries = 0;   // of a list of calls
    std::uint32_t seen = 0;    // keys, a bit each
    std::size_t key = 0;       // the latest
  };

  bool refuse(std::string what) {
    if (problem.empty()) problem = std::move(what);
    return false;
  }
  bool in_object() const {
    return !levels_.empty() &&
           (levels_.back().place == Place::kSession || levels_.back().place == Place::kCall);
  }
  std::span<const Key> keys() const {
    return levels_.back().place == Place::kSession ? std::span<const Key>(kSessionKeys)
                                                   : std::span<const Key>(kCallKeys);
  }
  bool expects(Kind kind) const { return in_object() && keys()[levels_.back().key].kind == kind; }
  JsonCall& call() { return session_.calls[static_cast<std::size_t>(levels_.back().call)]; }
  // An error about the object itself.
  bool refuse_here(const std::string& what) {
    return refuse(levels_.back().call < 0 ? what : session_.path_of(call()) + ": " + what);
  }
  // "requests[3]." before a key of a call.
  std::string prefix() { return levels_.back().call < 0 ? "" : session_.path_of(call()) + "."; }
  // Where the text or number of the latest key goes.
  std::string* target();
  bool unexpected_value(const std::string& found);
  bool scalar(const std::string& found) {
    const bool unread = !levels_.empty() && levels_.back().place == Place::kUnread;
    return unread || expects(Kind::kUnread) || unexpected_value(found);
  }
  bool number(std::string written) {
    if (!expects(Kind::kNumber) && !expects(Kind::kNumberOrNull)) {
      return scalar("'" + written + "'");
    }
    *target() = std::move(written);
    return true;
  }
  bool check_session();
  bool check_call();

  JsonSession& session_;
  std::vector<Level> levels_;
};

std::string* SessionHandler::target() {
  const std::size_t key = levels_.back().key;
  if (levels_.back().place == Place::kSession) {
    if (key == kId) return &session_.id;
    return key == kBlockSize ? &session_.block_size : &session_.hash_scope;
  }
  switch (key) {
    case kType:
      return &call().type;
    case kTime:
      return &call().time;
    case kPrompt:
      return &call().prompt;
    case kOutput:
      return &call().output;
    case kStop:
      return &call().stop;
    case kAnswerTime:
      return &call().answer_time;
    case kDuration:
      return &call().duration;
    default:
      return &call().agent_id;
  }
}

bool SessionHandler::unexpected_value(const std::string& found) {
  if (levels_.empty()) return refuse("the line is " + found + ": expected a JSON object");
  if (in_object()) {
    const Key& key = keys()[levels_.back().key];
    return refuse(prefix() + key.name + ": " + found + ": expected " + wanted(key.kind));
  }
  const bool hashes = levels_.back().place == Place::kHashes;
  return refuse(prefix() + (hashes ? "hash_ids: " : "requests: ") + found + ": expected " +
                wanted(hashes ? Kind::kHashes : Kind::kCalls));
}

bool SessionHandler::start_object(std::size_t) {
  if (levels_.empty()) {
    levels_.push_back({Place::kSession});
    return true;
  }
  Level& around = levels_.back();
  if (around.place == Place::kUnread || expects(Kind::kUnread)) {
    levels_.push_back({Place::kUnread, around.call});
    return true;
  }
  if (around.place != Place::kCalls) return unexpected_value("an object");
  session_.calls.push_back({.parent = around.call, .index = around.entries++});
  levels_.push_back({Place::kCall, static_cast<std::ptrdiff_t>(session_.calls.size()) - 1});
  return true;
}

bool SessionHandler::end_object() {
  const Place place = levels_.back().place;
  const bool good = place == Place::kSession ? check_session()
                    : place == Place::kCall  ? check_call()
                                             : true;
  levels_.pop_back();
  return good;
}

bool SessionHandler::start_array(std::size_t) {
  if (levels_.empty()) return unexpected_value("a list");
  const std::ptrdiff_t owner = levels_.back().call;
  if (levels_.back().place == Place::kUnread || expects(Kind::kUnread)) {
    levels_.push_back({Place::kUnread, owner});
  } else if (expects(Kind::kCalls)) {
    levels_.push_back({Place::kCalls, owner});
  } else if (expects(Kind::kHashes)) {
    call().hashes_begin = session_.hashes.size();
    levels_.push_back({Place::kHashes, owner});
  } else {
    return unexpected_value("a list");
  }
  return true;
}

bool SessionHandler::end_array() {
  const Place place = levels_.back().place;
  if (place == Place::kHashes) call().hashes_end = session_.hashes.size();
  levels_.pop_back();
  return true;
}

bool SessionHandler::key(std::string& name) {
  Level& level = levels_.back();
  if (level.place == Place::kUnread) return true;
  const std::span<const Key> known = keys();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (name != known[i].name) continue;
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((level.seen & bit) != 0) return refuse(prefix() + name + ": the key is there twice");
    level.seen |= bit;
    level.key = i;
    return true;
  }
  std::string names;
  for (const Key& one : known) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return refuse_here("unknown key " + quoted_for_error(name) + ": expected " + names);
}

bool SessionHandler::check_session() {
  for (std::size_t i = 0; i < kSessionKeysNeeded; ++i) {
    if ((levels_.back().seen >> i & 1) == 0) {
      return refuse("no key '" + std::string(kSessionKeys[i].name) + "'");
    }
  }
  return true;
}

bool SessionHandler::check_call() {
  const std::uint32_t seen = levels_.back().seen;
  const auto has = [&](std::size_t key) { return (seen >> key & 1) != 0; };
  call().is_agent = call().type == "subagent";
  if (!call().is_agent && call().type != "n" && call().type != "s") {
    return refuse(prefix() + "type: " + quoted_for_error(call().type) +
                  ": expected n or s (a call, at once or streamed), or subagent");
  }
  const auto needed = call().is_agent ? std::span<const CallKey>(kKeysOfAnAgent)
                                      : std::span<const CallKey>(kKeysOfACall);
  const auto foreign = call().is_agent ? std::span<const CallKey>(kKeysOfACall)
                                       : std::span<const CallKey>(kKeysOfAnAgent);
  for (const CallKey key : needed) {
    if (!has(key)) return refuse_here("no key '" + std::string(kCallKeys[key].name) + "'");
  }
  for (const CallKey key : foreign) {
    if (key != kTime && has(key)) {
      return refuse(prefix() + kCallKeys[key].name + ": expected no such key beside type " +
                    call().type);
    }
  }
  return true;
}

}  // namespace

std::string JsonSession::parse(const std::string& line) {
  *this = JsonSession();
  SessionHandler handler(*this);
  nlohmann::json::sax_parse(line, &handler);
  return handler.problem;
}

std::string JsonSession::path_of(const JsonCall& call) const {
  const std::string around =
      call.parent < 0 ? "" : path_of(calls[static_cast<std::size_t>(call.parent)]) + ".";
  return around + "requests[" + std::to_string(call.index) + "]";
}

}  // namespace inferscale
