#include "http/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/text.hpp"

namespace tenure::http {
namespace {

using base::Fault;
using base::FaultKind;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Problem, IsPrintedAsRfc9457HasIt) {
  Problem problem =
      InvalidRequest({{"userObjectId", "must be a UUID"}, {"x", "is not known here"}});
  problem.retry_after_s = 7;
  const Response response = ToResponse(problem, "r-1");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body,
            R"({"type":"urn:tenure:problem:invalid-request","title":"The request is not valid",)"
            R"("status":400,"detail":"2 things are wrong; see errors.","errors":[)"
            R"({"field":"userObjectId","message":"must be a UUID"},)"
            R"({"field":"x","message":"is not known here"}],)"
            R"("retry_after_seconds":7,"request_id":"r-1"})");
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers[0].first, "Retry-After");
  EXPECT_EQ(response.headers[0].second, "7");
}

TEST(Problem, IsJsonWhateverItsDetailWasMadeOf) {
  EXPECT_THAT(ToResponse(NotFound("a\xff\"b"), "r").body, HasSubstr(R"("detail":"a?\"b")"));
}

TEST(Problem, CarriesWhatItsTypePromises) {
  Problem problem = NotFound("gone");
  problem.extensions = {{"holder", "\"web-1\""}, {"fence", "7"}, {"metadata", "{}"}};
  EXPECT_THAT(ToResponse(problem, "r").body,
              EndsWith(R"("detail":"gone","holder":"web-1","fence":7,"metadata":{},)"
                       R"("request_id":"r"})"));
}

TEST(Problem, EveryFaultHasItsStatus) {
  for (const auto& [kind, type] : std::initializer_list<std::pair<FaultKind, std::string_view>>{
           {FaultKind::kStoreUnavailable, "store-unavailable"},
           {FaultKind::kOutcomeUnknown, "outcome-unknown"},
           {FaultKind::kContended, "contended"},
           {FaultKind::kSerialization, "contended"},
           {FaultKind::kOverloaded, "overloaded"},
           {FaultKind::kTimeout, "timeout"},
           {FaultKind::kStopping, "stopping"}}) {
    const Problem problem = FromFault(Fault(kind, "secret"));
    EXPECT_EQ(problem.status, 503);
    EXPECT_EQ(problem.type, type);
    EXPECT_EQ(problem.retry_after_s, 1);
    EXPECT_THAT(problem.detail, Not(HasSubstr("secret")));
  }
  const Problem stale = FromFault(Fault(FaultKind::kFenceStale, "fence 7 of lease a is over"));
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(stale.type, "fence-stale");
  EXPECT_EQ(stale.retry_after_s, std::nullopt);
  EXPECT_THAT(stale.detail, HasSubstr("fence 7 of lease a is over"));

  const Problem problem = FromFault(Fault(FaultKind::kStatement, "secret"));
  EXPECT_EQ(problem.status, 500);
  EXPECT_EQ(problem.type, "internal");
  EXPECT_THAT(problem.detail, Not(HasSubstr("secret")));
}

TEST(ResponseWriter, AHeaderValueCannotEndItsLine) {
  Response response{.body = "b"};
  response.headers.emplace_back("Location", "/a\r\nSet-Cookie: x");
  std::string out;
  AppendResponse(out, response, {.request_id = "r", .date = "d"});
  EXPECT_THAT(out, HasSubstr("Location: /a  Set-Cookie: x\r\n"));
}

TEST(ResponseWriter, AHandlersOwnCacheControlWins) {
  Response response{.body = "b"};
  response.headers.emplace_back("Cache-Control", "max-age=60");
  std::string out;
  AppendResponse(out, response, {.request_id = "r", .date = "d", .close = true});
  EXPECT_THAT(out, Not(HasSubstr("no-store")));
  EXPECT_THAT(out, EndsWith("Cache-Control: max-age=60\r\nConnection: close\r\n\r\nb"));
}

TEST(ResponseWriter, DatesAreThoseOfHttp) {
  EXPECT_EQ(HttpDate(784'111'777'999), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(HttpDate(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(Text, PrintableIsShortAndUtf8) {
  EXPECT_EQ(Printable("abc", 3), "abc");
  EXPECT_EQ(Printable("abcd", 3), "abc...");
  EXPECT_EQ(Printable("ab\u00e9", 3), "ab...");
  EXPECT_EQ(Printable("a\n\x7f\xc3", 9), "a???");
  EXPECT_EQ(Printable("\xed\xa0\x80", 9), "???");
}

TEST(Text, TrimTakesSpacesAndTabsOnly) {
  EXPECT_EQ(Trim(" \ta b\t "), "a b");
  EXPECT_EQ(Trim(" \t"), "");
  EXPECT_EQ(Trim(""), "");
}

}  // namespace
}  // namespace tenure::http
