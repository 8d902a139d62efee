#include "report/policy_advice.h"

#include <fmt/format.h>

#include <utility>

namespace inferscale {
namespace {

double part(std::int64_t count, std::int64_t of) {
  return of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0;
}

AdviceAnswer deadlines(const RunEvidence& run) {
  AdviceAnswer answer{.question = "Do requests carry deadlines?", .yes = {}, .evidence = {}};
  const bool of_run = run.slo_ttft_ms.has_value();
  const bool own = run.with_deadline.value_or(0) > 0;
  if (of_run) {
    answer.yes = true;
    answer.evidence =
        fmt::format("slo.ttft_ms is {:g}: every first token has a due instant", *run.slo_ttft_ms);
  }
  const bool of_class = run.classes_with_ttft > 0;
  if (of_class) {
    answer.yes = true;
    answer.evidence = fmt::format("{} of the SLO classes have a target for the first token",
                                  run.classes_with_ttft);
  }
  if (run.with_deadline && (own || !(of_run || of_class))) {
    answer.yes = own || of_run || of_class;
    if (of_run || of_class) answer.evidence += "; ";
    answer.evidence += fmt::format("{} of {} requests carry a deadline of their own",
                                   *run.with_deadline, run.requests.value_or(0));
  }
  if (!answer.yes) {
    answer.yes = false;
    answer.evidence = "no slo.ttft_ms, and no deadline in the run's outcomes";
  }
  if (run.slo_classes.value_or(0) > 0) {
    answer.evidence += fmt::format("; {} SLO classes", *run.slo_classes);
  }
  return answer;
}

AdviceAnswer kv_fills(const RunEvidence& run) {
  AdviceAnswer answer{.question = "Does the KV cache fill at peak?", .yes = {}, .evidence = {}};
  if (!run.kv_used_peak) {
    answer.evidence = "the summary has no peak of the KV cache in use";
    return answer;
  }
  answer.yes = *run.kv_used_peak >= kKvFull;
  answer.evidence = fmt::format("peak {:.1f} % in use, full means {:.0f} %",
                                *run.kv_used_peak * 100, kKvFull * 100);
  if (run.kv_samples > 0) {
    answer.evidence +=
        fmt::format("; full in {} of {} samples of replicas ({:.1f} %)", run.kv_samples_full,
                    run.kv_samples, part(run.kv_samples_full, run.kv_samples) * 100);
  }
  if (run.preemptions.value_or(0) > 0) {
    answer.evidence += fmt::format("; {} preemptions", *run.preemptions);
  }
  return answer;
}

AdviceAnswer hits_are_high(const RunEvidence& run) {
  AdviceAnswer answer{
      .question = "Is the prefix hit rate high?", .yes = {}, .evidence = "no prefix cache"};
  if (!run.prefix_hit_rate) return answer;
  answer.yes = *run.prefix_hit_rate >= kHitRateHigh;
  answer.evidence = fmt::format("{:.1f} % of prompt tokens were found, high means {:.0f} %",
                                *run.prefix_hit_rate * 100, kHitRateHigh * 100);
  return answer;
}

AdviceAnswer queue_moves(const RunEvidence& run) {
  AdviceAnswer answer{.question = "Does the queue move?", .yes = {}, .evidence = {}};
  if (!run.queue_peak) {
    answer.evidence = "the summary has no peak of the queue";
    return answer;
  }
  const double waiting = part(run.queue_samples_above_zero, run.queue_samples);
  // Without samples the peak alone speaks: one request that waited once is no queue.
  answer.yes = run.queue_samples > 0 ? waiting >= kQueueMoves : *run.queue_peak > 1;
  answer.evidence = fmt::format("at most {} waited at a replica", *run.queue_peak);
  if (run.queue_samples > 0) {
    answer.evidence += fmt::format("; somebody did in {} of {} samples ({:.1f} %)",
                                   run.queue_samples_above_zero, run.queue_samples, waiting * 100);
  }
  return answer;
}

void add_notes(const RunEvidence& run, PolicyAdvice& advice) {
  if (run.simulated) {
    advice.notes.emplace_back(
        "The run is simulated: the answers are the model's, until a real engine says the same.");
  }
  if (!run.complete) advice.notes.emplace_back("The run was interrupted: this is a part of it.");
  if (run.sessions.value_or(0) > 0) {
    advice.notes.push_back(fmt::format(
        "{} agent sessions: a policy that lets in single calls may finish none of them; compare "
        "session_window.",
        *run.sessions));
  }
  if (advice.policies.front() != "none") {
    advice.notes.emplace_back(
        "Compare with none, with the best fixed_concurrency and with equal_volume_shed before "
        "believing it.");
  }
}

bool says_yes(const AdviceAnswer& answer) {
  return answer.yes.value_or(false);
}

}  // namespace

PolicyAdvice advise(const RunEvidence& run) {
  PolicyAdvice advice;
  const AdviceAnswer due = deadlines(run);
  const AdviceAnswer fills = kv_fills(run);
  const AdviceAnswer hits = hits_are_high(run);
  const AdviceAnswer moves = queue_moves(run);
  if (!says_yes(fills) && !says_yes(moves)) {
    advice.policies = {"none"};
    advice.why = fills.yes || moves.yes
                     ? "Admit everything: nothing that a policy could watch moved at this load."
                     : "Admit everything until a run shows its KV cache and queue.";
  } else if (says_yes(due)) {
    advice.policies = {"wcrt", "virtual_queue"};
    advice.why = "Requests have deadlines and the pool is contended: bound the response time.";
    advice.policies.emplace_back(says_yes(fills) ? "kv_threshold" : "queue_age");
  } else if (says_yes(fills) && says_yes(hits)) {
    advice.policies = {"dual_gate", "kv_threshold"};
    advice.why =
        "The KV cache fills with prefixes that are found again: refuse only when they "
        "are not.";
  } else if (says_yes(fills)) {
    advice.policies = {"kv_threshold", "token_budget"};
    advice.why = "The KV cache fills, and hardly anything in it is found again.";
  } else {
    advice.policies = {"queue_age", "queue_depth"};
    advice.why =
        "The KV cache has room and the queue moves: watch the queue. A KV threshold "
        "would never act.";
  }
  advice.answers = {due, fills, hits, moves};
  add_notes(run, advice);
  return advice;
}

JsonValue advice_json(const RunEvidence& run, const PolicyAdvice& advice) {
  JsonValue answers = JsonValue::array();
  for (const AdviceAnswer& answer : advice.answers) {
    answers.append(JsonValue::object()
                       .add("question", answer.question)
                       .add("answer", answer.yes ? JsonValue(*answer.yes) : JsonValue())
                       .add("evidence", answer.evidence));
  }
  JsonValue policies = JsonValue::array();
  for (const std::string& policy : advice.policies) policies.append(policy);
  JsonValue notes = JsonValue::array();
  for (const std::string& note : advice.notes) notes.append(note);
  return JsonValue::object()
      .add("run", run.name)
      .add("simulated", run.simulated)
      .add("complete", run.complete)
      .add("answers", std::move(answers))
      .add("policies", std::move(policies))
      .add("why", advice.why)
      .add("notes", std::move(notes));
}

}  // namespace inferscale
