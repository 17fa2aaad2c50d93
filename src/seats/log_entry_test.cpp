#include "seats/log_entry.hpp"

#include <gtest/gtest.h>

namespace tenure::seats {
namespace {

LogEntry Entry() {
  LogEntry entry;
  entry.license = *base::Uuid::Parse("0193e7c0-0000-7000-8000-000000000001");
  entry.seq = 7;
  entry.at_ms = 1'766'311'200'123;
  entry.kind = ToText(LogKind::kSeatAcquired);
  entry.session = *base::Uuid::Parse("0193e7c0-0000-7000-8000-00000000000a");
  entry.slot = 2;
  entry.fence = 41;
  entry.detail = R"({"machine":"m-1"})";
  return entry;
}

TEST(LogEntry, ItsTextIsAJsonArrayWithoutBlanks) {
  EXPECT_EQ(CanonicalText(Entry()),
            R"(["0193e7c0-0000-7000-8000-000000000001",7,1766311200123,"LICENSE_SEAT_ACQUIRED",)"
            R"("0193e7c0-0000-7000-8000-00000000000a",2,41,{"machine":"m-1"}])");
}

TEST(LogEntry, WhatItDoesNotHaveIsNull) {
  LogEntry entry = Entry();
  entry.session.reset();
  entry.slot.reset();
  entry.fence.reset();
  entry.kind = ToText(LogKind::kLicenseCreated);
  entry.detail = "{}";
  EXPECT_EQ(CanonicalText(entry),
            R"(["0193e7c0-0000-7000-8000-000000000001",7,1766311200123,"LICENSE_CREATED",)"
            R"(null,null,null,{}])");
}

/// Computed elsewhere: printf '%s' TEXT, behind 32 zero bytes, through sha256sum.
TEST(LogEntry, ItsHashCoversTheHashBeforeItAndItsText) {
  const LogHash first = HashOf(LogHash{}, Entry());
  EXPECT_EQ(HexOf(first), "e239c6b4d9cefa7281afda6220c1d69eca396fafa2153c9b02fd5c10fb4504a1");
  EXPECT_NE(HashOf(first, Entry()), first);
  LogEntry changed = Entry();
  changed.slot = 3;
  EXPECT_NE(HashOf(LogHash{}, changed), first);
}

TEST(LogEntry, HashesAndKindsAreReadBackAsTheyWereWritten) {
  const LogHash hash = Sha256("tenure");
  EXPECT_EQ(ParseLogHash(HexOf(hash)), hash);
  EXPECT_FALSE(ParseLogHash("00"));
  EXPECT_FALSE(ParseLogHash(std::string(64, 'G')));
  for (int kind = 0; kind <= static_cast<int>(LogKind::kLogCheckpoint); ++kind)
    EXPECT_EQ(ParseLogKind(ToText(static_cast<LogKind>(kind))), static_cast<LogKind>(kind));
  EXPECT_FALSE(ParseLogKind("LICENSE_SEAT_STOLEN"));
}

}  // namespace
}  // namespace tenure::seats
