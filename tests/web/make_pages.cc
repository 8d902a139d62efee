// Writes report pages of made-up runs for the page test: make_pages FOLDER.

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "report/run_folder_writer.h"
#include "report/sample_run.h"

namespace {

using inferscale::SampleRun;
using inferscale::SampleRunOptions;

const std::vector<std::pair<std::string, SampleRunOptions>>& samples() {
  static const std::vector<std::pair<std::string, SampleRunOptions>> kSamples = {
      {"typical", {.requests = 5000, .slots = 40}},
      {"overload",
       {.name = "overloaded, with refusals",
        .requests = 3000,
        .slots = 12,
        .refusals = true,
        .warnings = {"the queue was still growing when the last request arrived"}}},
      {"saturated", {.name = "more than it can serve", .requests = 3000, .slots = 12}},
      {"fleet",
       {.name = "many replicas",
        .requests = 4000,
        .slots = 40,
        .replicas = 40,
        .prefix_cache = true,
        .measurement = {.warmup = inferscale::Duration::from_seconds(20)}}},
      {"few_replicas", {.name = "three replicas", .requests = 1000, .replicas = 3}},
      {"door",
       {.name = "a policy at the door",
        .requests = 3000,
        .slots = 24,
        .refusals = true,
        .admission = true}},
      {"classes",
       {.name = "classes of service",
        .requests = 3000,
        .slots = 24,
        .refusals = true,
        .classes = true,
        .admission = true}},
      {"sessions",
       {.name = "agents",
        .requests = 3000,
        .slots = 26,
        .refusals = true,
        .replicas = 3,
        .prefix_cache = true,
        .sessions = true,
        .host_tier = true}},
      {"sessions_tail",
       {.name = "agents, and a person who is away",
        .requests = 1000,
        .sessions = true,
        .pause_s = 3000}},
      {"sessions_alone",
       {.name = "agents without outcomes",
        .requests = 500,
        .with_slo = false,
        .with_outcomes = false,
        .sessions = true}},
      {"no_sessions", {.name = "agents that never came", .requests = 0, .sessions = true}},
      {"thinned",
       {.name = "more requests than dots", .requests = 45000, .rate_rps = 20, .slots = 120}},
      {"interrupted", {.name = "stopped by its user", .requests = 200, .complete = false}},
      {"no_outcomes", {.name = "outcomes left out", .requests = 500, .with_outcomes = false}},
      {"no_slo", {.name = "without targets", .requests = 500, .with_slo = false}},
      {"one_request", {.name = "one request", .requests = 1}},
      {"empty", {.name = "nothing arrived", .requests = 0}},
      {"hostile",
       {.name = "</script><b id=\"broken\">bold</b><img src=x onerror=alert(1)> &amp; \"quoted\" "
                "'{{data}}'",
        .requests = 50,
        .warnings = {"<i id=\"broken\">slanted</i> <!-- and --> ]]> \\u003c"}}},
  };
  return kSamples;
}

bool write_page(const std::string& folder, const std::string& name,
                const SampleRunOptions& options) {
  const std::string run = folder + "/" + name;
  const auto written = inferscale::write_run_folder(run, SampleRun(options).record());
  const auto page = written ? inferscale::write_report(run, run + ".html") : written;
  if (!page) std::fprintf(stderr, "%s\n", page.error().to_string().c_str());
  return page.has_value();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_pages FOLDER\n");
    return 2;
  }
  for (const auto& [name, options] : samples()) {
    if (!write_page(argv[1], name, options)) return 1;
  }
  return 0;
}
