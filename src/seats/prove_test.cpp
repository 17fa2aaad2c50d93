#include "seats/prove.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "seats/test_log.hpp"

namespace tenure::seats {
namespace {

using test::IdOf;
using test::Prove;
using test::WrittenLog;

std::string TextOf(const Proof& proof) {
  std::string text;
  for (const Finding& finding : proof.findings.first)
    text += fmt::format("{}: {}\n", finding.seq, finding.text);
  return text;
}

/// The only entry that is named.
std::int64_t Named(const Proof& proof) {
  EXPECT_EQ(proof.findings.count, 1) << TextOf(proof);
  return proof.findings.first.empty() ? -1 : proof.findings.first.front().seq;
}

void ExpectFound(const Proof& proof, std::int64_t seq, std::string_view words) {
  for (const Finding& finding : proof.findings.first)
    if (finding.seq == seq && finding.text.find(words) != std::string::npos) return;
  ADD_FAILURE() << "entry " << seq << " should be found: " << words << "\n" << TextOf(proof);
}

/// Two seats, three machines, every kind of end.
WrittenLog HonestLog() {
  WrittenLog log;
  log.Created(100, 2);       // 1
  log.Acquired(200, 1, 11);  // 2
  log.Acquired(300, 2, 12);  // 3
  log.Add(LogKind::kSeatDenied, 350, R"({"count":3})");
  log.Resumed(400, 1, 11, 13);                // 5
  log.Released(500, 1, 13);                   // 6
  log.Acquired(600, 1, 14);                   // 7
  log.Expired(700, 2, 12);                    // 8
  log.Revived(750, 2, 12);                    // 9
  log.Revoked(800, 2, 12, false);             // 10
  log.Expired(900, 2, 12);                    // 11
  log.Acquired(950, 2, 15);                   // 12
  log.Revoked(960, 2, 15, true);              // 13
  log.Acquired(970, 2, 16);                   // 14
  log.Add(LogKind::kStoreRestored, 980);      // 15
  log.Add(LogKind::kLicenseKeyRotated, 990);  // 16
  log.Add(LogKind::kLicenseRevoked, 995);     // 17
  return log;
}

TEST(Prove, AnHonestLogIsProvenWithItsMaximum) {
  WrittenLog log = HonestLog();
  const Proof proof = Prove(log);
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  EXPECT_EQ(proof.entries, 17);
  EXPECT_EQ(proof.head.seq, 17);
  EXPECT_EQ(proof.limit, 2);
  EXPECT_EQ(proof.highest, 2);
  EXPECT_EQ(proof.highest_at_ms, 300);
  EXPECT_EQ(proof.highest_seq, 3);
  EXPECT_EQ(proof.held, 2);
  ASSERT_EQ(proof.forced.count, 1);
  EXPECT_EQ(proof.forced.first[0].seq, 13);
  ASSERT_EQ(proof.restores.count, 1);
  EXPECT_EQ(proof.restores.first[0].at_ms, 980);
}

TEST(Prove, AnEmptyLogWithAnEmptyHeadIsProven) {
  WrittenLog log;
  EXPECT_TRUE(Prove({}, log.license, LogHead{}).proven());
  EXPECT_TRUE(Prove({}, log.license, std::nullopt).proven());
}

// ---- the chain: every kind of tampering, at every entry

/// Ways to change one entry's text, each leaving its hash.
const std::vector<std::pair<const char*, std::function<void(LogEntry&)>>> kChanges = {
    {"its time", [](LogEntry& entry) { ++entry.at_ms; }},
    {"its kind", [](LogEntry& entry) { entry.kind += "X"; }},
    {"its session", [](LogEntry& entry) { entry.session = IdOf(0x999); }},
    {"its seat", [](LogEntry& entry) { entry.slot = entry.slot.value_or(0) + 1; }},
    {"its fence", [](LogEntry& entry) { entry.fence = entry.fence.value_or(0) + 1; }},
    {"its detail", [](LogEntry& entry) { entry.detail.insert(1, " "); }},
    {"its hash", [](LogEntry& entry) { entry.hash[31] ^= 1; }},
};

TEST(Prove, AChangedEntryIsNamedByItsNumberAndNoOtherIs) {
  WrittenLog log = HonestLog();
  log.Seal();
  for (const auto& [what, change] : kChanges)
    for (std::size_t i = 0; i + 1 < log.entries.size(); ++i) {
      SCOPED_TRACE(fmt::format("{} of entry {}", what, i + 1));
      std::vector<LogEntry> entries = log.entries;
      change(entries[i]);
      const Proof proof = Prove(entries, log.license, log.Head());
      EXPECT_EQ(Named(proof), static_cast<std::int64_t>(i) + 1);
      ExpectFound(proof, static_cast<std::int64_t>(i) + 1, "was changed");
    }
}

TEST(Prove, AChangedLastEntryIsNamedToo) {
  WrittenLog log = HonestLog();
  log.Seal();
  for (const auto& [what, change] : kChanges) {
    std::vector<LogEntry> entries = log.entries;
    change(entries.back());
    const Proof proof = Prove(entries, log.license, log.Head());
    ExpectFound(proof, 17, "was changed");
  }
}

TEST(Prove, AnEntryThatWasChangedAndHashedAnewIsFoundByTheOneBehindIt) {
  WrittenLog log = HonestLog();
  log.Seal();
  for (std::size_t i = 0; i + 1 < log.entries.size(); ++i) {
    std::vector<LogEntry> entries = log.entries;
    entries[i].at_ms += 1;
    entries[i].hash = HashOf(i == 0 ? LogHash{} : entries[i - 1].hash, entries[i]);
    EXPECT_EQ(Named(Prove(entries, log.license, log.Head())), static_cast<std::int64_t>(i) + 2);
  }
}

TEST(Prove, ARemovedEntryIsNamed) {
  WrittenLog log = HonestLog();
  log.Seal();
  for (std::size_t i = 0; i < log.entries.size(); ++i) {
    std::vector<LogEntry> entries = log.entries;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    const Proof proof = Prove(entries, log.license, log.Head());
    EXPECT_EQ(Named(proof), static_cast<std::int64_t>(i) + 1);
    ExpectFound(proof, static_cast<std::int64_t>(i) + 1, "missing");
  }
}

TEST(Prove, SeveralRemovedEntriesAreNamedAsARange) {
  WrittenLog log = HonestLog();
  log.Seal();
  std::vector<LogEntry> entries = log.entries;
  entries.erase(entries.begin() + 4, entries.begin() + 9);
  ExpectFound(Prove(entries, log.license, log.Head()), 5, "entries 5 to 9 are missing");
  entries.resize(3);
  ExpectFound(Prove(entries, log.license, log.Head()), 4, "entries 4 to 17 are missing");
}

TEST(Prove, ARemovedEntryWhoseFollowersWereRenumberedIsFound) {
  WrittenLog log = HonestLog();
  log.Seal();
  std::vector<LogEntry> entries = log.entries;
  entries.erase(entries.begin() + 4);
  for (std::size_t i = 4; i < entries.size(); ++i)
    entries[i].seq = static_cast<std::int64_t>(i) + 1;
  const Proof proof = Prove(entries, log.license, LogHead{16, entries.back().hash});
  ExpectFound(proof, 5, "was changed");
}

TEST(Prove, EntriesThatChangedPlacesAreNamed) {
  WrittenLog log = HonestLog();
  log.Seal();
  for (std::size_t i = 0; i + 1 < log.entries.size(); ++i) {
    std::vector<LogEntry> entries = log.entries;
    std::swap(entries[i], entries[i + 1]);
    const Proof proof = Prove(entries, log.license, log.Head());
    EXPECT_EQ(Named(proof), static_cast<std::int64_t>(i) + 1);
    ExpectFound(proof, static_cast<std::int64_t>(i) + 1, "stands behind entry");
  }
}

TEST(Prove, AnEntryThatStandsThereTwiceIsNamed) {
  WrittenLog log = HonestLog();
  log.Seal();
  std::vector<LogEntry> entries = log.entries;
  entries.insert(entries.begin() + 6, entries[3]);
  const Proof proof = Prove(entries, log.license, log.Head());
  EXPECT_EQ(Named(proof), 4);
  ExpectFound(proof, 4, "twice");
}

TEST(Prove, AnEntryOfAnotherLicenceIsNamed) {
  WrittenLog log = HonestLog();
  log.Seal();
  std::vector<LogEntry> entries = log.entries;
  entries[3].license = IdOf(77);
  ExpectFound(Prove(entries, log.license, log.Head()), 4, "belongs to the licence");
}

TEST(Prove, AHeadThatIsNotTheLastHashIsFound) {
  WrittenLog log = HonestLog();
  log.Seal();
  LogHead head = log.Head();
  head.hash[0] ^= 1;
  ExpectFound(Prove(log.entries, log.license, head), 17, "head");
  head.seq = 12;
  ExpectFound(Prove(log.entries, log.license, head), 13, "stands behind the licence's head");
}

// ---- heads that were kept elsewhere

TEST(Prove, AWholeNewChainIsFoundByAHeadThatWasKept) {
  WrittenLog log = HonestLog();
  log.Seal();
  const LogHead kept{9, log.entries[8].hash};
  EXPECT_TRUE(Prove(log.entries, log.license, log.Head(), {kept, log.Head()}).proven());
  log.entries[3].detail = R"({"count":4})";
  log.Seal();
  EXPECT_TRUE(Prove(log.entries, log.license, log.Head()).proven());
  const Proof proof = Prove(log.entries, log.license, log.Head(), {kept});
  EXPECT_EQ(Named(proof), 9);
  ExpectFound(proof, 9, "kept elsewhere");
}

TEST(Prove, ALogThatEndsBeforeAKeptHeadIsNotProven) {
  WrittenLog log = HonestLog();
  log.Seal();
  const LogHead kept = log.Head();
  log.entries.resize(10);
  ExpectFound(Prove(log.entries, log.license, log.Head(), {kept}), 17, "does not have it");
}

// ---- times

TEST(Prove, ATimeThatFallsIsFound) {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11);
  log.Acquired(199, 2, 12);
  ExpectFound(Prove(log), 3, "earlier than the entry before");
}

TEST(Prove, AnExpiryThatLiesOutsideOfItsHoldingIsFound) {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11);
  log.Expired(199, 1, 11);
  ExpectFound(Prove(log), 3, "before its start");
  WrittenLog later;
  later.Created(100, 2);
  later.Acquired(200, 1, 11);
  later.Expired(500, 1, 11);
  later.Acquired(400, 1, 12);
  ExpectFound(Prove(later), 3, "had not come");
}

