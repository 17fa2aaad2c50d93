// openapi.json is good enough to make a client of it: what generators get wrong is not in it, and a
// strict program is compiled with the types that one of them makes, and run.
#include "api/openapi.hpp"

#include <filesystem>
#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/store_under_test.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::IsEmpty;
using Texts = std::vector<std::string>;

bool IsObject(const Json& value) { return value.Dump().starts_with('{'); }
bool IsArray(const Json& value) { return value.Dump().starts_with('['); }

/// Visits each object of the document below `value`, with the way to it.
void Walk(const Json& value, const std::string& way,
          const std::function<void(const Json&, const std::string&)>& visit) {
  if (IsObject(value)) {
    visit(value, way);
    for (const std::string& name : value.Keys()) Walk(value[name], way + "/" + name, visit);
  } else if (IsArray(value)) {
    for (const Json& element : value.Elements()) Walk(element, way + "/-", visit);
  }
}

class Document : public testing::Test {
 protected:
  /// The schemas that are reached from what clients send.
  void CollectSent(const Json& from, std::set<std::string>& names) const {
    Walk(from, "", [&](const Json& each, const std::string&) {
      if (!each.Has("$ref")) return;
      constexpr std::string_view kSchemas = "#/components/schemas/";
      const std::string reference = each["$ref"].Text();
      if (!reference.starts_with(kSchemas)) return;
      const std::string name = reference.substr(kSchemas.size());
      if (names.insert(name).second) CollectSent(document_["components"]["schemas"][name], names);
    });
  }

  const Json document_ = Json::Parse(OpenApi::OfTheSource().text());
};

/// A generator makes `Record<string, never>` of an object of which nothing is said.
TEST_F(Document, EveryObjectSaysWhatIsInIt) {
  Texts silent;
  Walk(document_, "", [&](const Json& each, const std::string& way) {
    if (!each.Has("type") || each["type"].Dump().find("\"object\"") == std::string::npos) return;
    if (!each.Has("properties") && !each.Has("additionalProperties")) silent.push_back(way);
  });
  EXPECT_THAT(silent, IsEmpty());
}

/// A generator takes a field with a default for one that is always there, and so for a required
/// one. What the server fills in is said in the description.
TEST_F(Document, NothingThatClientsSendHasADefault) {
  std::set<std::string> sent;
  Texts with_default;
  Walk(document_["paths"], "", [&](const Json& each, const std::string& way) {
    if (!way.ends_with("/requestBody")) return;
    CollectSent(each, sent);
    Walk(each, way, [&](const Json& one, const std::string& at) {
      if (one.Has("default")) with_default.push_back(at);
    });
  });
  EXPECT_GE(sent.size(), 20U);
  for (const std::string& name : sent)
    Walk(document_["components"]["schemas"][name], name,
         [&](const Json& one, const std::string& at) {
           if (one.Has("default")) with_default.push_back(at);
         });
  EXPECT_THAT(with_default, IsEmpty());
}

TEST_F(Document, EveryOperationHasOneTagThatIsDescribed) {
  std::set<std::string> described, used;
  for (const Json& tag : document_["tags"].Elements()) described.insert(tag["name"].Text());
  for (const std::string& path : document_["paths"].Keys())
    for (const std::string& method : document_["paths"][path].Keys()) {
      if (method == "parameters") continue;
      const Json operation = document_["paths"][path][method];
      ASSERT_TRUE(operation.Has("tags")) << method << " " << path;
      ASSERT_EQ(operation["tags"].Size(), 1U) << method << " " << path;
      used.insert(operation["tags"][0].Text());
    }
  EXPECT_EQ(used, described);
}

TEST_F(Document, AClientOfItsTypesCompilesStrictlyAndWorks) {
  const auto folder = support::SourceDir() / "tests" / "node";
  const auto tools = folder / "node_modules" / ".bin";
  if (!std::filesystem::exists(tools / "openapi-typescript"))
    GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  const support::TempDir place;
  std::filesystem::copy(folder / "client.ts", place / "client.ts");
  support::RunCommand({.argv = {tools / "openapi-typescript", support::SourceDir() / "openapi.json",
                                "-o", place / "tenure.d.ts"}});
  support::RunCommand({.argv = {tools / "tsc", "--strict", "--exactOptionalPropertyTypes",
                                "--noUncheckedIndexedAccess", "--target", "es2022", "--module",
                                "commonjs", "--lib", "es2022,dom", "client.ts"},
                       .working_dir = place.path()},
                      std::chrono::minutes(3));
  const support::ServerProcess server(support::ServerOptions{});
  EXPECT_EQ(support::RunCommand({.argv = {"node", place / "client.js", server.Url()}}),
            R"({"status":"created","fence":1,"tags":["a",{"deep":true}],"trace":"abc",)"
            R"("redriven":0,"engine":"sqlite","failed":[]})"
            "\n");
}

}  // namespace
}  // namespace tenure::api
