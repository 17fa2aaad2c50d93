// Every cell of the two state tables of seats: of a row, and of a ticket.

#include "seats/ledger.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::seats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kNow = 1'000'000;
constexpr std::int64_t kTtl = 60'000;

base::Uuid Id(int n) {
  base::Uuid id;
  id.bytes[15] = static_cast<std::uint8_t>(n);
  id.bytes[14] = static_cast<std::uint8_t>(n >> 8);
  id.bytes[0] = 1;
  return id;
}

SeatRow FreeRow(std::int64_t slot) { return {.slot = slot}; }
/// Held by machine "m<slot>" of ann, under session 100 + slot.
SeatRow HeldRow(std::int64_t slot, std::int64_t expires_ms = kNow + 10'000) {
  return {.slot = slot,
          .open = false,
          .session = Id(100 + static_cast<int>(slot)),
          .machine = "m" + std::to_string(slot),
          .person = "ann",
          .fence = slot,
          .started_ms = kNow - 20'000,
          .beat_ms = kNow - 15'000,
          .expires_ms = expires_ms,
          .address = "192.0.2.7"};
}
SeatRow RevokedRow(std::int64_t slot) {
  SeatRow row = HeldRow(slot);
  row.revoked = true;
  return row;
}
SeatRow LapsedRow(std::int64_t slot, std::int64_t lapsed_ms = kNow - 1'000) {
  SeatRow row = HeldRow(slot, lapsed_ms);
  row.open = true;
  row.lapsed_ms = lapsed_ms;
  return row;
}
/// Offered to ticket 200 + slot of machine "m<slot>".
SeatRow OfferedRow(std::int64_t slot, std::int64_t ends_ms = kNow + 5'000) {
  return {.slot = slot,
          .open = false,
          .machine = "m" + std::to_string(slot),
          .person = "ann",
          .expires_ms = ends_ms,
          .ticket = Id(200 + static_cast<int>(slot))};
}
SeatRow KeptRow(std::int64_t slot, std::int64_t prior_ms = kNow + 5'000) {
  return {.slot = slot,
          .open = false,
          .machine = "m" + std::to_string(slot),
          .person = "ann",
          .expires_ms = prior_ms,
          .prior_ms = prior_ms};
}
/// Of machine "w<number>" of ann.
TicketRow TicketOf(int number, std::int64_t expires_ms = kNow + 3'000) {
  return {.number = number,
          .id = Id(300 + number),
          .machine = "w" + std::to_string(number),
          .person = "ann",
          .process = "elsewhere",
          .expires_ms = expires_ms};
}

/// What a transaction found, put together by a test.
class World {
 public:
  explicit World(std::int64_t seats) {
    loaded_.license.id = Id(1);
    loaded_.license.tenant = "acme";
    loaded_.license.seats = seats;
    loaded_.license.ttl_ms = kTtl;
    loaded_.license.interval_ms = kTtl / 2;
    loaded_.license.longest_ms = kTtl;
    loaded_.license.fence = 50;
    loaded_.license.next_ticket = 100;
    loaded_.license.look_ms = kNow;
    loaded_.next_due_ms = kNever;
  }
  LicenseRow& license() { return loaded_.license; }
  Ledger::Loaded& loaded() { return loaded_; }
  Ledger::Setting& setting() { return setting_; }

  World& Row(const SeatRow& row) {
    ++loaded_.license.row_count;
    loaded_.license.last_slot = std::max(loaded_.license.last_slot, row.slot);
    if (!row.open) ++loaded_.license.held;
    if (row.is_held()) ++loaded_.license.holders;
    if (row.is_offered()) {
      TicketRow ticket = TicketOf(static_cast<int>(row.slot));
      ticket.id = *row.ticket;
      ticket.machine = *row.machine;
      ticket.slot = row.slot;
      loaded_.own_tickets.push_back(ticket);
      ++loaded_.tickets;
    }
    const bool over = !row.open && row.expires_ms <= setting_.clock_ms;
    (over ? loaded_.lapsed : row.open ? loaded_.open : loaded_.own).push_back(row);
    return *this;
  }
  World& Waits(const TicketRow& ticket) {
    const bool waits = ticket.IsWaitingAt(setting_.clock_ms);
    (waits ? loaded_.front : loaded_.own_tickets).push_back(ticket);
    loaded_.waiting += waits ? 1 : 0;
    ++loaded_.tickets;
    return *this;
  }
  World& Freeze() {
    setting_.limits = {.incarnation = 2, .frozen_ms = kNow - 1'000, .freeze_ms = 60'000};
    return *this;
  }
  Ledger Open() const { return {loaded_, setting_}; }

 private:
  Ledger::Loaded loaded_;
  Ledger::Setting setting_{.clock_ms = kNow, .process = "here"};
};

AcquireCommand Ask(const std::string& machine, const std::string& person = "ann",
                   AcquireCommand::Wait wait = AcquireCommand::Wait::kNo) {
  AcquireCommand command;
  command.license = Id(1);
  command.tenant = "acme";
  command.person = person;
  command.machine = machine;
  command.address = "192.0.2.8";
  command.new_session = Id(900);
  command.new_ticket = Id(901);
  command.wait = wait;
  return command;
}
constexpr auto kOpen = AcquireCommand::Wait::kOpen;

