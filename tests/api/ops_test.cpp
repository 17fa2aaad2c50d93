// What operators are given (ops/): proper rules and a proper dashboard, about metrics that the
// server has, in expressions that a real Prometheus understands; and that Prometheus reads what the
// server prints.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/json.hpp"
#include "support/port.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

/// A real Prometheus that scrapes one server of this machine every second, under the job "tenure",
/// on a port of 127.0.0.1 and in a folder of its own.
///
/// The constructor returns when it answers queries; whether it has scraped anything by then is not
/// said. It ends with this object, and when the test program is killed.
class Prometheus {
 public:
  /// Whether a program is there (Debian: prometheus).
  static bool Installed(const std::string& program = "prometheus") {
    try {
      support::RunCommand({.argv = {program, "--version"}});
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  explicit Prometheus(int scraped_port) {
    const auto file = dir_ / "prometheus.yml";
    std::ofstream(file) << fmt::format(kSettings, scraped_port);
    server_ = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {"prometheus", "--config.file=" + file.string(),
                 "--storage.tsdb.path=" + (dir_ / "data").string(),
                 fmt::format("--web.listen-address=127.0.0.1:{}", port_.number())},
        .working_dir = dir_.path(),
        .output = dir_ / "prometheus.log"});
    server_->WaitForLine("Server is ready to receive web requests");
  }

  /// The whole answer to an instant query: "status", "data", or "error".
  Json Query(std::string_view expression) const {
    return support::Call(port_.number(), "GET", "/api/v1/query?query=" + PercentEncoded(expression))
        .Json();
  }

 private:
  static constexpr const char* kSettings = R"(global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: tenure
    static_configs:
      - targets: ["127.0.0.1:{}"]
)";

  support::TempDir dir_;
  support::ReservedPort port_;
  std::unique_ptr<support::Process> server_;
};

std::filesystem::path Rules() { return support::SourceDir() / "ops" / "alerts.yaml"; }

TEST(Alerts, PrometheusUnderstandsTheRules) {
  if (!Prometheus::Installed("promtool"))
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  EXPECT_NO_THROW(support::RunCommand({.argv = {"promtool", "check", "rules", Rules()}}));
}

TEST(Alerts, SeeWhatHappensAlsoTheFirstTime) {
  if (!Prometheus::Installed("promtool"))
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  EXPECT_NO_THROW(support::RunCommand({.argv = {"promtool", "test", "rules", "alerts_test.yaml"},
                                       .working_dir = support::SourceDir() / "ops"}));
}

TEST(Alerts, AllHaveTheProductsNameInFront) {
  // Those about licences and webhooks have the names that were promised.
  const std::set<std::string> promised{"LicenseSeatsNearlyFull", "HighAcquireFailureRate",
                                       "LicenseMachineCloned",   "LicenseOffersMissed",
                                       "WebhooksRefused",        "WebhookSecretsMissing",
                                       "QueueSessionsParked",    "QueueDepthOverThreshold",
                                       "QueueOldestReady",       "QueueFull",
                                       "QueueTimeouts",          "QueueGenerationBlocked",
                                       "QueueStagedStuck"};
  std::ifstream file(Rules());
  static const std::regex alert("^ *- alert: (.*)$");
  int count = 0;
  for (std::string line; std::getline(file, line);)
    if (std::smatch found; std::regex_match(line, found, alert)) {
      ++count;
      EXPECT_TRUE(found[1].str().starts_with("Tenure") || promised.contains(found[1])) << line;
    }
  EXPECT_GE(count, 20);
}

Json Dashboard() {
  return Json::Parse(support::ReadFile(support::SourceDir() / "ops" / "grafana-dashboard.json"));
}

std::vector<std::string> Expressions() {
  std::vector<std::string> all;
  for (const Json& panel : Dashboard()["panels"].Elements()) {
    if (!panel.Has("targets")) continue;
    for (const Json& target : panel["targets"].Elements()) all.push_back(target["expr"].Text());
  }
  return all;
}

/// The names of metrics in an expression: every one of them selects the chosen jobs.
std::set<std::string> MetricsOf(const std::string& expression) {
  static const std::regex name(R"(\b([a-z_]+)\{job=~"\$job")");
  std::set<std::string> names;
  for (std::sregex_iterator at(expression.begin(), expression.end(), name), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

/// As Grafana fills its variables in.
std::string Filled(std::string expression) {
  expression = std::regex_replace(expression, std::regex(R"(\$job)"), ".+");
  return std::regex_replace(expression, std::regex(R"(\$__rate_interval)"), "1m");
}

TEST(Dashboard, EveryPanelIsOfTheChosenJobs) {
  std::set<std::string> names;
  for (const std::string& expression : Expressions()) {
    const auto some = MetricsOf(expression);
    EXPECT_FALSE(some.empty()) << expression;
    names.insert(some.begin(), some.end());
  }
  EXPECT_GE(names.size(), 30u);
}

TEST(Dashboard, NoTwoPanelsHaveOnePlaceOrOneId) {
  std::set<std::string> places;
  std::set<std::int64_t> ids;
  for (const Json& panel : Dashboard()["panels"].Elements()) {
    EXPECT_TRUE(places.insert(panel["gridPos"].Dump()).second) << panel["title"].Text();
    EXPECT_TRUE(ids.insert(panel["id"].Int()).second) << panel["title"].Text();
  }
}

TEST(Prometheus, ScrapesTheServerAndUnderstandsEveryPanel) {
  if (!Prometheus::Installed()) GTEST_SKIP() << "prometheus is not installed (Debian: prometheus)";
  const Api api(SharedServer(Engine::kSqlite));
  const Prometheus prometheus(api.port());
  const auto value = [&](std::string_view expression) -> std::string {
    const Json result = prometheus.Query(expression)["data"]["result"];
    return result.Size() == 0 ? "nothing" : result[0]["value"][1].Text();
  };
  Eventually("the server is up for Prometheus",
             [&] { return value(R"(up{job="tenure"})") == "1"; });
  EXPECT_EQ(value(R"(count(sessions_active{job="tenure"}))"), "1");
  EXPECT_EQ(value(R"(count(tenure_http_connections{job="tenure"}))"), "1");
  for (const std::string& expression : Expressions()) {
    const Json answer = prometheus.Query(Filled(expression));
    EXPECT_EQ(answer["status"].Text(), "success") << expression << ": " << answer.Dump();
  }
}

}  // namespace
}  // namespace tenure::api
