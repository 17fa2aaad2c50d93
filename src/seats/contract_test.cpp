// The contract of seats (K1, K2) on every store.

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "seats/test_process.hpp"
#include "store/tables.hpp"

namespace tenure::seats {
namespace {

using store::EngineKind;

class SeatsContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatsContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(SeatsContract, AFreeSeatIsGrantedWithItsDeadline) {
  const base::Uuid license = a_.Create({.seats = 3, .ttl_ms = 60'000, .grace_ms = 5'000});
  const Grant grant = Granted(a_.Acquire("m1"));
  EXPECT_EQ(grant.license, license);
  EXPECT_EQ(grant.fence, 1);
  EXPECT_EQ(grant.expires_ms, grant.now_ms + 65'000);
  EXPECT_EQ(grant.used, 1);
  EXPECT_EQ(grant.remaining, 2);
  EXPECT_EQ(grant.interval_ms, 30'000);
  EXPECT_FALSE(grant.resumed);
}

TEST_P(SeatsContract, K1_ThreeSeatsAreGrantedAndTheFourthMachineIsDenied) {
  a_.Create({});
  for (const char* machine : {"m1", "m2", "m3"}) Granted(a_.Acquire(machine));
  const Full full = Denied(a_.Acquire("m4"));
  EXPECT_EQ(full.reason, Full::Reason::kFull);
  EXPECT_EQ(full.total, 3);
  EXPECT_EQ(full.retry_ms, 60'000);
}

TEST_P(SeatsContract, ADenialOfAFullLicenseLocksAndWritesNothing) {
  a_.Create({.seats = 1});
  Granted(a_.Acquire("m1"));
  const auto before =
      store_.Executions("seats.lock_licenses") + store_.Executions("seats.write_licenses");
  Denied(a_.Acquire("m2"));
  EXPECT_EQ(store_.Executions("seats.lock_licenses") + store_.Executions("seats.write_licenses"),
            before);
}

TEST_P(SeatsContract, K2_TheSameMachineGetsItsOwnSeatAndTakesNoSecondOne) {
  a_.Create({});
  const Grant first = Granted(a_.Acquire("m1"));
  clock().Advance(1'000);
  const Grant again = Granted(a_.Acquire("m1"));
  EXPECT_TRUE(again.resumed);
  EXPECT_NE(again.session, first.session);
  EXPECT_GT(again.fence, first.fence);
  EXPECT_EQ(again.used, 1);
  EXPECT_EQ(LostOf(a_.Heartbeat(first.session)).reason, EndReason::kResumedElsewhere);
  EXPECT_FALSE(a_.Release(first.session));
  Renewed(a_.Heartbeat(again.session));
}

TEST_P(SeatsContract, AColleagueUnderTheSameMachineIdIsRefused) {
  a_.Create({});
  Granted(a_.Acquire("m1"));
  const auto outcome = a_.Acquire("m1", {.person = "bob"});
  ASSERT_TRUE(std::holds_alternative<MachineHeld>(outcome));
  EXPECT_EQ(std::get<MachineHeld>(outcome).retry_ms, 60'000);
}

TEST_P(SeatsContract, AHeartbeatMovesTheDeadlineOnAndNeverBack) {
  const base::Uuid license = a_.Create({.seats = 1});
  const Grant grant = Granted(a_.Acquire("m1"));
  clock().Advance(10'000);
  EXPECT_EQ(Renewed(a_.Heartbeat(grant.session)).expires_ms, grant.expires_ms + 10'000);
  EXPECT_EQ(a_.Change({.license = license, .ttl_ms = 2'000}).kind, AdminOutcome::Kind::kDone);
  EXPECT_EQ(Renewed(a_.Heartbeat(grant.session)).expires_ms, grant.expires_ms + 10'000);
}

TEST_P(SeatsContract, K2_ASeatIsFreeAtItsDeadlineAndNotAMillisecondBefore) {
  a_.Create({.seats = 1});
  const Grant grant = Granted(a_.Acquire("m1"));
  clock().Advance(59'999);
  Denied(a_.Acquire("m2"));
  clock().Advance(1);
  EXPECT_GT(Granted(a_.Acquire("m2")).fence, grant.fence);
  const Lost lost = LostOf(a_.Heartbeat(grant.session));
  EXPECT_EQ(lost.reason, EndReason::kExpired);
  EXPECT_EQ(lost.ended_ms, grant.expires_ms);
  EXPECT_EQ(lost.beat_ms, grant.started_ms);
}

TEST_P(SeatsContract, ALaptopThatWakesGetsItsSeatBackWhileNobodyTookIt) {
  a_.Create({.seats = 1});
  const Grant grant = Granted(a_.Acquire("m1"));
  clock().Advance(100'000);
  const Beat beat = Renewed(a_.Heartbeat(grant.session));
  EXPECT_TRUE(beat.revived);
  EXPECT_EQ(beat.expires_ms, grant.expires_ms + 100'000);
  Denied(a_.Acquire("m2"));
}

TEST_P(SeatsContract, K2_AMachineWhoseLapsedSeatAnotherTakesInTheSameBatchGetsAnotherOne) {
  a_.Create({.seats = 2});
  Granted(a_.Acquire("m1"));
  clock().Advance(10);
  Granted(a_.Acquire("m2"));
  clock().Advance(70'000);
  std::vector<AcquireOutcome> outcomes;
  for (const char* machine : {"x1", "m1"})
    a_.seats().Acquire(a_.RequestOf(machine, {}), nullptr, [&](const auto& result) {
      outcomes.push_back(std::get<AcquireOutcome>(result.value()));
    });
  a_.Drive();
  ASSERT_EQ(outcomes.size(), 2U);
  for (const AcquireOutcome& outcome : outcomes) EXPECT_FALSE(Granted(outcome).resumed);
  EXPECT_EQ(Denied(a_.Acquire("m2")).reason, Full::Reason::kFull);
}

TEST_P(SeatsContract, AReleasedSeatIsFreeAtOnce) {
  a_.Create({.seats = 1});
  const Grant grant = Granted(a_.Acquire("m1"));
  EXPECT_TRUE(a_.Release(grant.session));
  EXPECT_FALSE(a_.Release(grant.session)) << "a second time changes nothing";
  EXPECT_EQ(LostOf(a_.Heartbeat(grant.session)).reason, EndReason::kReleased);
  Granted(a_.Acquire("m2"));
}

TEST_P(SeatsContract,
       K1_AReleaseAfterAResumeGivesTheSeatOnOnlyWhenTheFormerCannotBelieveInItAnyMore) {
  a_.Create({.seats = 1});
  const Grant first = Granted(a_.Acquire("m1"));
  clock().Advance(10'000);
  const Grant second = Granted(a_.Acquire("m1"));
  EXPECT_TRUE(a_.Release(second.session));
  Denied(a_.Acquire("m2"));
  clock().Advance(first.expires_ms - second.now_ms - 1);
  Denied(a_.Acquire("m2"));
  clock().Advance(1);
  Granted(a_.Acquire("m2"));
}

TEST_P(SeatsContract, ASuccessorThatNamesItsFormerGivesTheSeatOnAtOnce) {
  a_.Create({.seats = 1});
  const Grant first = Granted(a_.Acquire("m1"));
  const Grant second = Granted(a_.Acquire("m1", {.former = first.session}));
  EXPECT_TRUE(a_.Release(second.session));
  Granted(a_.Acquire("m2"));
}

TEST_P(SeatsContract, OthersCannotSeeOrChangeASession) {
  a_.Create({});
  const Grant grant = Granted(a_.Acquire("m1"));
  EXPECT_TRUE(std::holds_alternative<NoSession>(a_.Heartbeat(grant.session, "bob")));
  EXPECT_TRUE(std::holds_alternative<NoSession>(a_.Heartbeat(grant.session, "ann", "other")));
  EXPECT_FALSE(a_.Release(grant.session, "bob"));
  EXPECT_FALSE(a_.Release(grant.session, "ann", "other"));
  Renewed(a_.Heartbeat(grant.session));
  EXPECT_TRUE(std::holds_alternative<NoLicense>(a_.Acquire("m1", {.tenant = "other"})));
}

TEST_P(SeatsContract, OneLostOfManyHeartbeatsCostsTheOthersNothing) {
  a_.Create({.seats = 5});
  std::vector<base::Uuid> sessions;
  for (int i = 0; i < 4; ++i)
    sessions.push_back(Granted(a_.Acquire("m" + std::to_string(i))).session);
  a_.Release(sessions[1]);
  sessions.push_back(base::Uuid::V7(1));
  const auto outcomes = a_.HeartbeatAll(sessions);
  Renewed(outcomes[0]);
  EXPECT_EQ(LostOf(outcomes[1]).reason, EndReason::kReleased);
  Renewed(outcomes[2]);
  Renewed(outcomes[3]);
  EXPECT_TRUE(std::holds_alternative<NoSession>(outcomes[4]));
}

TEST_P(SeatsContract, HeartbeatsOfThousandsInOneCallWaitForNobodyAndOneThatIsLostHasItsReason) {
  constexpr int kHolders = 2'500;  // three parts
  constexpr int kLost = 1'200;
  const base::Uuid license = a_.Create({.seats = kHolders});
  std::vector<base::Uuid> sessions;
  for (int i = 0; i < kHolders; ++i) {
    AcquireCommand command = a_.RequestOf("m" + std::to_string(i), {}).command;
    command.license = license;
    a_.seats().Settle<AcquireOutcome>(std::move(command), nullptr, [&](const auto& result) {
      sessions.push_back(Granted(result.value()).session);
    });
  }
  store::Drive(a_.store());
  ASSERT_EQ(sessions.size(), static_cast<std::size_t>(kHolders));
  a_.Release(sessions[kLost]);
  clock().Advance(1'000);
  const auto outcomes = a_.HeartbeatAll(sessions);
  EXPECT_EQ(LostOf(outcomes[kLost]).reason, EndReason::kReleased);
  const auto renewed = [](const auto& each) { return std::holds_alternative<Beat>(each); };
  EXPECT_EQ(std::ranges::count_if(outcomes, renewed), kHolders - 1);
  if (store_.is_sqlite())
    return;  // a write transaction is everybody's lock, for as long as it lasts
  // Somebody else settles their licence, and takes its time: those who live need not wait.
  const auto settling = store::OpenPostgresTables(store_.url());
  settling->Ask("begin");
  settling->Ask("select 1 from tenure.licenses for no key update");
  sessions.erase(sessions.begin() + kLost);
  EXPECT_TRUE(std::ranges::all_of(a_.HeartbeatAll(sessions), renewed));
  settling->Ask("rollback");
}

TEST_P(SeatsContract, AHeartbeatStandsInNoLaneInWhichALicenseIsWaitedFor) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one lane writes";
  a_.Create({});
  const Grant grant = Granted(a_.Acquire("m1"));
  const auto process = store_.NewProcess(LanesOfAServer());
  wake::Registry wake(clock());
  Seats seats(*process, wake, "b", Rules(), clock(), store_.metrics());
  bool renewed = false;
  seats.Heartbeat({"default", "ann", {grant.session}}, nullptr, [&](const auto& result) {
    renewed = std::holds_alternative<Beat>(result.value().outcomes.front());
  });
  for (const std::size_t lane : {0u, 1u}) process->WriteLane(lane).RunOnce();
  EXPECT_FALSE(renewed);
  process->RenewalLane(0).RunOnce();
  EXPECT_TRUE(renewed);
}

/// Nobody can be asked about a licence.
struct LicensesAreHeld final : db::StepHook {
  void Before(std::string_view step) override {
    if (step == "seats.lock_licenses") throw base::Fault(base::FaultKind::kContended, "held");
  }
  void After(std::string_view) override {}
};

TEST_P(SeatsContract, ALicenseThatCannotBeAskedCostsTheOthersOfACallNothing) {
  a_.Create({});
  a_.Create({.ttl_ms = 2'000, .key = "ACME-2026-KEY2"});
  const base::Uuid live = Granted(a_.Acquire("m1")).session;
  const base::Uuid late = Granted(a_.Acquire("m2", {.key = "ACME-2026-KEY2"})).session;
  clock().Advance(3'000);
  LicensesAreHeld held;
  for (db::Lane* lane : a_.store().AllLanes()) lane->connection().SetHook(&held);
  const auto outcomes = a_.HeartbeatAll({live, late});
  Renewed(outcomes[0]);
  EXPECT_TRUE(std::holds_alternative<Unheard>(outcomes[1]));
  EXPECT_THROW(a_.Heartbeat(late), base::Fault) << "by itself it is refused";
  for (db::Lane* lane : a_.store().AllLanes()) lane->connection().SetHook(nullptr);
  EXPECT_TRUE(Renewed(a_.Heartbeat(late)).revived);
}

/// Of a licence with 10,000 free seats all of them were read and sorted for each batch.
TEST_P(SeatsContract, TheFirstOpenSeatsAreReadInTheOrderOfTheirIndex) {
  if (store_.is_sqlite()) GTEST_SKIP() << "plans of PostgreSQL";
  const auto tables = store::OpenPostgresTables(store_.url());
  for (const char* way : {"seqscan", "hashjoin", "mergejoin"})
    tables->Ask(fmt::format("set enable_{} = off", way));
  tables->Ask("set plan_cache_mode = force_generic_plan");
  tables->Ask(
      fmt::format("prepare load_open (uuid[], bigint[], bigint) as {}", sql::kLoadOpen.postgres));
  std::string plan;
  for (const auto& row : tables->Ask(
           "explain execute load_open (array['00000000-0000-0000-0000-000000000001']::uuid[], "
           "array[1], 64)"))
    plan += row.at(0) + "\n";
  EXPECT_THAT(plan, testing::HasSubstr("using seats_open"));
  EXPECT_THAT(plan, testing::Not(testing::HasSubstr("Sort"))) << plan;
}

TEST_P(SeatsContract, AKeyIsOfOneLicenseInAnOrganisationAndUnknownElsewhere) {
  a_.Create({});
  EXPECT_FALSE(a_.TryCreate({}).license) << "taken";
  a_.Create({.tenant = "other"});
  EXPECT_TRUE(std::holds_alternative<NoLicense>(a_.Acquire("m1", {.key = "no such key"})));
}

}  // namespace
}  // namespace tenure::seats