HeartbeatOutcome Beats(Ledger& ledger, const base::Uuid& session,
                       const std::string& person = "ann") {
  return ledger.Heartbeat({Id(1), "acme", person, {session}}).front();
}
bool Releases(Ledger& ledger, const base::Uuid& session, const std::string& person = "ann") {
  return ledger.Release({Id(1), "acme", person, session}).released;
}

std::vector<std::string> Kinds(const Ledger& ledger) {
  std::vector<std::string> kinds;
  for (const NewEntry& each : ledger.entries()) {
    std::string kind = each.entry.kind;
    for (const char* prefix : {"LICENSE_SEAT_", "LICENSE_"})
      if (kind.starts_with(prefix)) {
        kind.erase(0, std::string_view(prefix).size());
        break;
      }
    kinds.push_back(kind);
  }
  return kinds;
}
const SeatRow* Written(const Ledger& ledger, std::int64_t slot) {
  for (const SeatRow* row : ledger.WrittenRows())
    if (row->slot == slot) return row;
  return nullptr;
}
const TicketRow* WrittenTicket(const Ledger& ledger, const base::Uuid& id) {
  for (const TicketRow* ticket : ledger.WrittenTickets())
    if (ticket->id == id) return ticket;
  return nullptr;
}

template <class Kind, class Outcome>
Kind As(const Outcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Kind>(outcome)) << "it is " << outcome.index();
  return std::holds_alternative<Kind>(outcome) ? std::get<Kind>(outcome) : Kind();
}

// acquire, same machine and person

