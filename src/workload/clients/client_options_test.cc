// Reading clients: defaults, profiles and what is written beside them, and one clear error for each
// nonsense.

#include "workload/clients/client_options.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "workload/clients/client_profiles.h"

namespace inferscale {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

ConfigNode clients(const Keys& keys) {
  const SourcePosition here{"run.yaml", 1};
  ConfigNode node = ConfigNode::map(here);
  for (const auto& [path, text] : keys) {
    const ConfigNode value =
        text == "null" ? ConfigNode::null(here) : ConfigNode::scalar(text, false, here);
    EXPECT_TRUE(node.set_path("clients." + path, value)) << path;
  }
  return node;
}

ClientOptions read(const Keys& keys) {
  const ConfigNode node = clients(keys);
  ConfigSession session;
  ConfigReader root(node, session);
  ClientOptions options = read_clients(root);
  root.finish();
  EXPECT_FALSE(session.failed()) << session.error().to_string();
  return options;
}

std::string error_of(const Keys& keys) {
  const ConfigNode node = clients(keys);
  ConfigSession session;
  ConfigReader root(node, session);
  read_clients(root);
  return session.failed() ? session.error().message : "no error";
}

TEST(ClientOptions, AreAnOpenLoopByDefault) {
  for (const Keys& keys : {Keys{}, Keys{{"profile", "open_loop"}}}) {
    const ClientOptions options = read(keys);
    EXPECT_EQ(options.profile, "open_loop");
    EXPECT_TRUE(options.is_open_loop());
    EXPECT_EQ(options.most_retries, 0);
    EXPECT_FALSE(options.timeout);
    EXPECT_FALSE(options.budget);
    EXPECT_FALSE(options.router);
  }
}

TEST(ClientOptions, AreNoOpenLoopOnceAnyOfThemReacts) {
  const Keys reacting = {{"profile", "gives_up"},    {"retries.most", "1"},
                         {"timeout_s", "10"},        {"halve_after_429", "true"},
                         {"after_529", "elsewhere"}, {"stream_failures.probability", "0.1"},
                         {"through", "router"}};
  for (const auto& key : reacting) EXPECT_FALSE(read({key}).is_open_loop()) << key.first;
  EXPECT_TRUE(read({{"backoff.base_s", "3"}, {"retries.on_429", "false"}}).is_open_loop());
}

TEST(ClientOptions, ReadWhatIsTriedAgainAndWhen) {
  const ClientOptions options = read({{"retries.most", "7"},
                                      {"retries.on_429", "false"},
                                      {"retries.on_other_5xx", "false"},
                                      {"retries.on_timeout", "false"},
                                      {"backoff.base_s", "0.25"},
                                      {"backoff.factor", "3"},
                                      {"backoff.cap_s", "9"},
                                      {"backoff.jitter_low", "0.5"},
                                      {"backoff.jitter_high", "1.5"},
                                      {"budget.share", "0.2"},
                                      {"budget.reserve", "3"}});
  EXPECT_EQ(options.most_retries, 7);
  EXPECT_FALSE(options.retried.on_429);
  EXPECT_TRUE(options.retried.on_503);
  EXPECT_TRUE(options.retried.on_529);
  EXPECT_FALSE(options.retried.on_other_5xx);
  EXPECT_TRUE(options.retried.on_broken);
  EXPECT_FALSE(options.retried.on_timeout);
  EXPECT_EQ(options.backoff.base_s, 0.25);
  EXPECT_EQ(options.backoff.factor, 3);
  EXPECT_EQ(options.backoff.cap_s, 9);
  EXPECT_EQ(options.backoff.jitter.low, 0.5);
  EXPECT_EQ(options.backoff.jitter.high, 1.5);
  ASSERT_TRUE(options.budget);
  EXPECT_EQ(options.budget->share, 0.2);
  EXPECT_EQ(options.budget->reserve, 3);
}

TEST(ClientOptions, ReadWhatAnAnswerMayAskFor) {
  const ClientOptions options = read({{"retry_after.use", "honoured"},
                                      {"retry_after.longest_s", "120"},
                                      {"retry_after.beyond", "give_up"},
                                      {"retry_after.jitter_high", "1.2"},
                                      {"halve_after_429", "true"},
                                      {"after_529", "park"},
                                      {"park_s", "45"}});
  EXPECT_TRUE(options.retry_after.honoured);
  EXPECT_EQ(options.retry_after.longest, Duration::from_seconds(120));
  EXPECT_TRUE(options.retry_after.gives_up_beyond);
  EXPECT_EQ(options.retry_after.jitter.low, 1);
  EXPECT_EQ(options.retry_after.jitter.high, 1.2);
  EXPECT_TRUE(options.halve_after_429);
  EXPECT_EQ(options.after_529, After529::kPark);
  EXPECT_EQ(options.park, Duration::from_seconds(45));
  EXPECT_EQ(read({{"after_529", "elsewhere"}}).after_529, After529::kElsewhere);
}

TEST(ClientOptions, ReadWhatHappensOnTheWay) {
  const ClientOptions options = read({{"timeout_s", "30"},
                                      {"closes", "false"},
                                      {"stream_failures.probability", "0.01"},
                                      {"stream_failures.then", "resume"},
                                      {"through", "router"},
                                      {"router.attempts", "3"},
                                      {"router.base_s", "0.1"},
                                      {"router.factor", "2"}});
  EXPECT_EQ(options.timeout, Duration::from_seconds(30));
  EXPECT_FALSE(options.closes);
  EXPECT_EQ(options.stream_failures.probability, 0.01);
  EXPECT_EQ(options.stream_failures.then, AfterBrokenStream::kResume);
  ASSERT_TRUE(options.router);
  EXPECT_EQ(options.router->attempts, 3);
  EXPECT_EQ(options.router->backoff.base_s, 0.1);
  EXPECT_EQ(options.router->backoff.factor, 2);
}

TEST(ClientProfiles, AreChoicesOfTheConfigurationAndTheOtherWayRound) {
  const std::string unknown = error_of({{"profile", "nobody"}});
  for (const ClientProfile& profile : client_profiles()) {
    const std::string name(profile.name);
    EXPECT_EQ(read({{"profile", name}}).profile, name);
    EXPECT_NE(unknown.find(name), std::string::npos) << unknown;
    EXPECT_FALSE(profile.provenance.empty());
    EXPECT_EQ(read({{"profile", name}}).is_open_loop(), name == "open_loop") << name;
  }
}

// Figures as clients have been read to have them.
TEST(ClientProfiles, HaveTheFiguresOfTheirClients) {
  for (const std::string sdk : {"openai_sdk", "anthropic_sdk"}) {
    const ClientOptions options = read({{"profile", sdk}});
    EXPECT_EQ(options.most_retries, 2);
    EXPECT_EQ(options.backoff.base_s, 0.5);
    EXPECT_EQ(options.backoff.cap_s, 8);
    EXPECT_EQ(options.backoff.jitter.low, 0.75);
    EXPECT_EQ(options.backoff.jitter.high, 1);
    EXPECT_TRUE(options.retry_after.honoured);
    EXPECT_EQ(options.retry_after.longest, Duration::from_seconds(60));
    EXPECT_EQ(options.retry_after.jitter.high, 1) << "no jitter on what the server says";
    EXPECT_EQ(options.timeout, Duration::from_seconds(600));
  }
  const ClientOptions codex = read({{"profile", "codex_cli"}});
  EXPECT_FALSE(codex.retried.on_429);
  EXPECT_TRUE(codex.retried.on_503);
  EXPECT_FALSE(codex.retry_after.honoured);
  const ClientOptions cline = read({{"profile", "cline"}});
  EXPECT_TRUE(cline.retried.on_429);
  EXPECT_FALSE(cline.retried.on_503);
  EXPECT_FALSE(cline.retried.on_529);
  EXPECT_TRUE(cline.retry_after.honoured);
  EXPECT_FALSE(cline.retry_after.longest) << "without a cap";
  const ClientOptions claude = read({{"profile", "claude_code"}});
  EXPECT_EQ(claude.most_retries, 10);
  EXPECT_EQ(claude.backoff.cap_s, 32);
  const ClientOptions router = read({{"profile", "router_5_attempts"}});
  EXPECT_FALSE(router.retried.on_529);
  EXPECT_EQ(router.backoff.factor, 1.5);
}

TEST(ClientProfiles, GiveWayToWhatIsWrittenKeyByKey) {
  const ClientOptions options = read({{"profile", "openai_sdk"},
                                      {"retries.most", "5"},
                                      {"backoff.cap_s", "20"},
                                      {"retry_after.longest_s", "null"},
                                      {"timeout_s", "null"}});
  EXPECT_EQ(options.most_retries, 5);
  EXPECT_EQ(options.backoff.cap_s, 20);
  EXPECT_EQ(options.backoff.jitter.low, 0.75);
  EXPECT_TRUE(options.retry_after.honoured);
  EXPECT_FALSE(options.retry_after.longest);
  EXPECT_FALSE(options.timeout);
}

TEST(ClientProfiles, AreWrittenOutInTheEffectiveConfiguration) {
  const ConfigNode node = clients({{"profile", "codex_cli"}, {"retries.most", "2"}});
  ConfigSession session;
  ConfigReader root(node, session);
  read_clients(root);
  const ConfigNode* effective = session.effective().find("clients");
  ASSERT_NE(effective, nullptr);
  ASSERT_NE(effective->find("backoff"), nullptr);
  EXPECT_EQ(effective->find("backoff")->find("jitter_high")->text(), "1.1");
  ASSERT_NE(effective->find("retries"), nullptr);
  EXPECT_EQ(effective->find("retries")->find("on_429")->text(), "false");
}

TEST(ClientOptions, RefuseNonsense) {
  const std::vector<std::pair<Keys, std::string>> cases = {
      {{{"profile", "openai"}}, "expected one of open_loop"},
      {{{"retry", "3"}}, "unknown key 'clients.retry'"},
      {{{"retries.on_418", "true"}}, "unknown key 'clients.retries.on_418'"},
      {{{"retries.most", "-1"}}, "clients.retries.most"},
      {{{"backoff.factor", "0.5"}}, "clients.backoff.factor"},
      {{{"backoff.jitter_low", "2"}}, "expected at least jitter_low"},
      {{{"timeout_s", "0"}}, "clients.timeout_s"},
      {{{"after_529", "leave"}}, "clients.after_529"},
      {{{"stream_failures.probability", "1.5"}}, "clients.stream_failures.probability"},
      {{{"router.attempts", "0"}}, "clients.router.attempts"},
      {{{"closes", "maybe"}}, "clients.closes"},
  };
  for (const auto& [keys, expected] : cases) {
    EXPECT_NE(error_of(keys).find(expected), std::string::npos)
        << keys[0].first << ": " << error_of(keys);
  }
}

TEST(ClientOptions, AreDescribed) {
  ConfigSession session = ConfigSession::describing();
  const ConfigNode node = ConfigNode::map({"", 0});
  ConfigReader root(node, session);
  read_clients(root);
  std::string paths;
  for (const KeyDescription& key : session.descriptions()) {
    EXPECT_FALSE(key.doc.empty()) << key.path;
    paths += key.path + " ";
  }
  for (const std::string path : {"clients.profile ", "clients.retries.most ",
                                 "clients.retry_after.jitter_high ", "clients.router.factor "}) {
    EXPECT_NE(paths.find(path), std::string::npos) << paths;
  }
}

}  // namespace
}  // namespace inferscale
