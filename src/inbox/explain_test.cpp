#include "inbox/explain.hpp"

#include <gtest/gtest.h>

#include "inbox/entry_id.hpp"

namespace tenure::inbox {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

struct WhyInboxCase {
  std::string_view state;
  MessageRow row;
  std::string sentence;
  std::string next;
};

TEST(WhyInbox, SaysWhoProcessesAMessageWhatItWaitsForOrHowItEnded) {
  const MessageKey key{"t", "stripe", "evt\n1"};
  MessageRow claimed{.state = State::kClaimed, .fence = 7, .updated_ms = kWhyNow - 60'000};
  claimed.lease_until_ms = kWhyNow + 30'000;
  MessageRow lapsed = claimed;
  lapsed.lease_until_ms = kWhyNow;
  lapsed.crashes = 1;
  MessageRow retrying = claimed;
  retrying.state = State::kRetrying;
  retrying.attempts = 2;
  retrying.error = "no\nbank";
  retrying.not_before_ms = kWhyNow + 30'000;
  MessageRow done = claimed;
  done.state = State::kDone;
  MessageRow dead = retrying;
  dead.state = State::kDead;
  dead.error = "";
  const std::string then = "2026-01-01T10:59:00.000Z", soon = "2026-01-01T11:00:30.000Z";
  const std::string twice = " 2 failures were reported, and 0 claims ended without a word.";
  const std::vector<WhyInboxCase> cases{
      {"claimed", claimed,
       "A worker processes message evt 1 of stripe since " + then + ", with fence 7.",
       "If it tells no end until " + soon + ", the next delivery is told to process it."},
      {"lapsed", lapsed,
       "The worker that was told to process message evt 1 of stripe had until "
       "2026-01-01T11:00:00.000Z, and has not told the end. 0 failures were reported, and one "
       "claim ended without a word.",
       "The next delivery by its source is told to process it."},
      {"retrying", retrying, "Message evt 1 of stripe failed at " + then + " (no bank)." + twice,
       "The first delivery from " + soon + " on is told to process it."},
      {"done", done, "Message evt 1 of stripe was done at " + then + ".",
       "Whoever delivers it again is told so, and gets its result."},
      {"dead", dead,
       "Message evt 1 of stripe was given up at " + then + " (nobody said why)." + twice,
       "No delivery of it is told to process it any more."},
  };
  for (const WhyInboxCase& each : cases) {
    const explain::Explanation why = Explain(key, each.row, kWhyNow);
    EXPECT_EQ(why.state, each.state);
    EXPECT_EQ(why.because.front().code, each.state);
    EXPECT_EQ(why.Sentence(), each.sentence);
    EXPECT_EQ(why.next.text, each.next);
  }
}

TEST(InboxEntryId, SaysWhichIsTheSourceWhateverStandsInIt) {
  for (const MessageKey& key :
       {MessageKey{"t", "stripe", "evt_1"}, MessageKey{"t", "a/b%2F", "/x/%"},
        MessageKey{"t", "%", std::string(kMaxKeyBytes, '/')}})
    EXPECT_EQ(ParseEntryId("t", EntryId(key)), key) << EntryId(key);
  EXPECT_EQ(EntryId({"t", "a/b", "c"}), "a%2Fb/c");
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("/a"), std::string("a/"), std::string("a%2/b"),
        std::string("a%41/b"), "a/" + std::string(kMaxKeyBytes + 1, 'x')})
    EXPECT_FALSE(ParseEntryId("t", text)) << text;
}

}  // namespace
}  // namespace tenure::inbox