TEST(SeatTable, AcquireOfTheSameTakesItsOwnOffer) {
  Ledger ledger = World(1).Row(OfferedRow(1)).Open();
  const Grant grant = As<Grant>(ledger.Acquire(Ask("m1")));
  EXPECT_FALSE(grant.resumed);
  EXPECT_TRUE(grant.picked_up);
  EXPECT_THAT(ledger.removed_tickets(), ElementsAre(Id(201)));
  EXPECT_THAT(Kinds(ledger), ElementsAre("ACQUIRED"));
}
TEST(SeatTable, AcquireOfTheSameResumesWhatIsHeldUnderANewSessionAndFence) {
  Ledger ledger = World(1).Row(HeldRow(1)).Open();
  const Grant grant = As<Grant>(ledger.Acquire(Ask("m1")));
  EXPECT_TRUE(grant.resumed);
  EXPECT_EQ(grant.session, Id(900));
  EXPECT_EQ(grant.fence, 51);
  EXPECT_EQ(grant.used, 1);
  EXPECT_THAT(Kinds(ledger), ElementsAre("RESUMED"));
  EXPECT_EQ(ledger.entries()[0].former, Id(101));
  EXPECT_EQ(As<Lost>(Beats(ledger, Id(101))).reason, EndReason::kResumedElsewhere);
  EXPECT_EQ(Written(ledger, 1)->prior_ms, kNow + 10'000);
}
TEST(SeatTable, AcquireOfTheSameIsRefusedWhileItsSeatIsRevoked) {
  Ledger ledger = World(2).Row(RevokedRow(1)).Row(FreeRow(2)).Open();
  const Full full = As<Full>(ledger.Acquire(Ask("m1")));
  EXPECT_EQ(full.reason, Full::Reason::kRevoked);
  EXPECT_EQ(full.retry_ms, 10'000);
}
TEST(SeatTable, AcquireOfTheSameGetsItsLapsedSeatAsANewHolding) {
  Ledger ledger = World(2).Row(LapsedRow(1)).Row(FreeRow(2)).Open();
  const Grant grant = As<Grant>(ledger.Acquire(Ask("m1")));
  EXPECT_FALSE(grant.resumed);
  EXPECT_EQ(Written(ledger, 1)->session, Id(900));
  EXPECT_EQ(Written(ledger, 2), nullptr);
}
TEST(SeatTable, AnExpiredSeatBelongsToTheLineAndItsFormerHolderGoesToTheTail) {
  Ledger ledger = World(1).Row(LapsedRow(1)).Waits(TicketOf(1)).Open();
  const Waiting waiting = As<Waiting>(ledger.Acquire(Ask("m1", "ann", kOpen)));
  EXPECT_EQ(waiting.position, 1);
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(301)) << "offered to the first of the line";
}
TEST(SeatTable, ASeatThatWasKeptForItsMachineGoesBackToItAtAnyTimeAndStaysPrior) {
  Ledger ledger = World(1).Row(KeptRow(1)).Open();
  EXPECT_FALSE(As<Grant>(ledger.Acquire(Ask("m1"))).resumed);
  EXPECT_EQ(Written(ledger, 1)->prior_ms, kNow + 5'000);
}

// acquire, same machine, other person

TEST(SeatTable, AcquireOfAnotherPersonOnTheMachineIsRefusedWhileItIsTaken) {
  for (const SeatRow& row : {OfferedRow(1), HeldRow(1), RevokedRow(1), KeptRow(1)}) {
    Ledger ledger = World(2).Row(row).Row(FreeRow(2)).Open();
    As<MachineHeld>(ledger.Acquire(Ask("m1", "bob")));
    EXPECT_THAT(Kinds(ledger), IsEmpty());
  }
}
TEST(SeatTable, AcquireOfAnotherPersonTakesTheMachinesLapsedSeat) {
  Ledger ledger = World(2).Row(FreeRow(2)).Row(LapsedRow(1)).Open();
  As<Grant>(ledger.Acquire(Ask("m1", "bob")));
  EXPECT_EQ(Written(ledger, 1)->person, "bob");
}

// acquire, another machine

TEST(SeatTable, ANewcomerTakesAFreeSeatBeforeALapsedOneAndOfThoseTheLongestLapsed) {
  Ledger ledger =
      World(3).Row(LapsedRow(1, kNow - 10)).Row(LapsedRow(2, kNow - 20)).Row(FreeRow(3)).Open();
  As<Grant>(ledger.Acquire(Ask("x1")));
  EXPECT_EQ(Written(ledger, 3)->machine, "x1");
  AcquireCommand second = Ask("x2");
  second.new_session = Id(902);
  As<Grant>(ledger.Acquire(second));
  EXPECT_EQ(Written(ledger, 2)->machine, "x2");
}
TEST(SeatTable, ANewcomerTakesWhatHasLapsedAndTheLogHasTheExactTime) {
  Ledger ledger = World(1).Row(HeldRow(1, kNow - 7)).Open();
  As<Grant>(ledger.Acquire(Ask("x1")));
  EXPECT_THAT(Kinds(ledger), ElementsAre("EXPIRED", "ACQUIRED"));
  EXPECT_EQ(ledger.entries()[0].entry.at_ms, kNow - 7);
  EXPECT_EQ(ledger.entries()[1].entry.at_ms, kNow);
  EXPECT_THAT(ledger.ClearedSlots(), IsEmpty()) << "m1 has no other row";
}
TEST(SeatTable, AMachineThatTakesAnotherSeatIsTakenOutOfItsFormerOneFirst) {
  Ledger ledger = World(2).Row(LapsedRow(1, kNow - 20)).Row(LapsedRow(2, kNow - 10)).Open();
  As<Grant>(ledger.Acquire(Ask("x1")));
  AcquireCommand second = Ask("m1");
  second.new_session = Id(902);
  As<Grant>(ledger.Acquire(second));
  EXPECT_EQ(Written(ledger, 2)->machine, "m1");
  EXPECT_THAT(ledger.ClearedSlots(), ElementsAre(1));
}
TEST(SeatTable, ANewcomerIsDeniedWhenAllAreHeldOrOffered) {
  for (const SeatRow& row : {HeldRow(1), RevokedRow(1), OfferedRow(1), KeptRow(1)}) {
    Ledger ledger = World(1).Row(row).Open();
    EXPECT_EQ(As<Full>(ledger.Acquire(Ask("x1"))).reason, Full::Reason::kFull);
  }
}
TEST(SeatTable, ANewcomerDoesNotOvertakeTheLine) {
  Ledger ledger = World(1).Row(FreeRow(1)).Waits(TicketOf(1)).Open();
  As<Full>(ledger.Acquire(Ask("x1")));
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(301));
  ASSERT_EQ(ledger.turns().size(), 1U);
  EXPECT_EQ(ledger.turns()[0].process, "elsewhere");
}

// heartbeat

TEST(SeatTable, AHeartbeatOfAHeldSeatHasANewDeadline) {
  Ledger ledger = World(1).Row(HeldRow(1)).Open();
  const Beat beat = As<Beat>(Beats(ledger, Id(101)));
  EXPECT_EQ(beat.expires_ms, kNow + kTtl);
  EXPECT_FALSE(beat.revived);
  EXPECT_THAT(Kinds(ledger), IsEmpty());
}
TEST(SeatTable, ADeadlineThatWasToldNeverMovesBack) {
  World world(1);
  world.license().ttl_ms = 2'000;
  Ledger ledger = world.Row(HeldRow(1, kNow + 50'000)).Open();
  EXPECT_EQ(As<Beat>(Beats(ledger, Id(101))).expires_ms, kNow + 50'000);
}
TEST(SeatTable, AHeartbeatOfARevokedSeatIsToldSo) {
  Ledger ledger = World(1).Row(RevokedRow(1)).Open();
  EXPECT_EQ(As<Lost>(Beats(ledger, Id(101))).reason, EndReason::kRevoked);
}
TEST(SeatTable, AHeartbeatRevivesWhatHasLapsedAndNobodyTook) {
  Ledger ledger = World(1).Row(HeldRow(1, kNow - 5)).Open();
  EXPECT_TRUE(As<Beat>(Beats(ledger, Id(101))).revived);
  EXPECT_THAT(Kinds(ledger), ElementsAre("EXPIRED", "REVIVED"));
  EXPECT_EQ(ledger.license().held, 1);
}
TEST(SeatTable, AHeartbeatDoesNotRevivePastTheLine) {
  Ledger ledger = World(1).Row(HeldRow(1, kNow - 5)).Waits(TicketOf(1)).Open();
  EXPECT_EQ(As<Lost>(Beats(ledger, Id(101))).reason, EndReason::kExpired);
}
TEST(SeatTable, AHeartbeatDoesNotReviveWhileThereAreMoreRowsThanSeats) {
  Ledger ledger = World(1).Row(HeldRow(1)).Row(HeldRow(2)).Row(LapsedRow(3)).Open();
  EXPECT_EQ(As<Lost>(Beats(ledger, Id(103))).reason, EndReason::kExpired);
  EXPECT_THAT(ledger.deleted_slots(), ElementsAre(3));
}
TEST(SeatTable, AHeartbeatDoesNotReviveWhileFrozen) {
  Ledger ledger = World(1).Row(LapsedRow(1)).Freeze().Open();
  As<Forgotten>(Beats(ledger, Id(101)));
  As<Forgotten>(Beats(ledger, Id(777)));
}
TEST(SeatTable, AHeartbeatOfAnEarlierHoldingIsToldHowItEnded) {
  World world(1);
  world.loaded().ended[Id(7)] = {EndReason::kReleased, kNow - 3, kNow - 9, "ann"};
  Ledger ledger = world.Row(FreeRow(1)).Open();
  const Lost lost = As<Lost>(Beats(ledger, Id(7)));
  EXPECT_EQ(lost.reason, EndReason::kReleased);
  EXPECT_EQ(lost.ended_ms, kNow - 3);
  EXPECT_EQ(lost.beat_ms, kNow - 9);
  As<NoSession>(Beats(ledger, Id(7), "bob"));
  As<NoSession>(Beats(ledger, Id(8)));
}

// DELETE by its owner

TEST(SeatTable, AReleaseFreesWhatIsHeld) {
  Ledger ledger = World(1).Row(HeldRow(1)).Open();
  EXPECT_TRUE(Releases(ledger, Id(101)));
  EXPECT_TRUE(Written(ledger, 1)->is_free());
  EXPECT_THAT(Kinds(ledger), ElementsAre("RELEASED"));
  EXPECT_FALSE(Releases(ledger, Id(101)));
}
TEST(SeatTable, AReleaseKeepsTheSeatForItsMachineWhileAFormerProcessMayBelieveInIt) {
  SeatRow row = HeldRow(1);
  row.prior_ms = kNow + 2'000;
  Ledger ledger = World(1).Row(row).Open();
  EXPECT_TRUE(Releases(ledger, Id(101)));
  EXPECT_TRUE(Written(ledger, 1)->is_kept());
  EXPECT_EQ(Written(ledger, 1)->expires_ms, kNow + 2'000);
  EXPECT_EQ(ledger.license().look_ms, kNow + 2'000);
  As<Full>(ledger.Acquire(Ask("x1")));
}
TEST(SeatTable, AReleaseFreesWhatIsRevoked) {
  Ledger ledger = World(1).Row(RevokedRow(1)).Open();
  EXPECT_TRUE(Releases(ledger, Id(101)));
  EXPECT_TRUE(Written(ledger, 1)->is_free());
}
TEST(SeatTable, AReleaseFreesWhatHasLapsed) {
  Ledger ledger = World(1).Row(HeldRow(1, kNow)).Open();
  EXPECT_TRUE(Releases(ledger, Id(101)));
  EXPECT_TRUE(Written(ledger, 1)->is_free());
  EXPECT_THAT(Kinds(ledger), ElementsAre("EXPIRED"));
}
TEST(SeatTable, AReleaseByAnotherPersonChangesNothing) {
  Ledger ledger = World(1).Row(HeldRow(1)).Open();
  EXPECT_FALSE(Releases(ledger, Id(101), "bob"));
  EXPECT_FALSE(ledger.license() != World(1).Row(HeldRow(1)).Open().license());
}
TEST(SeatTable, AReleasedSeatIsOfferedToTheFirstOfTheLineInTheSameTransaction) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Waits(TicketOf(2)).Open();
  EXPECT_TRUE(Releases(ledger, Id(101)));
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(301));
  EXPECT_EQ(ledger.license().look_ms, kNow + Rules().offer_ms);
}

// its time is over

TEST(SeatTable, AnOfferThatWasNotTakenIsFreeAndItsTicketIsGone) {
  Ledger ledger = World(1).Row(OfferedRow(1, kNow)).Open();
  EXPECT_TRUE(Written(ledger, 1)->is_free());
  EXPECT_THAT(ledger.removed_tickets(), ElementsAre(Id(201)));
  EXPECT_EQ(ledger.offers_missed(), 1);
  EXPECT_EQ(ledger.license().held, 0);
}
TEST(SeatTable, AHoldingPastItsDeadlineHasLapsedRevokedOrNot) {
  for (bool revoked : {false, true}) {
    SeatRow row = HeldRow(1, kNow);
    row.revoked = revoked;
    Ledger ledger = World(1).Row(row).Open();
    EXPECT_TRUE(Written(ledger, 1)->is_lapsed());
    EXPECT_EQ(Written(ledger, 1)->lapsed_ms, kNow);
    EXPECT_THAT(Kinds(ledger), ElementsAre("EXPIRED"));
    EXPECT_EQ(ledger.license().held, 0);
  }
}
TEST(SeatTable, ASeatThatWasKeptIsFreeWhenNobodyCanBelieveInItAnyMore) {
  Ledger ledger = World(1).Row(KeptRow(1, kNow)).Open();
  EXPECT_TRUE(Written(ledger, 1)->is_free());
  EXPECT_THAT(Kinds(ledger), IsEmpty());
}

// an operator

RevokeSeatOutcome Revokes(Ledger& ledger, const base::Uuid& session, bool force) {
  return ledger.RevokeSeat({Id(1), "acme", session, "because", force, "op"});
}
TEST(SeatTable, ARevokedSeatStaysUntilItsDeadline) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  EXPECT_TRUE(Revokes(ledger, Id(101), false).changed);
  EXPECT_TRUE(Written(ledger, 1)->revoked);
  EXPECT_FALSE(Written(ledger, 1)->open);
  EXPECT_THAT(Kinds(ledger), ElementsAre("REVOKED"));
  EXPECT_FALSE(Revokes(ledger, Id(101), false).changed) << "a second time";
  EXPECT_EQ(ledger.entries().size(), 1U);
}
TEST(SeatTable, AForcedRevocationGivesTheSeatOnAtOnce) {
  for (const SeatRow& row : {HeldRow(1), RevokedRow(1)}) {
    Ledger ledger = World(1).Row(row).Waits(TicketOf(1)).Open();
    EXPECT_TRUE(Revokes(ledger, Id(101), true).changed);
    EXPECT_EQ(Written(ledger, 1)->ticket, Id(301));
    EXPECT_EQ(As<Lost>(Beats(ledger, Id(101))).reason, EndReason::kRevoked);
  }
}
TEST(SeatTable, ARevocationFreesWhatHasLapsed) {
  Ledger ledger = World(1).Row(LapsedRow(1)).Open();
  EXPECT_TRUE(Revokes(ledger, Id(101), false).holding);
  EXPECT_TRUE(Written(ledger, 1)->is_free());
}

// rows > seats

TEST(SeatTable, MoreRowsThanSeatsDrainByRowsNotByNumbers) {
  // Seats 3 -> 1, slot 1 free, 2 and 3 held: a grant of slot 1 would make three holders of one seat.
  Ledger ledger = World(1).Row(FreeRow(1)).Row(HeldRow(2)).Row(HeldRow(3)).Open();
  EXPECT_THAT(ledger.deleted_slots(), ElementsAre(1));
  As<Full>(ledger.Acquire(Ask("x1")));
  EXPECT_TRUE(Releases(ledger, Id(102)));
  EXPECT_THAT(ledger.deleted_slots(), ElementsAre(1, 2));
  As<Full>(ledger.Acquire(Ask("x1")));
  As<Beat>(Beats(ledger, Id(103)));
}
TEST(SeatTable, MoreRowsThanSeatsWithdrawAnOfferAndTheTicketKeepsItsPlace) {
  World world(1);
  world.Row(HeldRow(1)).Row(OfferedRow(2)).Waits(TicketOf(5));
  Ledger ledger = world.Open();
  EXPECT_THAT(ledger.deleted_slots(), ElementsAre(2));
  const TicketRow* const ticket = WrittenTicket(ledger, Id(202));
  ASSERT_TRUE(ticket);
  EXPECT_FALSE(ticket->slot);
  EXPECT_EQ(ticket->number, 2);
  EXPECT_EQ(As<Waiting>(ledger.Acquire(Ask("m2", "ann", kOpen))).position, 1);
}
TEST(SeatTable, MoreRowsThanSeatsLeaveWhatIsHeldAndDeleteWhatHasLapsed) {
  Ledger ledger = World(0).Row(HeldRow(1)).Row(RevokedRow(2)).Row(HeldRow(3, kNow)).Open();
  EXPECT_THAT(ledger.deleted_slots(), ElementsAre(3));
  EXPECT_THAT(Kinds(ledger), ElementsAre("EXPIRED"));
  EXPECT_EQ(ledger.license().row_count, 2);
}

// the licence is suspended, revoked, over, not begun

std::vector<World> InactiveWorlds(const SeatRow& row) {
  std::vector<World> worlds(4, World(2));
  worlds[0].license().state = LicenseState::kSuspended;
  worlds[1].license().state = LicenseState::kRevoked;
  worlds[2].license().valid_until_ms = kNow;
  worlds[3].license().valid_from_ms = kNow + 1;
  for (World& world : worlds) world.Row(row).Row(FreeRow(2));
  return worlds;
}
TEST(SeatTable, AnInactiveLicenseGivesNothingAndNoOfferIsPickedUp) {
  for (World& world : InactiveWorlds(OfferedRow(1))) {
    Ledger ledger = world.Waits(TicketOf(5)).Open();
    As<Inactive>(ledger.Acquire(Ask("x1")));
    As<Inactive>(ledger.Acquire(Ask("m1")));
    EXPECT_THAT(Kinds(ledger), IsEmpty());
    EXPECT_THAT(ledger.turns(), IsEmpty());
  }
}
TEST(SeatTable, AnInactiveLicenseRefusesHeartbeatsAndTheDeadlineStands) {
  const EndReason reasons[] = {EndReason::kLicenseSuspended, EndReason::kLicenseRevoked,
                               EndReason::kLicenseExpired, EndReason::kLicenseSuspended};
  int which = 0;
  for (const World& world : InactiveWorlds(HeldRow(1))) {
    Ledger ledger = world.Open();
    EXPECT_EQ(As<Lost>(Beats(ledger, Id(101))).reason, reasons[which++]);
    EXPECT_EQ(Written(ledger, 1), nullptr);
  }
  for (const World& world : InactiveWorlds(LapsedRow(1))) {
    Ledger ledger = world.Open();
    As<Lost>(Beats(ledger, Id(101)));
    EXPECT_TRUE(Releases(ledger, Id(101))) << "who leaves may leave";
  }
}

// freeze

TEST(SeatTable, AFrozenLicenseRenewsAndGivesNothingButToASuccessorThatNamesItsHolding) {
  World world(4);
  world.Row(HeldRow(1)).Row(FreeRow(2)).Row(OfferedRow(3)).Row(KeptRow(4)).Freeze();
  Ledger ledger = world.Open();
  EXPECT_THAT(Kinds(ledger), ElementsAre("STORE_RESTORED"));
  EXPECT_EQ(As<Full>(ledger.Acquire(Ask("x1"))).reason, Full::Reason::kFrozen);
  EXPECT_EQ(As<Full>(ledger.Acquire(Ask("m3"))).reason, Full::Reason::kFrozen);
  EXPECT_EQ(As<Full>(ledger.Acquire(Ask("m4"))).reason, Full::Reason::kFrozen);
  As<Beat>(Beats(ledger, Id(101)));
  // What the copy holds may have been released since, and the seat be another's by now.
  EXPECT_EQ(As<Full>(ledger.Acquire(Ask("m1"))).reason, Full::Reason::kFrozen);
  AcquireCommand successor = Ask("m1");
  successor.former = Id(101);
  const Grant grant = As<Grant>(ledger.Acquire(successor));
  EXPECT_TRUE(grant.resumed);
  EXPECT_EQ(grant.fence, (std::int64_t{2} << 40) + 1);
}
TEST(SeatTable, AFreezeLastsForTheLongestTtlAndGraceAndSparesLicensesThatWereMadeSince) {
  LicenseRow license;
  license.longest_ms = 90'000;
  const Limits limits{.incarnation = 2, .frozen_ms = 1'000, .freeze_ms = 60'000};
  EXPECT_EQ(limits.FrozenUntilMs(license), 91'000);
  license.longest_ms = 10;
  EXPECT_EQ(limits.FrozenUntilMs(license), 61'000);
  license.born = 2;
  EXPECT_EQ(limits.FrozenUntilMs(license), 0);
}

// The ticket's table

TEST(TicketTable, AcquireWithWaitPlacesOneAtTheTail) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  const Waiting waiting = As<Waiting>(ledger.Acquire(Ask("x1", "ann", kOpen)));
  EXPECT_EQ(waiting.ticket, Id(901));
  EXPECT_EQ(waiting.position, 2);
  EXPECT_EQ(waiting.expires_ms, kNow + kOpenTicketMs);
  EXPECT_EQ(WrittenTicket(ledger, Id(901))->process, "here");
}
TEST(TicketTable, AcquireWithWaitIsDeniedWhenTheLineIsFull) {
  World world(1);
  world.setting().rules.line_max = 1;
  Ledger ledger = world.Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  As<Full>(ledger.Acquire(Ask("x1", "ann", kOpen)));
}
TEST(TicketTable, AcquireWithWaitKeepsThePlaceOfOneThatWaits) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Waits(TicketOf(2)).Open();
  const Waiting waiting =
      As<Waiting>(ledger.Acquire(Ask("w2", "ann", AcquireCommand::Wait::kLast)));
  EXPECT_EQ(waiting.ticket, Id(302));
  EXPECT_EQ(waiting.position, 2);
  EXPECT_EQ(waiting.expires_ms, kNow + Rules().ticket_ms);
  EXPECT_EQ(WrittenTicket(ledger, Id(302))->process, "");
}
TEST(TicketTable, AcquireWakesADeadOneAtItsOldPlace) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1, kNow)).Waits(TicketOf(2)).Open();
  const Waiting waiting = As<Waiting>(ledger.Acquire(Ask("w1", "ann", kOpen)));
  EXPECT_EQ(waiting.ticket, Id(301));
  EXPECT_EQ(waiting.position, 1);
}
TEST(TicketTable, AcquirePicksUpWhatIsOffered) {
  Ledger ledger = World(1).Row(OfferedRow(1)).Open();
  EXPECT_TRUE(As<Grant>(ledger.Acquire(Ask("m1", "ann", kOpen))).picked_up);
}
TEST(TicketTable, AcquireWithoutWaitIsDeniedAndKeepsItsPlace) {
  for (const std::int64_t expires_ms : {kNow + 3'000, kNow}) {
    Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1, expires_ms)).Open();
    const Full full = As<Full>(ledger.Acquire(Ask("w1")));
    EXPECT_EQ(full.ticket, Id(301));
    EXPECT_EQ(full.position, 1);
  }
  Ledger none = World(1).Row(HeldRow(1)).Open();
  EXPECT_FALSE(As<Full>(none.Acquire(Ask("x1"))).ticket);
}
TEST(TicketTable, AnotherPersonsTicketOnTheMachineIsInTheWayUntilItIsDead) {
  Ledger alive = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  As<MachineHeld>(alive.Acquire(Ask("w1", "bob", kOpen)));
  Ledger dead = World(1).Row(HeldRow(1)).Waits(TicketOf(1, kNow)).Open();
  EXPECT_EQ(As<Waiting>(dead.Acquire(Ask("w1", "bob", kOpen))).ticket, Id(901));
  EXPECT_THAT(dead.removed_tickets(), ElementsAre(Id(301)));
}

