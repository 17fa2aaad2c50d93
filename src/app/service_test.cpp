#include "app/service.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "http/client.hpp"

namespace tenure::app {
namespace {

using testing::HasSubstr;

class ServiceTest : public testing::Test {
 public:
  ServiceTest() {
    mkdtemp(folder_.data());
    settings_.listen.port = 0;
    settings_.data = folder_ + "/data";
  }
  ~ServiceTest() override { std::filesystem::remove_all(folder_); }

 protected:
  /// Every capability but one.
  static server::CapabilityList AllBut(std::string_view name) {
    server::CapabilityList list = AllCapabilities();
    std::erase_if(list, [&](const server::Capability& each) { return each.name == name; });
    return list;
  }

  config::Settings settings_;

 private:
  std::string folder_ = "/tmp/tenure-service-test-XXXXXX";
};

/// Whether the service has routes of that rate class: those of a capability have its name.
bool Serves(const Service& service, std::string_view rate_class) {
  return std::ranges::any_of(service.router().routes(), [&](const http::Route& route) {
    return route.rate_class == rate_class;
  });
}

TEST_F(ServiceTest, WithoutOneCapabilityItServesTheRest) {
  for (const std::string_view missing : {"inbox", "usage"}) {
    Service service(settings_, "test", AllBut(missing));
    service.Start();
    for (const server::Capability& each : AllCapabilities())
      EXPECT_EQ(Serves(service, each.rate ? each.name : "ops"), each.name != missing)
          << each.name << " without " << missing;
    http::Client client({.base_url = service.Url()});
    for (const char* path : {"/health", "/readyz", "/metrics", "/api/v1/leases", "/sessions"})
      EXPECT_EQ(client.Send(http::Method::kGet, path).status, 200) << path;
    EXPECT_EQ(client.Send(http::Method::kGet, "/usage/windows").status,
              missing == "usage" ? 404 : 200);
    service.Stop();
  }
}

TEST_F(ServiceTest, ACapabilityThatLacksWhatItNeedsIsRefusedByName) {
  for (const std::string_view missing : {"messages", "sessions"}) {
    try {
      const Service service(settings_, "test", AllBut(missing));
      FAIL() << "others need " << missing;
    } catch (const base::UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr(" needs " + std::string(missing)));
    }
  }
}

TEST(CapabilityList, EachStandsBehindThoseThatItNeeds) {
  const server::CapabilityList list = AllCapabilities();
  for (auto each = list.begin(); each != list.end(); ++each) {
    EXPECT_FALSE(each->queries.empty()) << each->name;
    for (const std::string_view need : each->needs)
      EXPECT_NE(std::find_if(list.begin(), each,
                             [&](const server::Capability& other) { return other.name == need; }),
                each)
          << each->name;
  }
}

}  // namespace
}  // namespace tenure::app
