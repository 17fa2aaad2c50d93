// The library's SeatHolder and `tenure seat run` against real servers that are slow, away, restarted
// and restored; and `tenure seat prove` on what they left behind.
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <semaphore>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/process.hpp"
#include "tenure/seats/seat_holder.hpp"

namespace tenure::api {
namespace {

using namespace std::chrono_literals;
using seats::AcquireOutcome;
using seats::NoSeat;
using seats::Seat;
using seats::SeatEvents;
using seats::SeatHolder;
using seats::SeatOptions;
using seats::SeatState;
using support::Json;
using support::ServerProcess;
using testing::HasSubstr;

/// Waits until somebody gives it; a test that hangs is ended and named.
class Happened {
 public:
  void Give() { semaphore_.release(); }
  void Await() { semaphore_.acquire(); }

 private:
  std::counting_semaphore<> semaphore_{0};
};

/// Whoever holds for seconds and beats often is no abuse here.
const std::vector<std::string> kWithoutLimits = {"--set", "rate_limits=off"};

struct License {
  std::string id;
  std::string key;
};

License NewLicense(const Api& api, int seats, int ttl_seconds = 30) {
  const Json made = api.Call("POST", "/api/v1/licenses",
                             "{\"seats\":" + std::to_string(seats) +
                                 ",\"ttl_seconds\":" + std::to_string(ttl_seconds) + "}")
                        .Json();
  return {made["id"].Text(), made["license_key"].Text()};
}

SeatOptions Options(const std::string& url, const License& license, const std::string& machine) {
  SeatOptions options;
  options.server = url;
  options.license_key = license.key;
  options.machine_id = machine;
  options.tries_when_in_use = 0;
  return options;
}

Json SeatsOf(const Api& api, const License& license) {
  return api.Get("/api/v1/licenses/" + license.id).Json();
}

class SeatClient : public testing::TestWithParam<Engine> {
 protected:
  StoreUnderTest store_{GetParam()};
  std::unique_ptr<ServerProcess> server_ = store_.Serve(kWithoutLimits);
  Api api_{*server_};

  /// The same address and store again.
  void Restart() {
    auto options = store_.Options(kWithoutLimits);
    options.port = server_->Port();
    server_.reset();
    server_ = std::make_unique<ServerProcess>(options);
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatClient, EachEngine(), EngineName);

TEST_P(SeatClient, ASeatIsAcquiredKeptByHeartbeatsAndReleased) {
  const License license = NewLicense(api_, 1, 2);
  SeatHolder holder(Options(server_->Url(), license, "m-1"));
  const AcquireOutcome outcome = holder.Acquire();
  const Seat& seat = std::get<Seat>(outcome);
  EXPECT_FALSE(seat.resumed);
  EXPECT_EQ(seat.license_id, license.id);
  const std::string path = "/api/v1/licenses/sessions/" + seat.session_id;
  const std::string begun = api_.Get(path).Json()["last_heartbeat_at"].Text();
  Eventually("heartbeats arrive",
             [&] { return api_.Get(path).Json()["last_heartbeat_at"].Text() > begun; });
  EXPECT_TRUE(holder.IsHeld());
  EXPECT_TRUE(holder.Close().released);
  EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 0);
}

TEST_P(SeatClient, TheDestructorReleases) {
  const License license = NewLicense(api_, 1);
  {
    SeatHolder holder(Options(server_->Url(), license, "m-1"));
    holder.Acquire();
    EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 1);
  }
  EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 0);
}

TEST_P(SeatClient, ManyHoldersOfAProcessAreKeptByOneCall) {
  const License license = NewLicense(api_, 50, 2);
  std::vector<std::unique_ptr<SeatHolder>> holders;
  for (int i = 0; i < 50; ++i) {
    holders.push_back(
        std::make_unique<SeatHolder>(Options(server_->Url(), license, "m-" + std::to_string(i))));
    ASSERT_TRUE(std::holds_alternative<Seat>(holders.back()->Acquire()));
  }
  const auto session = [&](std::size_t i) {
    return "/api/v1/licenses/sessions/" + holders[i]->seat()->session_id;
  };
  const std::string begun = api_.Get(session(0)).Json()["last_heartbeat_at"].Text();
  Eventually("all were beaten for", [&] {
    for (std::size_t i = 0; i < holders.size(); ++i)
      if (api_.Get(session(i)).Json()["last_heartbeat_at"].Text() <= begun) return false;
    return true;
  });
  for (const auto& holder : holders) EXPECT_TRUE(holder->IsHeld());
}

