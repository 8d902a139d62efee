// Recorded sessions between a file and Programs: what every format's reader fills.
//
// A call's prompt is known as a node of the trace's tree, or as a row of its blocks; then it names
// what it shares. How much of it is the history of its own chain is told apart from that, because
// it is what a chain's next call finds, whoever else had it before.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "workload/content_tree.h"
#include "workload/programs/programs.h"
#include "workload/trace_content.h"

namespace inferscale {

struct RecordedCall {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
  std::uint32_t history_tokens = 0;  // with the call before it in its chain
  std::uint32_t content = kNone;     // the tree's node, or the row of the blocks
  // The tree's node of prompt and answer, when the next prompt begins with both.
  std::uint32_t answered_content = kNone;
  Duration gap;  // to the next call of its chain
  bool waits_for_person = false;
};

struct RecordedChain {
  std::uint32_t spawner = 0;  // index of the chain in its session; the first one has none
  std::uint32_t spawner_call = 0;
  Duration delay;
  Duration rest;  // ProgramChain::rest
  bool joined = true;
  std::vector<RecordedCall> calls;
};

struct RecordedSession {
  std::string name;
  std::vector<RecordedChain> chains;  // a chain comes behind the one that spawns it
};

struct RecordedTrace {
  // `scope`: what the keys of its content stand apart by (content_key()).
  explicit RecordedTrace(std::uint64_t content_scope) : scope(content_scope), tree(scope) {}

  std::uint64_t scope;
  std::vector<RecordedSession> sessions;
  ContentTree tree;
  std::uint32_t tree_block_tokens = 1;
  TraceContent blocks;             // counts when it says something about content
  std::vector<std::string> notes;  // what the reader made of the file
  // Groups that the format's own content tells; else they are found by lengths and gaps.
  ProgramDuplicates known_forks;
};

// "1 call", "2 calls".
std::string counted(std::uint64_t n, const std::string& one, const std::string& many);

// All sessions begin at instant 0. Names are kept when there are any.
Programs build_programs(const RecordedTrace& trace);

}  // namespace inferscale