TicketOutcome Sees(Ledger& ledger, const base::Uuid& ticket, const std::string& person = "ann") {
  return ledger.Ticket({Id(1), "acme", person, ticket, TicketCommand::Kind::kSee});
}
TEST(TicketTable, GetRefreshesOneThatWaitsAndWakesADeadOne) {
  for (const std::int64_t expires_ms : {kNow + 3'000, kNow}) {
    Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1, expires_ms)).Open();
    const TicketView view = As<TicketView>(Sees(ledger, Id(301)));
    EXPECT_EQ(view.position, 1);
    EXPECT_EQ(view.row.expires_ms, kNow + Rules().ticket_ms);
  }
}
TEST(TicketTable, GetOfOneThatIsOfferedTellsUntilWhen) {
  Ledger ledger = World(1).Row(OfferedRow(1)).Open();
  const TicketView view = As<TicketView>(Sees(ledger, Id(201)));
  EXPECT_EQ(view.position, 0);
  EXPECT_EQ(view.offer_ends_ms, kNow + 5'000);
}
TEST(TicketTable, GetOfNoneOrAnothersIsNotFound) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  As<NoTicket>(Sees(ledger, Id(999)));
  As<NoTicket>(Sees(ledger, Id(301), "bob"));
}
TEST(TicketTable, GetOnAnInactiveLicenseSaysThatThereIsNothingToWaitFor) {
  World world(1);
  world.license().state = LicenseState::kSuspended;
  Ledger ledger = world.Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  As<Inactive>(Sees(ledger, Id(301)));
}

