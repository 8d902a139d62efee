// Any bytes as a trace of sessions, whichever format they look like: an error that names the file
// comes out, or programs of sound structure, every call of which arrives when all before it are
// answered.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/edge/output_file.h"
#include "workload/programs/program_source.h"
#include "workload/readers/session_trace_reader.h"

namespace inferscale {
namespace {

// Each call is answered at once.
void play(const Programs& programs) {
  const auto source = make_program_source(programs, {});
  Outcome finished;
  finished.status = OutcomeStatus::kFinished;
  std::uint64_t calls = 0;
  Instant now;
  while (source->next_at() < kEndOfTime) {
    CHECK(now <= source->next_at());
    now = source->next_at();
    Request request;
    CHECK(source->next(request));
    CHECK(request.arrival == now);
    source->ended(request.id, finished, now);
    ++calls;
  }
  // What a file's gaps carry beyond the end of time never arrives.
  CHECK(calls == programs.turns.size() || source->next_at() != Instant::never());
  for (const SessionRecord& session : source->take_records(now).sessions) {
    if (session.complete()) CHECK(session.end - session.begin == session.gaps);
  }
}

void read(const SessionTraceOptions& options, const std::string& path) {
  const Result<Programs> programs = read_session_trace(options, path);
  if (!programs) {
    const std::string error = programs.error().to_string();
    CHECK(error.starts_with(path)) << error;
    CHECK(error.size() > path.size() + 2) << error;
    return;
  }
  CHECK(!programs->sessions.empty());
  CHECK(!options.limit || programs->sessions.size() <= *options.limit);
  const char* broken = broken_structure(*programs);
  CHECK(broken == nullptr) << broken;
  play(*programs);
}

}  // namespace
}  // namespace inferscale

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace inferscale;
  const std::string path = "sessions_fuzz.input";  // in the folder that fuzz/run works in
  CHECK(write_file(path, std::string_view(reinterpret_cast<const char*>(data), size)));
  read({}, path);
  read({.drop_duplicates = false, .limit = 2, .longest_gap = Duration::from_seconds(3)}, path);
  return 0;
}
