#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// What anybody may see, and the bounds of what may be asked.
namespace tenure::leases::conformance {

// ---- looks

TEST_P(LeaseConformance, ALookShowsTheGrant) {
  EXPECT_FALSE(Look().has_value());
  connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .holder = "h", .metadata = R"({"k":1})"}, kTimeout);
  const auto view = Look();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->name, name_);
  EXPECT_EQ(view->state, LeaseState::kHeld);
  EXPECT_EQ(view->term, a_);
  EXPECT_EQ(view->holder, "h");
  EXPECT_EQ(view->metadata, R"({"k":1})");
  EXPECT_EQ(view->ttl, kLong);
  EXPECT_GT(view->expires_at_ms, view->now_ms);
}

TEST_P(LeaseConformance, AnExpiredLeaseIsShownAsFree) {
  Take(a_, short_ttl());
  Expire();
  EXPECT_EQ(Look()->state, LeaseState::kFree);
  EXPECT_EQ(Look()->holder, "");
}

TEST_P(LeaseConformance, HistoryTellsHowGrantsEndedNewestFirst) {
  Release(Take(a_));
  Take(b_);
  connection().Break({.name = name_, .reason = "stuck", .force = true}, kTimeout);
  Take(c_);
  const auto view = Look();
  ASSERT_GE(view->history.size(), 2U);
  EXPECT_EQ(view->history[0].term, b_);
  EXPECT_EQ(view->history[0].reason, LossReason::kBroken);
  EXPECT_EQ(view->history[0].detail, "stuck");
  EXPECT_EQ(view->history[1].term, a_);
  EXPECT_EQ(view->history[1].reason, LossReason::kReleased);
  EXPECT_GT(view->history[0].fence, view->history[1].fence);
}

TEST_P(LeaseConformance, AListIsInOrderOfNameAndComesInPages) {
  std::vector<std::string> names;
  for (const char* end : {"/a", "/b", "/c", "/d"}) {
    names.push_back(name_ + end);
    connection().Acquire({.name = names.back(), .term = NewTerm(), .ttl = kLong, .holder = end},
                         kTimeout);
  }
  const auto list = [&](ListRequest request) {
    request.prefix = name_ + "/";
    std::vector<std::string> found;
    for (const LeaseView& view : connection().List(request, kTimeout)) found.push_back(view.name);
    return found;
  };
  EXPECT_EQ(list({}), names);
  EXPECT_EQ(list({.limit = 2}), std::vector<std::string>(names.begin(), names.begin() + 2));
  EXPECT_EQ(list({.after = names[1]}), std::vector<std::string>(names.begin() + 2, names.end()));
  EXPECT_EQ(list({.holder = "/c"}), std::vector<std::string>{names[2]});
  connection().Break({.name = names[3], .reason = "x"}, kTimeout);
  EXPECT_EQ(list({.state = LeaseState::kBroken}), std::vector<std::string>{names[3]});
}

// ---- bounds

TEST_P(LeaseConformance, BadNamesAndNumbersAreRefused) {
  const AcquireRequest good{.name = name_, .term = a_, .ttl = kLong};
  const auto refused = [&](const std::function<void(AcquireRequest&)>& spoil) {
    AcquireRequest bad = good;
    spoil(bad);
    EXPECT_THROW(connection().Acquire(bad, kTimeout), std::invalid_argument);
  };
  refused([](AcquireRequest& r) { r.name = ""; });
  refused([](AcquireRequest& r) { r.name = "with space"; });
  refused([](AcquireRequest& r) { r.name = "naïve"; });
  refused([](AcquireRequest& r) { r.name = std::string(kMaxNameBytes + 1, 'x'); });
  refused([](AcquireRequest& r) { r.term = ""; });
  refused([](AcquireRequest& r) { r.ttl = kMinTtl - Milliseconds(1); });
  refused([](AcquireRequest& r) { r.ttl = kMaxTtl + Milliseconds(1); });
  refused([](AcquireRequest& r) { r.wait = kMaxWait + Milliseconds(1); });
  refused([](AcquireRequest& r) { r.holder = std::string(kMaxHolderBytes + 1, 'x'); });
  refused([](AcquireRequest& r) { r.metadata = std::string(kMaxMetadataBytes + 1, ' '); });
  EXPECT_TRUE(Granted(connection().Acquire(good, kTimeout)));
}

TEST_P(LeaseConformance, TheLongestNameAndEveryCharacterOfNamesWork) {
  std::string name = name_ + "/A-Za-z0-9._:@-/";
  name += std::string(kMaxNameBytes - name.size(), 'x');
  EXPECT_TRUE(Granted(connection().Acquire({.name = name, .term = a_, .ttl = kMaxTtl}, kTimeout)));
  EXPECT_EQ(connection().Get(name, kTimeout)->name, name);
}

TEST_P(LeaseConformance, MetadataCannotResurrectALease) {
  const std::string metadata = R"({"k":"v"})";
  connection().Acquire({.name = name_, .term = a_, .ttl = short_ttl(), .metadata = metadata},
                       kTimeout);
  Expire();
  EXPECT_FALSE(Granted(connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .metadata = metadata}, kTimeout)));
  EXPECT_EQ(Look()->state, LeaseState::kFree);
  EXPECT_TRUE(Granted(Ask(b_)));
  EXPECT_EQ(Look()->metadata, "");
}

TEST_P(LeaseConformance, ANameThatIsAPathStepWorks) {
  for (const std::string& name :
       {std::string("."), std::string(".."), name_ + "/../x", name_ + "/./y", name_ + "//z"}) {
    const std::string term = NewTerm();
    const auto grant =
        std::get<Grant>(connection().Acquire({.name = name, .term = term, .ttl = kLong}, kTimeout));
    EXPECT_EQ(grant.name, name);
    const RenewRequest renewal{.name = name, .fence = grant.fence, .term = term};
    EXPECT_FALSE(LossOf(connection().Renew({&renewal, 1}, kTimeout).at(0)).has_value()) << name;
    EXPECT_EQ(connection().Get(name, kTimeout).value().term, term);
    EXPECT_TRUE(connection().Release({.name = name, .term = term}, kTimeout).released) << name;
  }
  EXPECT_FALSE(connection().Get("x", kTimeout).has_value()) << "it is another name";
}

TEST_P(LeaseConformance, ACancelledSessionAnswersNoMore) {
  const auto other = Another();
  other->Cancel();
  EXPECT_THROW(other->Get(name_, kTimeout), ProviderUnavailable);
}

}  // namespace tenure::leases::conformance