TicketOutcome Leaves(Ledger& ledger, const base::Uuid& ticket) {
  return ledger.Ticket({Id(1), "acme", "ann", ticket, TicketCommand::Kind::kLeave});
}
TEST(TicketTable, DeleteLeavesTheLineAliveOrDead) {
  for (const std::int64_t expires_ms : {kNow + 3'000, kNow}) {
    Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1, expires_ms)).Open();
    As<TicketLeft>(Leaves(ledger, Id(301)));
    EXPECT_THAT(ledger.removed_tickets(), ElementsAre(Id(301)));
    As<NoTicket>(Leaves(ledger, Id(301)));
  }
}
TEST(TicketTable, DeleteOfAnOfferGivesTheSeatOnToTheNext) {
  Ledger ledger = World(1).Row(OfferedRow(1)).Waits(TicketOf(5)).Open();
  As<TicketLeft>(Leaves(ledger, Id(201)));
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(305));
}
TEST(TicketTable, AFreeRowPassesOverTheDead) {
  Ledger ledger = World(1).Row(FreeRow(1)).Waits(TicketOf(1, kNow)).Waits(TicketOf(2)).Open();
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(302));
}
TEST(TicketTable, AnOfferWhoseTimeIsOverGoesOnToTheNext) {
  Ledger ledger = World(1).Row(OfferedRow(1, kNow)).Waits(TicketOf(5)).Open();
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(305));
  EXPECT_THAT(ledger.removed_tickets(), ElementsAre(Id(201)));
}