TEST_P(SeatClient, WhoWaitsGetsWhatIsReleased) {
  const License license = NewLicense(api_, 1);
  SeatHolder first(Options(server_->Url(), license, "m-1"));
  first.Acquire();
  SeatOptions options = Options(server_->Url(), license, "m-2");
  options.wait = 10min;
  SeatHolder second(options);
  std::thread waiting([&] { EXPECT_TRUE(std::holds_alternative<Seat>(second.Acquire())); });
  Eventually("somebody stands in line",
             [&] { return SeatsOf(api_, license)["waiting"].Int() == 1; });
  first.Close();
  waiting.join();
  EXPECT_TRUE(second.IsHeld());
}

TEST_P(SeatClient, WhoWaitedLongEnoughLeavesTheLine) {
  const License license = NewLicense(api_, 1);
  SeatHolder first(Options(server_->Url(), license, "m-1"));
  first.Acquire();
  SeatOptions options = Options(server_->Url(), license, "m-2");
  options.wait = 1s;
  const AcquireOutcome outcome = SeatHolder(options).Acquire();
  EXPECT_EQ(std::get<NoSeat>(outcome).reason, NoSeat::Reason::kInUse);
  EXPECT_EQ(SeatsOf(api_, license)["waiting"].Int(), 0);
}

TEST_P(SeatClient, RefusalsSayWhy) {
  const License license = NewLicense(api_, 1);
  SeatHolder holder(Options(server_->Url(), license, "m-1"));
  holder.Acquire();
  const AcquireOutcome full = SeatHolder(Options(server_->Url(), license, "m-2")).Acquire();
  EXPECT_EQ(std::get<NoSeat>(full).reason, NoSeat::Reason::kInUse);
  EXPECT_EQ(std::get<NoSeat>(full).seats_total, 1);
  EXPECT_GT(std::get<NoSeat>(full).retry_after, 0ms);
  const AcquireOutcome unknown =
      SeatHolder(Options(server_->Url(), {"", "TENURE-2026-NONE"}, "m-2")).Acquire();
  EXPECT_EQ(std::get<NoSeat>(unknown).reason, NoSeat::Reason::kNotFound);
}

TEST_P(SeatClient, ACloneTakesTheSeatOnceAndTheyDoNotFight) {
  const License license = NewLicense(api_, 1, 2);
  Happened lost;
  seats::SeatLost told;
  SeatHolder original(Options(server_->Url(), license, "clone"), {.lost = [&](const auto& loss) {
                        told = loss;
                        lost.Give();
                      }});
  original.Acquire();
  SeatHolder clone(Options(server_->Url(), license, "clone"));
  EXPECT_TRUE(std::get<Seat>(clone.Acquire()).resumed);
  lost.Await();
  EXPECT_EQ(told.verdict, seats::LossReason::kResumedElsewhere);
  EXPECT_FALSE(told.is_acquired_again);
  EXPECT_FALSE(original.IsHeld());
  const std::string path = "/api/v1/licenses/sessions/" + clone.seat()->session_id;
  const std::string begun = api_.Get(path).Json()["last_heartbeat_at"].Text();
  Eventually("the clone goes on",
             [&] { return api_.Get(path).Json()["last_heartbeat_at"].Text() > begun; });
  EXPECT_TRUE(clone.IsHeld());
}

TEST_P(SeatClient, WhatAnOperatorRevokedIsLostWithThatReason) {
  const License license = NewLicense(api_, 1, 2);
  Happened lost;
  seats::SeatLost told;
  SeatHolder holder(Options(server_->Url(), license, "m-1"), {.lost = [&](const auto& loss) {
                      told = loss;
                      lost.Give();
                    }});
  const std::string session = std::get<Seat>(holder.Acquire()).session_id;
  const std::stop_token token = holder.token();
  EXPECT_EQ(api_.Call("POST", "/api/v1/licenses/sessions/" + session + "/revoke", "{}").status,
            200);
  lost.Await();
  EXPECT_EQ(told.verdict, seats::LossReason::kRevoked);
  EXPECT_TRUE(token.stop_requested());
}