TEST(Prove, AnExpiryMayBeWrittenAfterLaterEntries) {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11);
  log.Acquired(600, 2, 12);
  log.Expired(500, 1, 11);
  log.Acquired(700, 1, 13);
  const Proof proof = Prove(log);
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  EXPECT_EQ(proof.highest, 2);
  EXPECT_EQ(proof.highest_seq, 5) << "at entry 3 the first one was over";
}

// ---- the replay

TEST(Prove, ASeatThatIsGivenTwiceIsFound) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(200, 1, 11);
  log.Acquired(300, 1, 12);
  ExpectFound(Prove(log), 3, "gives seat 1");
}

TEST(Prove, AnEndOfSomethingElseIsFound) {
  for (const int slot : {1, 2}) {
    WrittenLog log;
    log.Created(100, 3);
    log.Acquired(200, 1, 11);
    log.Released(300, slot, 12);
    ExpectFound(Prove(log), 3, "ends");
  }
}

TEST(Prove, ASecondEndIsFound) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(200, 1, 11);
  log.Released(300, 1, 11);
  log.Expired(300, 1, 11);
  ExpectFound(Prove(log), 4, "ends");
}

TEST(Prove, OnlyWhatIsHeldCanBeResumed) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(200, 1, 11);
  log.Released(300, 1, 11);
  log.Resumed(400, 1, 11, 12);
  ExpectFound(Prove(log), 4, "continues");
}

