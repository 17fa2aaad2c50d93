#include "http/fences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::http {
namespace {

using base::Fence;
using testing::ElementsAre;
using testing::IsEmpty;

Request WithHeaders(std::vector<std::string_view> values) {
  Request request;
  request.method = Method::kPut;
  for (const std::string_view value : values) request.headers.push_back({"tenure-FENCE", value});
  return request;
}

/// The message of the refusal; empty when there is none.
std::string Refusal(std::vector<std::string_view> values) {
  try {
    ReadFences(WithHeaders(std::move(values)));
  } catch (const ProblemError& error) {
    EXPECT_EQ(error.problem().status, 400);
    EXPECT_EQ(error.problem().errors.at(0).field, "Tenure-Fence");
    return error.problem().errors.at(0).message;
  }
  return "";
}

TEST(Fences, AreReadFromAnyNumberOfHeaders) {
  EXPECT_THAT(ReadFences(WithHeaders({})), IsEmpty());
  EXPECT_THAT(ReadFences(WithHeaders({"a=1", " db/shard:7.x_y@z-0=9007199254740991 ,\tb=2"})),
              ElementsAre(Fence{"default", "a", 1},
                          Fence{"default", "db/shard:7.x_y@z-0", 9'007'199'254'740'991},
                          Fence{"default", "b", 2}));
}

TEST(Fences, AreOfTheTokensTenant) {
  Request request = WithHeaders({"a=1"});
  request.principal = Known({.tenant = "acme"});
  EXPECT_THAT(ReadFences(request), ElementsAre(Fence{"acme", "a", 1}));
}

TEST(Fences, OfALookMeanNothing) {
  for (const Method method : {Method::kGet, Method::kHead}) {
    Request request = WithHeaders({"nonsense"});
    request.method = method;
    EXPECT_THAT(ReadFences(request), IsEmpty());
  }
}

TEST(Fences, WhatIsNoneIsRefusedByName) {
  const std::string long_name = std::string(201, 'n') + "=1";
  for (const std::string_view bad : {"",
                                     ",",
                                     "a",
                                     "=1",
                                     "a=",
                                     "a=0",
                                     "a=-1",
                                     "a=+1",
                                     "a=1.0",
                                     "a=1x",
                                     "a=9007199254740992",
                                     "a=99999999999999999999",
                                     "a b=1",
                                     "a=b=1",
                                     "a =1",
                                     "a= 1",
                                     "\xc3\xa9=1",
                                     "a=1,",
                                     ",a=1",
                                     "a=1,,b=2",
                                     long_name.c_str()})
    EXPECT_NE(Refusal({bad}), "") << bad;
  EXPECT_EQ(Refusal({std::string_view(long_name).substr(1)}), "");
}

TEST(Fences, AreAtMostEight) {
  EXPECT_EQ(Refusal({"a=1,b=1,c=1,d=1", "e=1,f=1,g=1,h=1"}), "");
  EXPECT_EQ(Refusal({"a=1,b=1,c=1,d=1", "e=1,f=1,g=1,h=1,i=1"}),
            "must not name more than 8 fences");
}

}  // namespace
}  // namespace tenure::http