TEST(TicketTable, NothingIsOfferedBehindAStretchOfTheLineThatIsNotKnown) {
  World world(3);
  world.Row(FreeRow(1)).Row(FreeRow(2)).Row(FreeRow(3)).Waits(TicketOf(1));
  world.loaded().long_line = true;  // somebody may stand between 1 and 9
  TicketRow own = TicketOf(9);
  world.loaded().own_tickets.push_back(own);
  world.loaded().ahead[own.id] = 8;
  Ledger ledger = world.Open();
  EXPECT_EQ(As<Waiting>(ledger.Acquire(Ask("w9", "ann", kOpen))).position, 8) << "one is served";
  As<Full>(ledger.Acquire(Ask("x1")));
  EXPECT_EQ(ledger.license().look_ms, kNow) << "the next transaction goes on at once";
}
TEST(TicketTable, OfSeveralFreeRowsEachGoesToTheNextOfTheLine) {
  Ledger ledger = World(3)
                      .Row(FreeRow(1))
                      .Row(FreeRow(2))
                      .Row(FreeRow(3))
                      .Waits(TicketOf(1))
                      .Waits(TicketOf(2))
                      .Open();
  EXPECT_EQ(Written(ledger, 1)->ticket, Id(301));
  EXPECT_EQ(Written(ledger, 2)->ticket, Id(302));
  As<Grant>(ledger.Acquire(Ask("x1")));
  EXPECT_EQ(Written(ledger, 3)->machine, "x1") << "a newcomer has what is left";
}