TEST(Prove, OnlyWhatLapsedCanBeRevived) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(200, 1, 11);
  log.Released(300, 1, 11);
  log.Revived(400, 1, 11);
  ExpectFound(Prove(log), 4, "revives");
}

TEST(Prove, AFenceThatDoesNotRiseIsFound) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(200, 1, 11);
  log.Acquired(300, 2, 12);
  log.entries[2].fence = log.entries[1].fence;
  ExpectFound(Prove(log), 3, "fence");
}

TEST(Prove, AKindOfALaterVersionCannotBeJudged) {
  WrittenLog log;
  log.Created(100, 3);
  log.Add(LogKind::kSeatDenied, 200).kind = "LICENSE_SEAT_LENT";
  ExpectFound(Prove(log), 2, "does not know");
}

TEST(Prove, ADetailThatLacksWhatItsKindNeedsIsFound) {
  for (const LogKind kind :
       {LogKind::kLicenseCreated, LogKind::kSeatResumed, LogKind::kLogCheckpoint}) {
    WrittenLog log;
    log.Created(100, 3);
    log.Add(kind, 200, R"({"x":1})");
    ExpectFound(Prove(log), 2, "detail");
  }
}

TEST(Prove, ALogThatDoesNotBeginWithItsLicenceIsFound) {
  WrittenLog log;
  log.Add(LogKind::kSeatDenied, 100);
  ExpectFound(Prove(log), 1, "creation");
}

