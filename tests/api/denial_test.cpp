// What the library and the commands make of a token that is not taken, or does not allow what is
// asked: an error for good, in the server's words, and no second try.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/guarded_process.hpp"
#include "api/program.hpp"
#include "couriers/test/signal.hpp"
#include "tenure/leases/leader.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/messages/client.hpp"
#include "tenure/messages/worker.hpp"

namespace tenure::api {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Denial : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new GuardedProcess(); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static ProgramResult Run(std::vector<std::string> arguments, const std::string& scopes = "") {
    arguments.insert(arguments.begin() + 2, {"--server", server_->Url()});
    if (!scopes.empty())
      arguments.insert(arguments.begin() + 2, {"--token-file", server_->TokenFile(scopes)});
    return RunTenure(std::move(arguments));
  }
  /// How often a route answered with a status.
  static std::string Answered(const std::string& route, int status) {
    const std::string text = server_->As("ops:read").Get("/metrics").body;
    const std::string metric = "http_requests_total{route=\"" + route +
                               "\",method=\"POST\",status=\"" + std::to_string(status) + "\"} ";
    const std::size_t at = text.find(metric);
    if (at == std::string::npos) return "0";
    return text.substr(at + metric.size(), text.find('\n', at) - at - metric.size());
  }

  static GuardedProcess* server_;
};
GuardedProcess* Denial::server_ = nullptr;

TEST_F(Denial, ACommandWithoutATokenSaysHowToGiveOne) {
  const auto result = Run({"lease", "list"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("A token is needed"));
  EXPECT_THAT(result.err, HasSubstr("--token-file FILE or TENURE_TOKEN"));
}

TEST_F(Denial, ACommandNamesTheScopeThatIsMissing) {
  const auto result = Run({"lease", "list"}, "messages:read");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("lacks the scope leases:read"));
}

TEST_F(Denial, LeaseRunDoesNotWaitForWhatItWillNeverGet) {
  const std::string before = Answered("acquireLease", 403);
  const auto result = Run({"lease", "run", "nightly", "--wait", "1h", "--", "true"}, "leases:read");
  EXPECT_EQ(result.exit_code, 1) << "not 5, which says: try again";
  EXPECT_THAT(result.err, HasSubstr("access denied (403): It lacks the scope leases:write"));
  EXPECT_EQ(std::stoi(Answered("acquireLease", 403)), std::stoi(before) + 1) << "asked once";
}

TEST_F(Denial, TheManagerThrowsItAtOnce) {
  leases::Manager manager(leases::OpenProvider(server_->UrlAs("leases:read")));
  try {
    manager.TryAcquireFor("nightly", 1h);
    FAIL() << "it was granted";
  } catch (const leases::AccessDenied& error) {
    EXPECT_THAT(error.what(), HasSubstr("leases:write"));
    EXPECT_EQ(error.lease(), "nightly");
    EXPECT_FALSE(error.outcome_unknown());
  }
  leases::Manager nobody(leases::OpenProvider(server_->Url()));
  EXPECT_THROW(nobody.TryAcquire("nightly"), leases::AccessDenied);
}

TEST_F(Denial, WhoMayNotLeadIsToldAndDoesNotStandForElectionForEver) {
  leases::Manager manager(leases::OpenProvider(server_->UrlAs("leases:read")));
  EXPECT_THROW(
      RunAsLeader(
          manager, "leader", [](leases::Lease&, std::stop_token) { FAIL(); }, std::stop_token()),
      leases::AccessDenied);
}

TEST_F(Denial, TheClientOfMessagesThrowsIt) {
  messages::Client client(server_->UrlAs("messages:read"));
  EXPECT_THROW(client.Enqueue({.topic = "orders", .payload = "{}"}), messages::AccessDenied);
}

TEST_F(Denial, AWorkerSaysSoAndLives) {
  couriers::Counter told;
  messages::WorkerOptions options;
  options.on_trouble = [&](const std::string& what) {
    EXPECT_THAT(what, HasSubstr("access denied (403)"));
    told.Add();
  };
  messages::Worker worker(server_->UrlAs("messages:read"),
                          {{"orders", [](const messages::Delivery&, messages::Context&) {}}},
                          std::move(options));
  EXPECT_TRUE(told.Await(1));
  worker.Stop();
}

TEST_F(Denial, TheWelcomeOfAGuardedServerSaysThatATokenIsNeeded) {
  EXPECT_THAT(server_->process().Output(), HasSubstr("Requests need a token"));
  EXPECT_THAT(server_->process().Output(), HasSubstr("docs/security.md"));
}

}  // namespace
}  // namespace tenure::api
