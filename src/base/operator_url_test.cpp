#include "base/operator_url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::base {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(OperatorUrl, IsHttpsOrThisMachine) {
  for (const char* url :
       {"https://collector", "https://collector.example:4318/v1/traces?tenant=a",
        "http://127.0.0.1:4318/v1/traces", "http://127.9.9.9/", "http://localhost:4318",
        "http://[::1]:4318/v1/traces", "https://[2001:db8::1]/x", "https://10.0.0.1/"})
    EXPECT_EQ(OperatorUrlProblem(url), std::nullopt) << url;
}

TEST(OperatorUrl, NothingThatTwoReadersReadDifferently) {
  for (const char* url : {"",
                          "collector",
                          "ftp://127.0.0.1/",
                          "HTTP://127.0.0.1/",
                          "https://",
                          "https:///x",
                          "http://",
                          "http://[::1",
                          "http://[::1]x/",
                          "http://[::1]:0/",
                          "http://::1/",
                          "https://[collector]/",
                          "https://[fe80::1%25eth0]/",
                          "https://collector:0/",
                          "https://collector:65536/",
                          "https://collector:-1/",
                          "https://collector:/",
                          "https://collector:1:2/",
                          "https://a b/",
                          "https://a%20b/",
                          "https://collector/a\nb",
                          "https://collector/\x7f",
                          "https://collector/\xc3\xa9",
                          "https://collector/#x",
                          "https://collector\\x"})
    EXPECT_NE(OperatorUrlProblem(url), std::nullopt) << url;
  EXPECT_NE(OperatorUrlProblem("https://h/" + std::string(4'096, 'x')), std::nullopt);
}

TEST(OperatorUrl, ClearTextStaysOnThisMachine) {
  for (const char* url :
       {"http://collector/", "http://10.0.0.1/", "http://127.evil.example/", "http://127.1/",
        "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "http://[::2]/",
        "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/"})
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), HasSubstr("for this machine only")) << url;
}

TEST(OperatorUrl, APasswordIsRefusedAndNotRepeated) {
  for (const char* url : {"https://user:hunter2@collector/", "http://127.0.0.1@evil.example/",
                          "http://hunter2@127.0.0.1/"}) {
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), HasSubstr("user or a password")) << url;
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), Not(HasSubstr("hunter2"))) << url;
  }
}

}  // namespace
}  // namespace tenure::base