TEST_P(SeatClient, AServerThatStandsStillPutsItAtRiskAndNoMore) {
  const License license = NewLicense(api_, 1, 8);
  Happened at_risk, ok;
  SeatOptions options = Options(server_->Url(), license, "m-1");
  options.call_timeout = 500ms;
  SeatHolder holder(options, {.ok = [&](const Seat&) { ok.Give(); },
                              .at_risk = [&](const seats::AtRisk&) { at_risk.Give(); }});
  const std::string session = std::get<Seat>(holder.Acquire()).session_id;
  server_->Pause();
  at_risk.Await();
  EXPECT_EQ(holder.state(), SeatState::kAtRisk);
  EXPECT_TRUE(holder.IsHeld());
  server_->Resume();
  ok.Await();
  EXPECT_EQ(holder.seat()->session_id, session);
}

TEST_P(SeatClient, ARestartOfTheServerCostsNothing) {
  const License license = NewLicense(api_, 1, 15);
  Happened at_risk, ok;
  SeatHolder holder(Options(server_->Url(), license, "m-1"),
                    {.ok = [&](const Seat&) { ok.Give(); },
                     .at_risk = [&](const seats::AtRisk&) { at_risk.Give(); }});
  const std::string session = std::get<Seat>(holder.Acquire()).session_id;
  server_->Kill();
  at_risk.Await();
  EXPECT_TRUE(holder.IsHeld()) << "it works offline";
  Restart();
  ok.Await();
  EXPECT_EQ(holder.seat()->session_id, session);
  EXPECT_TRUE(holder.Close().released);
}

TEST_P(SeatClient, AMachineThatWasOfflineForTooLongGetsItsSeatBack) {
  const License license = NewLicense(api_, 1, 3);
  Happened lost, acquired;
  SeatHolder holder(Options(server_->Url(), license, "m-1"),
                    {.acquired = [&](const Seat&) { acquired.Give(); },
                     .lost = [&](const seats::SeatLost&) { lost.Give(); }});
  const std::string session = std::get<Seat>(holder.Acquire()).session_id;
  acquired.Await();
  server_->Kill();
  lost.Await();
  EXPECT_EQ(holder.loss()->verdict, std::nullopt);
  EXPECT_FALSE(holder.IsHeld());
  Restart();
  acquired.Await();
  EXPECT_NE(holder.seat()->session_id, session);
}

/// What was given after the copy was made is unknown to the store: neither lost nor renewed.
TEST(SeatClientRestore, AHolderWhomTheStoreForgotWorksOnUntilItsOwnDeadline) {
  namespace fs = std::filesystem;
  const StoreUnderTest store(Engine::kSqlite);
  auto options = store.Options(kWithoutLimits);
  auto server = std::make_unique<ServerProcess>(options);
  options.port = server->Port();
  const License license = NewLicense(Api(*server), 1, 12);
  EXPECT_EQ(server->Terminate(), 0);
  const support::TempDir backup;
  fs::copy(store.data_dir() / "tenure.db", backup / "tenure.db");
  server = std::make_unique<ServerProcess>(options);

  Happened at_risk;
  std::string error;
  SeatHolder holder(Options(server->Url(), license, "m-1"),
                    {.at_risk = [&](const seats::AtRisk& risk) {
                      if (risk.error.find("503") == std::string::npos) return;
                      error = risk.error;
                      at_risk.Give();
                    }});
  ASSERT_TRUE(std::holds_alternative<Seat>(holder.Acquire()));
  EXPECT_EQ(server->Terminate(), 0);
  for (const char* name : {"tenure.db", "tenure.db-wal", "tenure.db-shm"})
    fs::remove(store.data_dir() / name);
  fs::copy(backup / "tenure.db", store.data_dir() / "tenure.db");
  server = std::make_unique<ServerProcess>(options);
  at_risk.Await();
  EXPECT_EQ(holder.state(), SeatState::kAtRisk) << error;
  EXPECT_TRUE(holder.IsHeld());
  const AcquireOutcome frozen = SeatHolder(Options(server->Url(), license, "m-2")).Acquire();
  EXPECT_EQ(std::get<NoSeat>(frozen).reason, NoSeat::Reason::kFrozen);
}

// ---- tenure seat run

