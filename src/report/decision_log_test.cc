// Decision logs: what is read is what was written, to the last bit; what is damaged is named.

#include "report/decision_log.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/edge/test_folder.h"
#include "base/random.h"
#include "report/decision_log_reader.h"

namespace inferscale {
namespace {

using nlohmann::json;

void expect_same(const Decision& is, const Decision& was) {
  EXPECT_EQ(is.verdict, was.verdict);
  EXPECT_EQ(is.reason, was.reason);
  EXPECT_EQ(is.retry_after, was.retry_after);
  EXPECT_EQ(is.may_hold, was.may_hold);
  EXPECT_EQ(is.wakes_held, was.wakes_held);
  EXPECT_EQ(is.failed, was.failed);
}

void expect_same(const RequestView& is, const RequestView& was) {
  EXPECT_EQ(is.request, was.request);
  EXPECT_EQ(is.attempt, was.attempt);
  EXPECT_EQ(is.sequences, was.sequences);
  EXPECT_EQ(is.tenant, was.tenant);
  EXPECT_EQ(is.session, was.session);
  EXPECT_EQ(is.root_session, was.root_session);
  EXPECT_EQ(is.prompt_tokens, was.prompt_tokens);
  EXPECT_EQ(is.reusable_tokens, was.reusable_tokens);
  EXPECT_EQ(is.max_tokens, was.max_tokens);
  EXPECT_EQ(is.predicted_output_tokens, was.predicted_output_tokens);
  EXPECT_EQ(is.arrival, was.arrival);
  EXPECT_EQ(is.ttft_deadline, was.ttft_deadline);
  EXPECT_EQ(is.itl_target, was.itl_target);
  EXPECT_EQ(is.held, was.held);
  EXPECT_EQ(is.body_bytes, was.body_bytes);
  EXPECT_EQ(is.priority, was.priority);
  EXPECT_EQ(is.slo_class, was.slo_class);
  EXPECT_EQ(is.predictor, was.predictor);
  EXPECT_EQ(is.prompt_is_estimated, was.prompt_is_estimated);
  EXPECT_EQ(is.streamed, was.streamed);
  EXPECT_EQ(is.identity_is_known, was.identity_is_known);
}

void expect_same(const DecisionRecord& is, const DecisionRecord& was) {
  EXPECT_EQ(is.gate, was.gate);
  EXPECT_EQ(is.sequence, was.sequence);
  EXPECT_EQ(is.at, was.at);
  expect_same(is.request, was.request);
  EXPECT_EQ(is.cause, was.cause);
  expect_same(is.decided, was.decided);
  expect_same(is.effective, was.effective);
  EXPECT_EQ(is.enforced, was.enforced);
  EXPECT_EQ(is.held, was.held);
  EXPECT_EQ(is.stale, was.stale);
  EXPECT_EQ(is.policy_failed, was.policy_failed);
  EXPECT_EQ(is.status, was.status);
  EXPECT_EQ(is.retry_after, was.retry_after);
  for (const SignalSpec& spec : all_signals()) {
    const auto i = static_cast<std::size_t>(spec.signal);
    EXPECT_EQ(is.readings[i].observed_at, was.readings[i].observed_at) << spec.name;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(is.readings[i].value),
              std::bit_cast<std::uint64_t>(was.readings[i].value))
        << spec.name;
    EXPECT_EQ(is.needed.has(spec.signal), was.needed.has(spec.signal)) << spec.name;
  }
  EXPECT_EQ(is.limit, was.limit);
}

class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed, "records") {}

  DecisionRecord next() {
    DecisionRecord record;
    record.gate = static_cast<std::uint32_t>(below(2));
    record.sequence = sequences_[record.gate]++;
    at_ = at_ + Duration::nanos(static_cast<std::int64_t>(below(1'000'000'007)));
    record.at = at_;
    record.request = view();
    record.cause = coin() ? DecisionCause::kHeld : DecisionCause::kArrival;
    record.decided = decision();
    record.effective = decision();
    record.enforced = coin();
    record.held = coin();
    record.stale = static_cast<StaleRule>(below(5));
    record.policy_failed = coin();
    record.status = coin() ? 0 : 429;
    record.retry_after = span();
    for (const SignalSpec& spec : all_signals()) {
      if (coin()) record.needed.add(spec.signal);
      if (coin()) continue;
      const double value = spec.most <= 1 ? random_.uniform() : 1e7 * random_.uniform();
      record.readings[static_cast<std::size_t>(spec.signal)] =
          Reading::of(spec.signal, value,
                      record.at - Duration::nanos(static_cast<std::int64_t>(below(7'000'000'000))));
    }
    if (coin()) record.limit = 100 * random_.uniform();
    return record;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_.next() % n; }
  bool coin() { return below(2) == 1; }
  std::optional<Duration> span() {
    if (coin()) return std::nullopt;
    return Duration::nanos(static_cast<std::int64_t>(below(90'000'000'000)));
  }
  CallerKey caller() { return coin() ? kNoCaller : random_.next() | 1U; }
  Decision decision() {
    Decision decision{.verdict = static_cast<Verdict>(below(3)),
                      .retry_after = span(),
                      .may_hold = coin(),
                      .wakes_held = coin(),
                      .failed = coin()};
    if (!decision.admitted()) decision.reason = static_cast<Reason>(1 + below(kReasonCount - 1));
    return decision;
  }
  RequestView view() {
    RequestView view;
    view.request = random_.next();
    view.attempt = static_cast<std::uint32_t>(below(9));
    view.sequences = static_cast<std::uint32_t>(1 + below(4));
    view.tenant = caller();
    view.session = caller();
    view.root_session = caller();
    view.prompt_tokens = static_cast<TokenCount>(below(1U << 20U));
    view.reusable_tokens = static_cast<TokenCount>(below(1000));
    view.max_tokens = static_cast<TokenCount>(below(5000));
    view.predicted_output_tokens = static_cast<TokenCount>(below(5000));
    view.arrival = at_;
    if (coin()) view.ttft_deadline = at_ + Duration::nanos(1 + static_cast<std::int64_t>(below(9)));
    view.itl_target = Duration::nanos(static_cast<std::int64_t>(below(50'000'000)));
    view.held = Duration::nanos(static_cast<std::int64_t>(below(50'000'000)));
    view.body_bytes = random_.next();
    view.priority = static_cast<std::int32_t>(below(7)) - 3;
    view.slo_class = static_cast<std::uint8_t>(below(256));
    view.predictor = static_cast<OutputPredictor>(below(6));
    view.prompt_is_estimated = coin();
    view.streamed = coin();
    view.identity_is_known = coin();
    return view;
  }

  RandomStream random_;
  std::array<std::uint64_t, 2> sequences_ = {0, 5};
  // Beyond what a double holds to the nanosecond.
  Instant at_ = Instant::nanos((std::int64_t{1} << 53) + 1);
};

class DecisionLogFile : public testing::Test {
 protected:
  DecisionLogFile() {
    Result<DecisionLog> log = DecisionLog::create(
        path_, {.policy = "queue_depth", .more = JsonValue::object().add("seed", 42)});
    EXPECT_TRUE(log);
    RandomRecords random(7);
    for (int i = 0; i < 300; ++i) {
      written_.push_back(random.next());
      log->on_decision(written_.back());
    }
    EXPECT_EQ(log->decisions(), 300);
    EXPECT_TRUE(log->finish());
    text_ = folder_.read("decisions.jsonl");
  }
  // The error of reading `text`, without the path of the folder.
  std::string error_of(const std::string& text) {
    folder_.write("decisions.jsonl", text);
    const Result<DecisionLogContents> read = read_decisions(path_);
    if (read) return "read without an error";
    return read.error().to_string().substr(path_.size() - std::string("decisions.jsonl").size());
  }
  // The text with the first `from` replaced.
  std::string with(const std::string& from, const std::string& to) const {
    std::string text = text_;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }

  TestFolder folder_;
  std::string path_ = folder_ / "decisions.jsonl";
  std::vector<DecisionRecord> written_;
  std::string text_;
};

TEST_F(DecisionLogFile, GivesBackTheVeryRecords) {
  const Result<DecisionLogContents> read = read_decisions(path_);
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->head.policy, "queue_depth");
  EXPECT_TRUE(read->head.simulated);
  EXPECT_EQ(json::parse(read->head.json)["seed"], 42);
  EXPECT_EQ(read->note, "");
  ASSERT_EQ(read->decisions.size(), written_.size());
  for (std::size_t i = 0; i < written_.size(); ++i) expect_same(read->decisions[i], written_[i]);
}

TEST_F(DecisionLogFile, ALastLineThatIsCutOffIsLeftOutAndSaid) {
  std::string line;
  append_decision_line(line, written_.back());
  for (const std::size_t missing : {std::size_t{2}, line.size() / 2, line.size() - 2}) {
    folder_.write("decisions.jsonl", text_.substr(0, text_.size() - missing));
    const Result<DecisionLogContents> read = read_decisions(path_);
    ASSERT_TRUE(read) << read.error().to_string();
    ASSERT_EQ(read->decisions.size(), 299U);
    EXPECT_EQ(read->note, "Line 301 of " + path_ + ", the last one, is cut off and was left out.");
    expect_same(read->decisions.back(), written_[298]);
  }
}

TEST_F(DecisionLogFile, AnUnknownVersionIsRefusedWithFileAndLine) {
  EXPECT_EQ(error_of(with("\"version\":1", "\"version\":2")),
            "decisions.jsonl:1: key 'version': version 2 of decision logs is not known: this "
            "program reads version 1");
  EXPECT_EQ(error_of(with("inferscale.decisions", "inferscale.run")),
            "decisions.jsonl:1: key 'schema': expected 'inferscale.decisions', got "
            "'inferscale.run'");
  EXPECT_EQ(error_of(""),
            "decisions.jsonl: empty: expected a decision log, whose first line says "
            "inferscale.decisions");
}

TEST_F(DecisionLogFile, DamageIsNamedByLineAndKey) {
  const std::size_t second = text_.find('\n') + 1;
  EXPECT_EQ(error_of(text_.substr(0, second) + "{\n" + text_.substr(second)),
            "decisions.jsonl:2: cut off: the JSON object has no end");
  const std::string cut = std::string("\n{\"gate\":1,\"sequence\":6,");
  const std::size_t begin = text_.find(cut);
  const std::size_t end = text_.find('\n', begin + 1);
  ASSERT_NE(begin, std::string::npos);
  EXPECT_NE(error_of(text_.substr(0, begin) + text_.substr(end))
                .find("key 'sequence': expected 6, got 7: a line is missing or out of order"),
            std::string::npos);
  EXPECT_EQ(error_of(with("\"cause\":\"", "\"cause\":\"by_")).substr(0, 42),
            "decisions.jsonl:2: key 'cause': no such na");
  EXPECT_EQ(
      error_of(with("\"decided\":{\"verdict\":\"", "\"decided\":{\"verdict\":\"x")).substr(0, 44),
      "decisions.jsonl:2: key 'decided.verdict': no");
  EXPECT_EQ(error_of(with("\"priority\":", "\"priority\":9999999999,\"p\":")),
            "decisions.jsonl:2: key 'view.priority': too large: 9999999999");
  EXPECT_EQ(error_of(with("\"readings\":{",
                          "\"readings\":{\"kv_used_fraction\":{\"value\":1.5,\"age_ns\":0}},"
                          "\"r\":{")),
            "decisions.jsonl:2: key 'readings.kv_used_fraction.value': out of the signal's range");
  EXPECT_EQ(error_of(with("\"needed\":[", "\"needed\":[\"luck\",")),
            "decisions.jsonl:2: key 'needed': there is no such signal: \"luck\"");
  EXPECT_EQ(error_of(with("\"at_ns\":", "\"at_ns\":5000000000000000000,\"a\":")),
            "decisions.jsonl:2: key 'at_ns': too large: 5000000000000000000");
}

TEST(DecisionLine, IsLaidDownForReadersOfOtherLanguages) {
  DecisionRecord record;
  record.at = Instant::nanos(2'500'000'000);
  record.request.request = 5;
  record.request.tenant = 0xff;
  record.request.prompt_tokens = 100;
  record.decided = record.effective = Decision::defer(Reason::kQueueDepth);
  record.enforced = true;
  record.status = 503;
  record.retry_after = Duration::nanos(1'250'000'000);
  record.needed.add(Signal::kQueueDepth);
  record.readings[static_cast<std::size_t>(Signal::kQueueDepth)] =
      Reading::of(Signal::kQueueDepth, 9, Instant::nanos(2'400'000'000));
  std::string line;
  append_decision_line(line, record);
  EXPECT_EQ(json::parse(line), json::parse(R"({
    "gate":0,"sequence":0,"at_ns":2500000000,"request":5,"attempt":0,"tenant":"00000000000000ff",
    "session":null,"root_session":null,"cause":"arrival",
    "decided":{"verdict":"defer","reason":"queue_depth","retry_after_ns":null,"may_hold":true,
               "wakes_held":false,"failed":false},
    "effective":{"verdict":"defer","reason":"queue_depth","retry_after_ns":null,"may_hold":true,
                 "wakes_held":false,"failed":false},
    "enforced":true,"held":false,"stale":"none","policy_failed":false,"status":503,
    "retry_after_ns":1250000000,
    "view":{"arrival_ns":0,"sequences":1,"prompt_tokens":100,"prompt_is_estimated":false,
            "reusable_tokens":0,"max_tokens":0,"predicted_output_tokens":0,"predictor":"none",
            "priority":0,"slo_class":0,"ttft_deadline_ns":null,"itl_target_ns":0,"held_ns":0,
            "body_bytes":0,"streamed":true,"identity_is_known":true},
    "readings":{"queue_depth":{"value":9.0,"age_ns":100000000}},"needed":["queue_depth"],
    "limit":null})"));
}

TEST(DecisionLog, AFileThatCannotBeMadeIsAnError) {
  TestFolder folder;
  const Result<DecisionLog> log = DecisionLog::create(folder / "no/such/decisions.jsonl", {});
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().to_string().find("no/such/decisions.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace inferscale