// ---- the limit

TEST(Prove, OneSeatTooManyIsFoundAtTheGrantThatGaveIt) {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11);
  log.Acquired(300, 2, 12);
  log.Acquired(400, 3, 13);
  const Proof proof = Prove(log);
  EXPECT_EQ(Named(proof), 4);
  ExpectFound(proof, 4, "while 2 of 2 are held");
  EXPECT_EQ(proof.highest, 3);
}

/// A ledger that wrote the time of the entry's writing would hide that the seat was given away
/// while its holder had it; one that has the time right shows it.
TEST(Prove, ARevivalOverTheLimitIsFound) {
  WrittenLog log;
  log.Created(100, 1);
  log.Acquired(200, 1, 11);
  log.Expired(300, 1, 11);
  log.Acquired(400, 2, 12);
  log.Revived(500, 1, 11);
  ExpectFound(Prove(log), 5, "while 1 of 1 are held");
}

TEST(Prove, AnExpiryCountsAtItsTimeAlsoForGrantsWrittenBeforeIt) {
  WrittenLog log;
  log.Created(100, 1);
  log.Acquired(200, 1, 11);
  log.Acquired(300, 2, 12);
  log.Expired(250, 1, 11);
  EXPECT_TRUE(Prove(log).proven());
  WrittenLog late;
  late.Created(100, 1);
  late.Acquired(200, 1, 11);
  late.Acquired(300, 2, 12);
  late.Expired(301, 1, 11);
  ExpectFound(Prove(late), 3, "while 1 of 1 are held");
}

TEST(Prove, ALoweredLimitDrainsAndIsTold) {
  WrittenLog log;
  log.Created(100, 3);
  for (const int slot : {1, 2, 3}) log.Acquired(200 + slot, slot, 10 + slot);
  log.Limit(300, 3, 1);
  log.Released(400, 1, 11);
  log.Expired(450, 3, 13);
  log.Limit(500, 1, 2);
  log.Acquired(600, 3, 14);
  const Proof proof = Prove(log);
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  ASSERT_EQ(proof.over_limit.count, 1);
  const Proof::OverLimit& over = proof.over_limit.first[0];
  EXPECT_EQ(over.from_seq, 5);
  EXPECT_EQ(over.from_ms, 300);
  EXPECT_EQ(over.until_ms, 450);
  EXPECT_EQ(over.limit, 1);
  EXPECT_EQ(over.most, 3);
}

TEST(Prove, AGrantWhileALoweredLimitDrainsIsFound) {
  WrittenLog log;
  log.Created(100, 3);
  log.Acquired(201, 2, 12);
  log.Acquired(202, 3, 13);
  log.Limit(300, 3, 1);
  log.Acquired(400, 1, 14);
  ExpectFound(Prove(log), 5, "while 2 of 1 are held");
}

TEST(Prove, AChangeThatLeavesTheLimitAloneChangesNothing) {
  WrittenLog log;
  log.Created(100, 1);
  log.Add(LogKind::kLicenseChanged, 150, R"({"seats":1,"ttl_ms":2,"was":{"seats":1,"ttl_ms":1}})");
  log.Acquired(200, 1, 11);
  const Proof proof = Prove(log);
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  EXPECT_EQ(proof.limit, 1);
}

// ---- clocks that were set back