class SeatRun : public SeatClient {
 protected:
  ProgramResult Run(const License& license, std::vector<std::string> flags,
                    std::vector<std::string> command) const {
    return RunTenure(Arguments(std::move(flags), std::move(command)),
                     {{"TENURE_LICENSE", license.key}});
  }
  std::vector<std::string> Arguments(std::vector<std::string> flags,
                                     std::vector<std::string> command) const {
    std::vector<std::string> all = {"seat", "run", "--server", server_->Url()};
    all.insert(all.end(), flags.begin(), flags.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  std::unique_ptr<support::Process> Start(const License& license, std::vector<std::string> flags,
                                          std::vector<std::string> command) const {
    std::vector<std::string> argv = Arguments(std::move(flags), std::move(command));
    argv.insert(argv.begin(), std::getenv("TENURE_BINARY"));
    return std::make_unique<support::Process>(support::ProcessOptions{
        .argv = std::move(argv), .environment = {{"TENURE_LICENSE", license.key}}});
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatRun, EachEngine(), EngineName);

TEST_P(SeatRun, RunsTheCommandWithItsSeatAndReleasesIt) {
  const License license = NewLicense(api_, 1);
  const ProgramResult result =
      Run(license, {}, {"sh", "-c", "echo $TENURE_SEAT_SESSION $TENURE_SEAT_FENCE; exit 7"});
  EXPECT_EQ(result.exit_code, 7) << result.err;
  EXPECT_TRUE(std::regex_match(result.out, std::regex("[0-9a-f-]{36} [0-9]+\n"))) << result.out;
  EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 0);
}

TEST_P(SeatRun, TakesTheKeyFromAFileAndSaysItNowhere) {
  const License license = NewLicense(api_, 1);
  const support::TempDir dir;
  std::ofstream(dir / "key") << license.key << "\n";
  const ProgramResult result =
      Run({}, {"--license", "@" + (dir / "key").string()}, {"cat", "/proc/self/environ"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ((result.out + result.err).find(license.key), std::string::npos);
  const ProgramResult by_variable = Run(license, {}, {"cat", "/proc/self/environ"});
  EXPECT_EQ(by_variable.exit_code, 0) << by_variable.err;
  EXPECT_EQ(by_variable.out.find(license.key), std::string::npos);
}

TEST_P(SeatRun, WithoutASeatTheCommandDoesNotRun) {
  const License license = NewLicense(api_, 1);
  SeatHolder holder(Options(server_->Url(), license, "m-1"));
  holder.Acquire();
  const ProgramResult full = Run(license, {}, {"echo", "ran"});
  EXPECT_EQ(full.exit_code, 4);
  EXPECT_EQ(full.out, "");
  EXPECT_THAT(full.err, HasSubstr("(in_use): all seats are taken; with --wait 30m"));
  EXPECT_EQ(Run({"", "TENURE-2026-NONE"}, {}, {"echo", "ran"}).exit_code, 4);
  EXPECT_EQ(Run({}, {}, {"echo", "ran"}).exit_code, 2) << "without a key";
}

TEST(SeatRunElsewhere, SendsTheKeyToAnotherMachineInClearTextOnlyWhenToldSo) {
  const ProgramResult refused =
      RunTenure({"seat", "run", "--server", "http://tenure.invalid", "--", "echo", "ran"},
                {{"TENURE_LICENSE", "TENURE-2026-SECRET"}});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("in clear text"));
  EXPECT_EQ(refused.err.find("SECRET"), std::string::npos);
}

TEST_P(SeatRun, WithoutAServerItSaysSo) {
  const License license = NewLicense(api_, 1);
  server_->Kill();
  EXPECT_EQ(Run(license, {}, {"echo", "ran"}).exit_code, 5);
}

TEST_P(SeatRun, StandsInLineForAsLongAsItIsTold) {
  const License license = NewLicense(api_, 1);
  SeatHolder holder(Options(server_->Url(), license, "m-1"));
  holder.Acquire();
  const auto run = Start(license, {"--wait", "30m"}, {"echo", "ran"});
  Eventually("it stands in line", [&] { return SeatsOf(api_, license)["waiting"].Int() == 1; });
  holder.Close();
  EXPECT_EQ(run->Wait(), 0);
  EXPECT_THAT(run->Output(), HasSubstr("ran"));
}

TEST_P(SeatRun, ALossEndsTheCommandWithSigterm) {
  const License license = NewLicense(api_, 1, 2);
  const auto run = Start(license, {},
                         {"sh", "-c",
                          "trap 'echo told; exit 0' TERM; echo \"session $TENURE_SEAT_SESSION\"; "
                          "while :; do sleep 0.1; done"});
  const std::string line = run->WaitForLine("session ");
  const std::string session = line.substr(line.find(' ') + 1, 36);
  EXPECT_EQ(
      api_.Call("POST", "/api/v1/licenses/sessions/" + session + "/revoke", R"({"force":true})")
          .status,
      200);
  run->WaitForLine("told");
  EXPECT_EQ(run->Wait(), 6);
}

TEST_P(SeatRun, OneThatIgnoresSigtermIsKilledAfterTheGrace) {
  const License license = NewLicense(api_, 1, 2);
  const auto run = Start(license, {"--grace", "1s"},
                         {"sh", "-c",
                          "trap '' TERM; echo \"session $TENURE_SEAT_SESSION\"; "
                          "while :; do sleep 0.1; done"});
  const std::string line = run->WaitForLine("session ");
  const std::string session = line.substr(line.find(' ') + 1, 36);
  api_.Call("POST", "/api/v1/licenses/sessions/" + session + "/revoke", "{}");
  EXPECT_EQ(run->Wait(), 6);
}

/// kill -9 leaves the seat until its deadline; the same machine has it back at once, and its release
/// waits for nobody, because the state file says that the run before is over.
TEST_P(SeatRun, ARunThatWasKilledIsSucceededByTheNextOne) {
  const License license = NewLicense(api_, 1, 3'600);
  const support::TempDir dir;
  const std::vector<std::string> flags = {"--machine-id", "ci-7", "--state-file",
                                          (dir / "seat").string()};
  {
    const auto run = Start(license, flags, {"sh", "-c", "echo begun; sleep 600"});
    run->WaitForLine("begun");
    run->Kill();
    run->Wait();
  }
  EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 1);
  const ProgramResult next = Run(license, flags, {"true"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(SeatsOf(api_, license)["seats_used"].Int(), 0);
  std::ostringstream state;
  state << std::ifstream(dir / "seat").rdbuf();
  EXPECT_EQ(state.str().find(license.key), std::string::npos);
}

// ---- tenure seat prove

TEST_P(SeatRun, WhatTheServerWroteIsProvenThereInAFileAndFromItsStore) {
  const License license = NewLicense(api_, 2, 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(license, {}, {"true"}).exit_code, 0);
  {
    SeatHolder one(Options(server_->Url(), license, "m-1"));
    SeatHolder two(Options(server_->Url(), license, "m-2"));
    one.Acquire();
    two.Acquire();
    SeatHolder again(Options(server_->Url(), license, "m-2"));
    again.Acquire();
  }
  const auto prove = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"seat", "prove"});
    return RunTenure(std::move(flags));
  };
  const ProgramResult proven = prove({"--server", server_->Url()});
  EXPECT_EQ(proven.exit_code, 0) << proven.out << proven.err;
  EXPECT_THAT(proven.out, HasSubstr("highest    2 at once"));
  EXPECT_THAT(proven.out, HasSubstr("proven     yes"));

  const support::TempDir dir;
  const ProgramResult exported = RunTenure({"seat", "export", "--server", server_->Url()});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(exported.out.find(license.key), std::string::npos);
  std::ofstream(dir / "log") << exported.out;
  EXPECT_EQ(prove({"--file", (dir / "log").string()}).out, proven.out);

  std::string tampered = exported.out;
  tampered.replace(tampered.find("m-1"), 3, "m-9");
  std::ofstream(dir / "log") << tampered;
  const ProgramResult found = prove({"--file", (dir / "log").string()});
  EXPECT_EQ(found.exit_code, 4);
  EXPECT_THAT(found.out, HasSubstr("was changed"));

  const std::string heads = prove({"--json", "--server", server_->Url()}).out;
  std::ofstream(dir / "heads") << heads;
  EXPECT_EQ(server_->Terminate(), 0);
  std::vector<std::string> from_store = store_.Flags();
  from_store.insert(from_store.end(), {"--expect", (dir / "heads").string()});
  const ProgramResult stored = prove(from_store);
  EXPECT_EQ(stored.exit_code, 0) << stored.out << stored.err;
}

}  // namespace
}  // namespace tenure::api
