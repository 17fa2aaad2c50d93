// ops/alerts.yaml: proper rules, and about metrics that the server has.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

std::filesystem::path Rules() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) throw std::runtime_error("TENURE_SOURCE_DIR is not set");
  return std::filesystem::path(source) / "ops" / "alerts.yaml";
}

/// The names of metrics in the rules' expressions. A histogram's are those of its parts.
std::set<std::string> MetricsAskedFor() {
  std::ifstream file(Rules());
  static const std::regex expression("^ *expr: (.*)$");
  static const std::regex name(R"(\b(inbox|leasing|messages|task|usage)_[a-z_]+\b)");
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, expression)) continue;
    const std::string text = found[1];
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at)
      names.insert(at->str());
  }
  return names;
}

TEST(Alerts, EveryMetricThatARuleAsksForIsOneOfTheServers) {
  const Api api(SharedServer(Engine::kSqlite));
  const std::set<std::string> names = MetricsAskedFor();
  EXPECT_GE(names.size(), 5u);
  for (const std::string& name : names)
    Eventually("the server has the metric " + name, [&] {
      const std::string text = api.Get("/metrics").body;
      return text.find("\n" + name + "{") != std::string::npos ||
             text.find("\n" + name + " ") != std::string::npos;
    });
}

TEST(Alerts, PrometheusUnderstandsTheRules) {
  try {
    support::RunCommand({.argv = {"promtool", "--version"}});
  } catch (const std::exception&) {
    GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
  }
  EXPECT_NO_THROW(support::RunCommand({.argv = {"promtool", "check", "rules", Rules()}}));
}

}  // namespace
}  // namespace tenure::api
