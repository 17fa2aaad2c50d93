#include "sessions/explain.hpp"

#include <gtest/gtest.h>

namespace tenure::sessions {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

TEST(WhySession, SaysWhoHasWhatSinceWhenUntilWhenOrHowThatEnded) {
  Session session;
  session.kind = Kind::kPremium;
  session.start_ms = kWhyNow - 90'000;
  session.end_ms = kWhyNow + 3'600'000;
  const std::string nil = base::Uuid().ToString();
  const explain::Explanation active = Explain(session, kWhyNow);
  EXPECT_EQ(active.state, "active");
  EXPECT_EQ(active.Sentence(), "User " + nil + " has a premium session on capacity " + nil +
                                   " since 2026-01-01T10:58:30.000Z (1m 30s ago).");
  EXPECT_EQ(active.next.text,
            "It ends at 2026-01-01T12:00:00.000Z (in 1h 0m), or when a session of a higher kind "
            "takes its place.");
  ASSERT_EQ(active.actions.size(), 1U);
  EXPECT_TRUE(active.actions.front().danger);
  EXPECT_EQ(active.actions.front().path, "/sessions/" + nil);

  const std::string was = " User " + nil + " had a basic session on capacity " + nil +
                          " from 2026-01-01T10:58:30.000Z (1m 30s).";
  session.kind = Kind::kBasic;
  session.end_ms = kWhyNow;
  for (const auto& [reason, code, sentence] :
       std::vector<std::tuple<std::optional<EndReason>, std::string, std::string>>{
           {std::nullopt, "expired", "its time was over."},
           {EndReason::kExpired, "expired", "its time was over."},
           {EndReason::kDeleted, "deleted", "somebody ended it."},
           {EndReason::kUpgraded, "upgraded", "a session of a higher kind took its place."}}) {
    session.end_reason = reason;
    const explain::Explanation why = Explain(session, kWhyNow);
    EXPECT_EQ(why.state, "ended");
    EXPECT_EQ(why.because.front().code, code);
    EXPECT_EQ(why.Sentence(), "It ended at 2026-01-01T11:00:00.000Z: " + sentence + was);
    EXPECT_TRUE(why.actions.empty());
    EXPECT_FALSE(why.next.text.empty());
  }
}

}  // namespace
}  // namespace tenure::sessions
