#include "config/environment.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace tenure::config {
namespace {

TEST(ConfigEnvironment, VariablesGiveValues) {
  Problems problems;
  const std::vector<Given> given = FromEnvironment(
      {{"TENURE_SESSIONS_DURATION", "1d"}, {"PATH", "/bin"}, {"TENURE_STORE_PASSWORD_FILE", "/p"}},
      problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0].setting->name, "sessions.duration");
  EXPECT_EQ(given[0].origin.where, "TENURE_SESSIONS_DURATION");
  EXPECT_EQ(given[1].setting->name, "store.password");
  EXPECT_TRUE(given[1].by_file);
}

TEST(ConfigEnvironment, UnknownVariablesAreRefusedByName) {
  Problems problems;
  FromEnvironment({{"TENURE_SESIONS_DURATION", "1d"}, {"TENURE_COLOR", "red"}}, problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].where, "TENURE_SESIONS_DURATION");
  EXPECT_EQ(problems[0].message,
            "there is no setting of that name; did you mean TENURE_SESSIONS_DURATION?");
  EXPECT_EQ(problems[1].where, "TENURE_COLOR");
}

TEST(ConfigEnvironment, VariablesOfOtherPartsAreLeftAlone) {
  Problems problems;
  EXPECT_TRUE(FromEnvironment({{"TENURE_CONFIG", "x"},
                               {"TENURE_SERVER", "x"},
                               {"TENURE_TOKEN", "x"},
                               {"TENURE_CA_FILE", "x"},
                               {"TENURE_CONTEXT", "x"},
                               {"TENURE_LICENSE", "x"},
                               {"TENURE_AZURE_CLIENT_ID", ""},
                               {"TENURE_BINARY", "x"},
                               {"TENURE_SOURCE_DIR", "x"},
                               {"TENURE_TEST_ANYTHING", "x"}},
                              problems)
                  .empty());
  EXPECT_TRUE(problems.empty());
}

TEST(ConfigEnvironment, AKubernetesServiceCalledTenureIsLeftAlone) {
  Problems problems;
  FromEnvironment({{"TENURE_SERVICE_HOST", "10.0.0.1"},
                   {"TENURE_SERVICE_PORT", "8080"},
                   {"TENURE_SERVICE_PORT_HTTP", "8080"},
                   {"TENURE_PORT", "tcp://10.0.0.1:8080"},
                   {"TENURE_PORT_8080_TCP", "tcp://10.0.0.1:8080"},
                   {"TENURE_PORT_8080_TCP_ADDR", "10.0.0.1"},
                   {"TENURE_WEB_SERVICE_HOST", "10.0.0.1"}},
                  problems);
  EXPECT_TRUE(problems.empty());
  FromEnvironment({{"TENURE_PORT", "8080"}}, problems);
  EXPECT_EQ(problems.size(), 1U) << "somebody meant to set a port";
}

TEST(ConfigEnvironment, TheProcessEnvironmentIsReadByPrefix) {
  ASSERT_EQ(setenv("TENURE_TEST_HERE", "a=b", 1), 0);
  const Environment environment = CurrentEnvironment();
  EXPECT_EQ(FindVariable(environment, "TENURE_TEST_HERE"), "a=b");
  EXPECT_EQ(FindVariable(environment, "PATH"), std::nullopt);
  unsetenv("TENURE_TEST_HERE");
}

}  // namespace
}  // namespace tenure::config
