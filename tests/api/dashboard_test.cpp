// ops/grafana-dashboard.json: a proper document, about metrics that the server has, in expressions
// that a real Prometheus understands; and that Prometheus can read what the server prints.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/prometheus.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::Prometheus;

Json Dashboard() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) throw std::runtime_error("TENURE_SOURCE_DIR is not set");
  std::ifstream file(std::filesystem::path(source) / "ops" / "grafana-dashboard.json");
  return Json::Parse(std::string(std::istreambuf_iterator<char>(file), {}));
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

TEST(Dashboard, EveryMetricThatAPanelShowsIsOneOfTheServers) {
  const Api api(SharedServer(Engine::kSqlite));
  std::set<std::string> names;
  for (const std::string& expression : Expressions()) {
    const auto some = MetricsOf(expression);
    EXPECT_FALSE(some.empty()) << expression;
    names.insert(some.begin(), some.end());
  }
  EXPECT_GE(names.size(), 30u);
  for (const std::string& name : names)
    Eventually("the server has the metric " + name, [&] {
      const std::string text = api.Get("/metrics").body;
      return text.find("\n" + name + "{") != std::string::npos ||
             text.find("\n" + name + " ") != std::string::npos;
    });
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
  EXPECT_EQ(value(R"(count(http_connections{job="tenure"}))"), "1");
  for (const std::string& expression : Expressions()) {
    const Json answer = prometheus.Query(Filled(expression));
    EXPECT_EQ(answer["status"].Text(), "success") << expression << ": " << answer.Dump();
  }
}

}  // namespace
}  // namespace tenure::api
