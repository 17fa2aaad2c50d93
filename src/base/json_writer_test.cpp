#include "base/json_writer.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(JsonWriter, PutsCommasAndEscapes) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject()
      .Field("text", "a\"b\\c\n\x01")
      .Field("number", -5)
      .Field("flag", true)
      .Key("none")
      .Null();
  json.Key("list").BeginArray().Value(1).Value(2).BeginObject().EndObject().EndArray();
  json.Key("empty").BeginArray().EndArray().EndObject();
  EXPECT_EQ(out, R"({"text":"a\"b\\c\n\u0001","number":-5,"flag":true,"none":null,)"
                 R"("list":[1,2,{}],"empty":[]})");
}

}  // namespace
}  // namespace tenure::base
