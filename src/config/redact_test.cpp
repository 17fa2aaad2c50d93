#include "config/redact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::config {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Redact, AddressesWithoutAPasswordStayAsTheyAre) {
  for (const char* url :
       {"", "postgres://", "postgres://db", "postgres://app@db:5432/tenure?sslmode=require",
        "postgresql:///tenure?host=/run/postgresql", "postgres://[::1]:5432/x"}) {
    EXPECT_EQ(RedactedUrl(url), url);
    EXPECT_FALSE(HasPassword(url));
  }
}

TEST(Redact, ThePasswordOfTheUserPartIsHidden) {
  EXPECT_EQ(RedactedUrl("postgres://app:hunter2@db:5432/tenure"),
            "postgres://app:***@db:5432/tenure");
  EXPECT_EQ(RedactedUrl("postgres://:hunter2@db"), "postgres://:***@db");
  EXPECT_TRUE(HasPassword("postgres://app:hunter2@db"));
}

TEST(Redact, PasswordParametersAreHidden) {
  EXPECT_EQ(RedactedUrl("postgres://db/x?user=app&password=hunter2&sslmode=require"),
            "postgres://db/x?user=app&password=***&sslmode=require");
  EXPECT_EQ(RedactedUrl("postgres://db?sslpassword=hunter2"), "postgres://db?sslpassword=***");
  EXPECT_EQ(RedactedUrl("postgres://db?%70assword=hunter2"), "postgres://db?password=***");
}

TEST(Redact, APasswordThatWasNotEncodedIsHiddenWhole) {
  for (const char* url : {"postgres://app:hun@ter2@db/x", "postgres://app:hun/ter2@db/x",
                          "postgres://app:hun?ter2@db/x", "postgres://app:ter2?x=y&z@db/x",
                          "app:ter2@db", "postgres://app:a:ter2@db"})
    EXPECT_THAT(RedactedUrl(url), Not(HasSubstr("ter2"))) << url;
}

TEST(Redact, APasswordIsInsertedPercentEncoded) {
  const Secret password("p@ss:w/ör?d%");
  EXPECT_EQ(WithPassword("postgres://app@db/x", password),
            "postgres://app:p%40ss%3Aw%2F%C3%B6r%3Fd%25@db/x");
  EXPECT_EQ(WithPassword("postgres://db/x", Secret("a")), "postgres://:a@db/x");
  EXPECT_EQ(WithPassword("postgres:///x?user=a@b", Secret("a")), "postgres://:a@/x?user=a@b");
}

}  // namespace
}  // namespace tenure::config