// The licence

TEST(LicenseRules, ARaisedLimitAddsRowsAndOffersThemToTheLine) {
  Ledger ledger = World(1).Row(HeldRow(1)).Waits(TicketOf(1)).Open();
  const AdminOutcome outcome = ledger.Change({.license = Id(1), .tenant = "acme", .seats = 3});
  EXPECT_EQ(outcome.kind, AdminOutcome::Kind::kDone);
  EXPECT_EQ(ledger.added_rows(), 2);
  EXPECT_EQ(Written(ledger, 2)->ticket, Id(301));
  EXPECT_THAT(Kinds(ledger), ElementsAre("CHANGED"));
}
TEST(LicenseRules, AChangeThatChangesNothingLeavesNoTrace) {
  Ledger ledger = World(1).Row(HeldRow(1)).Open();
  EXPECT_FALSE(ledger.Change({.license = Id(1), .tenant = "acme", .seats = 1}).changed);
  EXPECT_THAT(Kinds(ledger), IsEmpty());
}
TEST(LicenseRules, ALoweredLimitDeletesRowsThatWereNotEvenLoaded) {
  World world(1'000);
  world.license().row_count = 1'000;
  world.license().held = 0;
  Ledger ledger = world.Open();
  ledger.Change({.license = Id(1), .tenant = "acme", .seats = 10});
  EXPECT_EQ(ledger.deleted_unseen(), 990);
  EXPECT_EQ(ledger.license().row_count, 10);
}
TEST(LicenseRules, ARevocationIsFinal) {
  Ledger ledger = World(1).Row(FreeRow(1)).Open();
  EXPECT_TRUE(ledger.RevokeLicense({Id(1), "acme", "", "op"}).changed);
  EXPECT_FALSE(ledger.RevokeLicense({Id(1), "acme", "", "op"}).changed);
  EXPECT_EQ(ledger.Change({.license = Id(1), .tenant = "acme", .seats = 5}).kind,
            AdminOutcome::Kind::kRevoked);
}
TEST(LicenseRules, AnotherRevisionAndAnotherTenantChangeNothing) {
  Ledger ledger = World(1).Row(FreeRow(1)).Open();
  EXPECT_EQ(ledger.Change({.license = Id(1), .tenant = "acme", .if_revision = 7}).kind,
            AdminOutcome::Kind::kOtherRevision);
  EXPECT_EQ(ledger.Change({.license = Id(1), .tenant = "other"}).kind,
            AdminOutcome::Kind::kNoLicense);
}

// The log

TEST(LogRules, EntriesAreChainedAndTheHeadIsInTheLicense) {
  Ledger ledger = World(2).Row(HeldRow(1, kNow - 3)).Row(FreeRow(2)).Open();
  As<Grant>(ledger.Acquire(Ask("x1")));
  LogHash previous{};
  std::int64_t seq = 0;
  for (const NewEntry& each : ledger.entries()) {
    EXPECT_EQ(each.entry.seq, ++seq);
    EXPECT_EQ(each.entry.hash, HashOf(previous, each.entry));
    previous = each.entry.hash;
  }
  EXPECT_EQ(ledger.license().log_seq, seq);
  EXPECT_EQ(ledger.license().log_hash, std::string(previous.begin(), previous.end()));
}
TEST(LogRules, TimesNeverFallAndAClockThatWasSetBackIsTold) {
  World world(1);
  world.license().last_ms = kNow + 500;
  Ledger ledger = world.Row(FreeRow(1)).Open();
  const Grant grant = As<Grant>(ledger.Acquire(Ask("x1")));
  EXPECT_EQ(grant.expires_ms, kNow + kTtl) << "deadlines are of the clock";
  EXPECT_EQ(ledger.entries()[0].entry.at_ms, kNow + 500);
  EXPECT_THAT(ledger.entries()[0].entry.detail, testing::HasSubstr(R"("clock_ms":1000000)"));
}
TEST(LogRules, ACheckpointHasTheLimitTheHoldingsAndTheHashBefore) {
  World world(2);
  world.Row(HeldRow(1)).Row(FreeRow(2));
  world.loaded().holdings = {HeldRow(1)};
  world.license().peak = 2;
  Ledger ledger = world.Open();
  ledger.Checkpoint();
  const std::string& detail = ledger.entries().back().entry.detail;
  for (const char* part : {R"("seats":2)", R"("highest":2)", R"("before":"0000)", R"("slot":1)"})
    EXPECT_THAT(detail, testing::HasSubstr(part));
}
TEST(LogRules, ACheckpointHasWhatItsOwnTransactionGaveAndNotWhatLapsedInIt) {
  World world(2);
  world.Row(FreeRow(1)).Row(HeldRow(2, kNow - 1)).Row(HeldRow(3, kNow - 1));
  world.loaded().holdings = {HeldRow(2, kNow - 1), HeldRow(3, kNow - 1)};
  Ledger ledger = world.Open();
  EXPECT_EQ(ledger.deleted_slots().size(), 1U) << "there were more rows than seats";
  As<Grant>(ledger.Acquire(Ask("x1")));
  ledger.Checkpoint();
  const std::string& detail = ledger.entries().back().entry.detail;
  EXPECT_EQ(std::ranges::count(detail, '{'), 2) << detail << ": one holding";
}

}  // namespace
}  // namespace tenure::seats