TEST(Prove, WhereTheClockWasSetBackThePlaceCountsAndTheStretchIsNamed) {
  WrittenLog log;
  log.Created(100, 1);
  log.Acquired(1'000, 1, 11);
  log.Released(1'000, 1, 11);
  log.Acquired(1'000, 1, 12, R"({"clock_ms":400})");
  log.Add(LogKind::kSeatDenied, 1'000, R"({"clock_ms":600})");
  log.Expired(500, 1, 12);
  log.Acquired(1'200, 1, 13);
  const Proof proof = Prove(log);
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  ASSERT_EQ(proof.by_place.count, 1);
  EXPECT_EQ(proof.by_place.first[0].from_seq, 4);
  EXPECT_EQ(proof.by_place.first[0].to_seq, 5);
}

/// The deadline 500 was counted after the clock had been set back: it is later than the grant at
/// 1000, whatever the numbers say.
TEST(Prove, AnExpiryFromAfterASetBackDoesNotExcuseAGrantBeforeIt) {
  WrittenLog log;
  log.Created(100, 1);
  log.Acquired(200, 1, 11);
  log.Acquired(1'000, 2, 12);
  log.Add(LogKind::kSeatDenied, 1'000, R"({"clock_ms":400})");
  log.Expired(500, 1, 11);
  ExpectFound(Prove(log), 3, "while 1 of 1 are held");
}

// ---- checkpoints

WrittenLog CheckedLog() {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11);
  log.Acquired(300, 2, 12);
  log.Released(400, 1, 11);
  log.Checkpoint(500, 2, 2, {{12, 2}});
  log.Acquired(600, 1, 13);
  log.Released(700, 2, 12);
  log.Seal();
  return log;
}

TEST(Prove, ALogMayBeginAtACheckpoint) {
  WrittenLog log = CheckedLog();
  EXPECT_TRUE(Prove(log.entries, log.license, log.Head()).proven());
  const LogHead kept{4, log.entries[3].hash};
  log.entries.erase(log.entries.begin(), log.entries.begin() + 4);
  const Proof proof = Prove(log.entries, log.license, log.Head(), {kept});
  EXPECT_TRUE(proof.proven()) << TextOf(proof);
  EXPECT_EQ(proof.first_seq, 5);
  EXPECT_EQ(proof.highest, 2);
  EXPECT_EQ(proof.highest_seq, 0);
  EXPECT_EQ(proof.held, 1);
}

TEST(Prove, WhatACheckpointSaysIsHeldCounts) {
  WrittenLog log = CheckedLog();
  log.entries.erase(log.entries.begin(), log.entries.begin() + 5);
  ExpectFound(Prove(log.entries, log.license, log.Head()), 1, "entries 1 to 5 are missing");
  WrittenLog full;
  full.Created(100, 2);
  full.Acquired(200, 1, 11);
  full.Acquired(300, 2, 12);
  full.Checkpoint(500, 2, 2, {{11, 1}, {12, 2}});
  full.Acquired(600, 3, 13);
  full.Seal();
  full.entries.erase(full.entries.begin(), full.entries.begin() + 3);
  ExpectFound(Prove(full.entries, full.license, full.Head()), 5, "while 2 of 2 are held");
}

TEST(Prove, ACheckpointThatSaysSomethingElseThanTheLogBeforeItIsFound) {
  const std::vector<WrittenLog::Open> right = {{12, 2}};
  const auto with = [](int seats, int highest, const std::vector<WrittenLog::Open>& open) {
    WrittenLog log;
    log.Created(100, 2);
    log.Acquired(200, 1, 11);
    log.Acquired(300, 2, 12);
    log.Released(400, 1, 11);
    log.Checkpoint(500, seats, highest, open);
    return Prove(log);
  };
  EXPECT_TRUE(with(2, 2, right).proven());
  ExpectFound(with(3, 2, right), 5, "limit");
  ExpectFound(with(2, 1, right), 5, "at most");
  ExpectFound(with(2, 2, {}), 5, "other holdings");
  ExpectFound(with(2, 2, {{11, 1}, {12, 2}}), 5, "other holdings");
}

TEST(Prove, ACheckpointThatHidesARemovedEntryIsFoundByItsPreviousHash) {
  WrittenLog log = CheckedLog();
  log.entries.erase(log.entries.begin(), log.entries.begin() + 4);
  log.entries[0].detail.replace(log.entries[0].detail.find("before\":\"") + 9, 2, "ff");
  ExpectFound(Prove(log.entries, log.license, log.Head()), 5, "was changed");
}

TEST(Prove, AKeptHeadFromBeforeTheLogsBeginIsNotSilentlyPassedOver) {
  WrittenLog log = CheckedLog();
  const LogHead kept{2, log.entries[1].hash};
  log.entries.erase(log.entries.begin(), log.entries.begin() + 4);
  ExpectFound(Prove(log.entries, log.license, log.Head(), {kept}), 2, "the log begins at entry 5");
}

}  // namespace
}  // namespace tenure::seats
