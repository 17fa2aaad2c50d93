// The log of a licence, its administration and its background work, on every store.

#include <gmock/gmock.h>

#include "db/maintenance.hpp"
#include "seats/test_process.hpp"
#include "store/every_query_runs.hpp"

namespace tenure::seats {
namespace {

using store::EngineKind;
using testing::ElementsAre;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class SeatLog : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  std::vector<LogEntry> Log(const base::Uuid& license, const std::string& kind = "") {
    return a_.Call(a_.seats(), &Seats::ListLog, {.license = license, .kind = kind}).rows;
  }
  std::vector<std::string> Kinds(const base::Uuid& license) {
    std::vector<std::string> kinds;
    for (const LogEntry& entry : Log(license)) kinds.push_back(entry.kind);
    return kinds;
  }
  /// Every hash follows from the entry before it, and the last one is the licence's head.
  void ExpectChain(const base::Uuid& license) {
    const auto view = a_.Call(a_.seats(), &Seats::FindLicense, {"", license}).license.value();
    const std::vector<LogEntry> entries = Log(license);
    ASSERT_FALSE(entries.empty());
    EXPECT_EQ(entries.front().seq, view.license.log_base);
    LogHash previous{};
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].seq, entries.front().seq + static_cast<std::int64_t>(i));
      if (i > 0 || entries[i].seq == 1) {
        EXPECT_EQ(entries[i].hash, HashOf(previous, entries[i]));
      }
      previous = entries[i].hash;
    }
    EXPECT_EQ(view.license.log_hash, std::string(previous.begin(), previous.end()));
  }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_, "a"};
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatLog,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(SeatLog, TellsWhatHappenedInOrderAndItsChainHolds) {
  const base::Uuid license = a_.Create({.seats = 1});
  const Grant first = Granted(a_.Acquire("m1"));
  const Grant second = Granted(a_.Acquire("m1", {.former = first.session}));
  a_.Release(second.session);
  Granted(a_.Acquire("m2"));
  clock().Advance(100'000);
  const Grant last = Granted(a_.Acquire("m3"));
  a_.Revoke(last.session);
  a_.Change({.license = license, .seats = 2});
  EXPECT_THAT(Kinds(license),
              ElementsAre("LICENSE_CREATED", "LICENSE_SEAT_ACQUIRED", "LICENSE_SEAT_RESUMED",
                          "LICENSE_SEAT_RELEASED", "LICENSE_SEAT_ACQUIRED", "LICENSE_SEAT_EXPIRED",
                          "LICENSE_SEAT_ACQUIRED", "LICENSE_SEAT_REVOKED", "LICENSE_CHANGED"));
  ExpectChain(license);
}

TEST_P(SeatLog, AnExpiryHasItsExactTimeHoweverLateItIsWritten) {
  const base::Uuid license = a_.Create({.seats = 2, .ttl_ms = 60'000});
  const Grant grant = Granted(a_.Acquire("m1"));
  clock().Advance(3'600'000);
  const DueReply due = a_.Call(a_.seats(), &Seats::FindDueLicenses);
  ASSERT_THAT(due.licenses, ElementsAre(license));
  EXPECT_FALSE(a_.Settle<SweepOutcome>(SweepCommand{license}).more);
  EXPECT_THAT(a_.Call(a_.seats(), &Seats::FindDueLicenses).licenses, testing::IsEmpty());
  const auto expired = Log(license, "LICENSE_SEAT_EXPIRED");
  ASSERT_EQ(expired.size(), 1U);
  EXPECT_EQ(expired[0].at_ms, grant.expires_ms);
  EXPECT_EQ(expired[0].session, grant.session);
  EXPECT_EQ(a_.Call(a_.seats(), &Seats::OldestDeadline).look_ms, kNever);
}

TEST_P(SeatLog, DenialsAreSummedByLicense) {
  const base::Uuid license = a_.Create({.seats = 1});
  Granted(a_.Acquire("m1"));
  for (const char* machine : {"m2", "m2", "m3"}) Denied(a_.Acquire(machine));
  a_.seats().FlushDenials();
  a_.Drive();
  const auto denied = Log(license, "LICENSE_SEAT_DENIED");
  ASSERT_EQ(denied.size(), 1U);
  EXPECT_THAT(denied[0].detail, testing::HasSubstr(R"("count":3,"machines":2)"));
  EXPECT_THAT(denied[0].detail, testing::HasSubstr(R"("process":"a")"));
  a_.seats().FlushDenials();
  a_.Drive();
  EXPECT_EQ(Log(license, "LICENSE_SEAT_DENIED").size(), 1U) << "told once";
  ExpectChain(license);
}

TEST_P(SeatLog, DenialsThatCannotBeWrittenAreToldNextTime) {
  a_.Create({.seats = 1});
  Granted(a_.Acquire("m1"));
  Denied(a_.Acquire("m2"));
  const std::int64_t first_ms = clock().WallMs();
  clock().Advance(60'000 - 1);
  a_.store().Stop();
  a_.seats().FlushDenials();
  a_.seats().denials().Note(base::Uuid(), "m3", clock().WallMs());
  const auto sums = a_.seats().denials().Take().sums;
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[1].count, 1);
  EXPECT_EQ(sums[1].machines, 1);
  EXPECT_EQ(sums[1].from_ms, first_ms);
}

TEST_P(SeatLog, BeyondARetentionItBeginsAtACheckpointAndCanBeCheckedFromThere) {
  const base::Uuid license = a_.Create({.seats = 2, .ttl_ms = 60'000});
  const Grant grant = Granted(a_.Acquire("m1"));
  clock().Advance(10'000);
  Renewed(a_.Heartbeat(grant.session));
  a_.Settle<SweepOutcome>(CheckpointCommand{license, 0});
  clock().Advance(20'000);
  Granted(a_.Acquire("m2"));
  const LogEndsReply ends = a_.Call(a_.seats(), &Seats::FindEndsOfLogs, {base::Uuid(), 15'000});
  ASSERT_EQ(ends.ends.size(), 1U);
  EXPECT_EQ(ends.ends[0].old_checkpoint, 3);
  EXPECT_EQ(a_.Call(a_.seats(), &Seats::ForgetSomeLog, {license, 3}).rows, 2);
  EXPECT_THAT(Kinds(license), ElementsAre("LICENSE_LOG_CHECKPOINT", "LICENSE_SEAT_ACQUIRED"));
  ExpectChain(license);
  const auto none = a_.Call(a_.seats(), &Seats::FindEndsOfLogs, {base::Uuid(), 3'600'000});
  EXPECT_FALSE(none.ends[0].old_checkpoint);
}

TEST_P(SeatLog, ANewIncarnationFreezesAndIsToldOnce) {
  const base::Uuid license = a_.Create({.seats = 2, .ttl_ms = 60'000});
  const Grant grant = Granted(a_.Acquire("m1"));
  db::NewIncarnation(a_.store().engine());
  EXPECT_EQ(Denied(a_.Acquire("m2")).reason, Full::Reason::kFrozen);
  Renewed(a_.Heartbeat(grant.session));
  EXPECT_TRUE(std::holds_alternative<Forgotten>(a_.Heartbeat(base::Uuid::V7(5))));
  EXPECT_EQ(Log(license, "LICENSE_STORE_RESTORED").size(), 1U);
  clock().Advance(30'000);
  Renewed(a_.Heartbeat(grant.session));
  clock().Advance(30'001);
  EXPECT_GT(Granted(a_.Acquire("m2")).fence, std::int64_t{2} << 40);
  EXPECT_TRUE(std::holds_alternative<NoSession>(a_.Heartbeat(base::Uuid::V7(5))));
}

TEST_P(SeatLog, AKeyIsRotatedAndTheOldOneWorksForTheOverlap) {
  const base::Uuid license = a_.Create({.seats = 3});
  const auto rotate = [&](const std::string& key) {
    return a_.Settle<AdminOutcome>(
        RotateKeyCommand{license, "default", HashOfKey(key), HintOfKey(key), 10'000, "op"});
  };
  EXPECT_EQ(rotate("ACME-2026-KEY1").kind, AdminOutcome::Kind::kKeyTaken) << "its own";
  EXPECT_EQ(rotate("ACME-2026-KEY2").license.key_hint, "KEY2");
  Granted(a_.Acquire("m1"));
  Granted(a_.Acquire("m2", {.key = "ACME-2026-KEY2"}));
  clock().Advance(10'000);
  EXPECT_TRUE(std::holds_alternative<NoLicense>(a_.Acquire("m3")));
  Granted(a_.Acquire("m3", {.key = "ACME-2026-KEY2"}));
}

TEST_P(SeatLog, ARevokedLicenseIsOverForGood) {
  const base::Uuid license = a_.Create({.seats = 3});
  const Grant grant = Granted(a_.Acquire("m1"));
  const auto revoke = RevokeLicenseCommand{license, "default", "unpaid", "op"};
  EXPECT_TRUE(a_.Settle<AdminOutcome>(revoke).changed);
  EXPECT_EQ(LostOf(a_.Heartbeat(grant.session)).reason, EndReason::kLicenseRevoked);
  const auto outcome = a_.Acquire("m2");
  ASSERT_TRUE(std::holds_alternative<Inactive>(outcome));
  EXPECT_EQ(std::get<Inactive>(outcome).standing, Standing::kRevoked);
}

TEST_P(SeatLog, ASuspensionThatEndsBeforeTheDeadlineCostsNothing) {
  const base::Uuid license = a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant grant = Granted(a_.Acquire("m1"));
  a_.Change({.license = license, .suspended = true});
  EXPECT_EQ(LostOf(a_.Heartbeat(grant.session)).reason, EndReason::kLicenseSuspended);
  clock().Advance(30'000);
  a_.Change({.license = license, .suspended = false});
  EXPECT_EQ(Renewed(a_.Heartbeat(grant.session)).expires_ms, grant.expires_ms + 30'000);
}

TEST_P(SeatLog, ListsShowLicensesHoldingsTicketsAndLevels) {
  const base::Uuid license = a_.Create({.seats = 2, .ttl_ms = 60'000});
  a_.Create({.seats = 5, .key = "ANOTHER-KEY", .tenant = "other"});
  const Grant first = Granted(a_.Acquire("m1"));
  const Grant second = Granted(a_.Acquire("m2", {.person = "bob"}));
  const auto waits = a_.Wait("m3", 30'000);
  auto& seats = a_.seats();
  EXPECT_EQ(a_.Call(seats, &Seats::ListLicenses, {.tenant = "default"}).rows.size(), 1U);
  EXPECT_EQ(a_.Call(seats, &Seats::ListLicenses).rows.size(), 2U);
  EXPECT_EQ(a_.Call(seats, &Seats::ListLicenses, {.state = Standing::kSuspended}).rows.size(), 0U);
  EXPECT_EQ(a_.Call(seats, &Seats::ListLicenses, {.key_hint = "KEY1"}).rows.size(), 1U);
  const auto view = a_.Call(seats, &Seats::FindLicense, {"default", license}).license.value();
  EXPECT_EQ(view.license.held, 2);
  EXPECT_EQ(view.license.peak, 2);
  EXPECT_EQ(view.line.waiting, 1);
  EXPECT_FALSE(a_.Call(seats, &Seats::FindLicense, {"other", license}).license);
  EXPECT_EQ(a_.Call(seats, &Seats::ListTickets, {.license = license}).rows.size(), 1U);

  const auto holdings = [&](HoldingsRequest request) {
    request.license = license;
    std::vector<base::Uuid> sessions;
    for (const ListedHolding& each : a_.Call(seats, &Seats::ListHoldings, request).rows)
      sessions.push_back(*each.holding.row.session);
    return sessions;
  };
  using State = HoldingsRequest::State;
  EXPECT_THAT(holdings({}), ElementsAre(second.session, first.session));
  EXPECT_THAT(holdings({.person = "bob"}), ElementsAre(second.session));
  EXPECT_THAT(holdings({.machine = "m1"}), ElementsAre(first.session));
  a_.seats().Abandon(waits->request);
  clock().Advance(Rules().ticket_ms + 1);
  a_.Release(first.session);
  EXPECT_THAT(holdings({.state = State::kEnded}), ElementsAre(first.session));
  EXPECT_THAT(holdings({.state = State::kEnded, .machine = "m9"}), ElementsAre());
  EXPECT_THAT(holdings({.state = State::kActive}), ElementsAre(second.session));
  clock().Advance(60'000);
  EXPECT_THAT(holdings({.state = State::kLapsed}), ElementsAre(second.session));

  const auto ended =
      a_.Call(seats, &Seats::FindHolding, {"default", first.session}).holding.value();
  EXPECT_EQ(ended.end, EndReason::kReleased);
  EXPECT_EQ(ended.row.machine, "m1");
  EXPECT_EQ(ended.row.started_ms, first.started_ms);
  EXPECT_TRUE(a_.Call(seats, &Seats::FindHolding, {"", second.session}).holding);
  EXPECT_FALSE(a_.Call(seats, &Seats::FindHolding, {"other", second.session}).holding);

  const auto levels = a_.Call(seats, &Seats::Levels, {1}).levels;
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].license, "other");
  EXPECT_EQ(levels[0].total, 2);
  EXPECT_EQ(levels[1].total, 5);
}

TEST_P(SeatLog, OrganisationsAreMadeOnceAndChanged) {
  auto& seats = a_.seats();
  const Organization acme{.id = "acme", .name = "Acme", .contact_email = "it@acme.test"};
  EXPECT_TRUE(a_.Call(seats, &Seats::MakeOrganization, acme).is_new);
  EXPECT_TRUE(a_.Call(seats, &Seats::MakeOrganization, acme).same);
  EXPECT_FALSE(a_.Call(seats, &Seats::MakeOrganization, {.id = "acme", .name = "Other"}).same);
  EXPECT_EQ(a_.Call(seats, &Seats::ChangeOrganization, {.id = "acme", .name = "Acme 2"})
                .organization.value()
                .name,
            "Acme 2");
  EXPECT_FALSE(a_.Call(seats, &Seats::ChangeOrganization, {.id = "nobody"}).organization);
  a_.Create({.tenant = "beta"});
  EXPECT_EQ(a_.Call(seats, &Seats::ListOrganizations).rows.size(), 2U) << "the licence made one";
  EXPECT_EQ(a_.Call(seats, &Seats::ListOrganizations, {.id = "beta"}).rows.size(), 1U);
}

TEST_P(SeatLog, TwoProcessesGrantThreeSeatsToTenMachinesOnce) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one process";
  a_.Create({.seats = 3});
  TestProcess b(store_, "b");
  int granted = 0;
  for (int i = 0; i < 10; ++i) {
    const auto outcome = (i % 2 ? b : a_).Acquire("m" + std::to_string(i));
    granted += std::holds_alternative<Grant>(outcome) ? 1 : 0;
  }
  EXPECT_EQ(granted, 3);
}

}  // namespace
}  // namespace tenure::seats
