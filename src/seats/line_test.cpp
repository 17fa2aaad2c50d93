// The waiting line of a licence, on every store.

#include "http/json_value.hpp"
#include "seats/test_process.hpp"

namespace tenure::seats {
namespace {

using store::EngineKind;

class SeatLine : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_, "a"};
};

INSTANTIATE_TEST_SUITE_P(Stores, SeatLine,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(SeatLine, AReleasedSeatGoesToTheFirstOfTheLineAtOnce) {
  a_.Create({.seats = 1});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto first = a_.Wait("m2", 30'000);
  const auto second = a_.Wait("m3", 30'000);
  EXPECT_FALSE(first->answered());
  a_.Release(held.session);
  a_.Drive();
  ASSERT_TRUE(first->answered());
  EXPECT_TRUE(Granted(first->outcome()).picked_up);
  EXPECT_FALSE(second->answered());
}

TEST_P(SeatLine, NobodyOvertakesTheLine) {
  a_.Create({.seats = 1});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto first = a_.Wait("m2", 30'000);
  a_.Release(held.session);
  Denied(a_.Acquire("m3"));
  a_.Drive();
  ASSERT_TRUE(first->answered());
  Granted(first->outcome());
}

TEST_P(SeatLine, ASeatThatLapsesIsTheFirstWaitersAtTheVeryMillisecond) {
  a_.Create({.seats = 1, .ttl_ms = 2'000});
  Granted(a_.Acquire("m1"));
  const auto first = a_.Wait("m2", 30'000);
  a_.Pass(1'999, 100);
  EXPECT_FALSE(first->answered());
  a_.Pass(1);
  ASSERT_TRUE(first->answered());
  Granted(first->outcome());
}

TEST_P(SeatLine, WhoWaitedLongEnoughHasATicketThatKeepsItsPlace) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto waited = a_.Wait("m2", 1'000);
  a_.Pass(1'000);
  ASSERT_TRUE(waited->answered());
  const auto& waiting = std::get<Waiting>(waited->outcome());
  EXPECT_EQ(waiting.position, 1);
  const auto view = std::get<TicketView>(a_.SeeTicket(waiting.ticket));
  EXPECT_EQ(view.position, 1);
  a_.Release(held.session);
  EXPECT_EQ(std::get<TicketView>(a_.SeeTicket(waiting.ticket)).position, 0) << "offered";
  Denied(a_.Acquire("m3"));
  EXPECT_TRUE(Granted(a_.Acquire("m2")).picked_up);
  EXPECT_TRUE(std::holds_alternative<NoTicket>(a_.SeeTicket(waiting.ticket)));
}

TEST_P(SeatLine, AnOfferThatNobodyPicksUpGoesOnToTheNext) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto gone = a_.Wait("m2", 100);
  a_.Pass(200);
  const auto next = a_.Wait("m3", 30'000);
  a_.Release(held.session);
  a_.Drive();
  EXPECT_FALSE(next->answered()) << "it is offered to the first";
  a_.Pass(15'000);
  ASSERT_TRUE(next->answered());
  Granted(next->outcome());
}

TEST_P(SeatLine, TheDeadArePassedOverAndRemovedAMinuteLater) {
  a_.Create({.seats = 1, .ttl_ms = 600'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto dead = a_.Wait("m2", 100);
  a_.Pass(200);
  clock().Advance(Rules().ticket_ms + 1);
  const auto alive = a_.Wait("m3", 30'000);
  a_.Release(held.session);
  a_.Drive();
  EXPECT_TRUE(alive->answered());
  const base::Uuid ticket = std::get<Waiting>(dead->outcome()).ticket;
  clock().Advance(kDeadTicketMs + 1);
  EXPECT_EQ(a_.Call(a_.seats(), &Seats::ForgetSomeTickets).rows, 1);
  EXPECT_TRUE(std::holds_alternative<NoTicket>(a_.SeeTicket(ticket)));
}

TEST_P(SeatLine, WhoGoesIsGivenNothingThatStaysTaken) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto gone = a_.Wait("m2", 30'000);
  const auto next = a_.Wait("m3", 30'000);
  a_.seats().Abandon(gone->request);
  a_.Release(held.session);
  a_.Pass(20'000);
  EXPECT_FALSE(gone->answered());
  ASSERT_TRUE(next->answered());
  Granted(next->outcome());
}

TEST_P(SeatLine, LeavingTheLineLetsTheNextOneUp) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto first = a_.Wait("m2", 100);
  a_.Pass(200);
  const base::Uuid ticket = std::get<Waiting>(first->outcome()).ticket;
  const auto second = a_.Wait("m3", 30'000);
  EXPECT_TRUE(std::holds_alternative<NoTicket>(a_.LeaveTicket(ticket, "bob")));
  EXPECT_TRUE(std::holds_alternative<TicketLeft>(a_.LeaveTicket(ticket)));
  a_.Release(held.session);
  a_.Drive();
  EXPECT_TRUE(second->answered());
}

TEST_P(SeatLine, ARaisedLimitServesTheLine) {
  const base::Uuid license = a_.Create({.seats = 1, .ttl_ms = 60'000});
  Granted(a_.Acquire("m1"));
  const auto first = a_.Wait("m2", 30'000);
  const auto second = a_.Wait("m3", 30'000);
  a_.Change({.license = license, .seats = 3});
  a_.Drive();
  EXPECT_TRUE(first->answered());
  EXPECT_TRUE(second->answered());
}

TEST_P(SeatLine, ALoweredLimitDrainsWithGapsAmongTheSlotsAndARaisedOneFillsThem) {
  const base::Uuid license = a_.Create({.seats = 3, .ttl_ms = 60'000});
  const Grant first = Granted(a_.Acquire("m1"));
  const Grant second = Granted(a_.Acquire("m2"));
  const Grant third = Granted(a_.Acquire("m3"));
  a_.Release(first.session);
  a_.Change({.license = license, .seats = 1});
  Denied(a_.Acquire("m4"));
  a_.Release(second.session);
  Denied(a_.Acquire("m4"));
  a_.Release(third.session);
  Granted(a_.Acquire("m4"));
  Denied(a_.Acquire("m5"));
  a_.Change({.license = license, .seats = 2});
  EXPECT_EQ(Granted(a_.Acquire("m5")).used, 2);
  Denied(a_.Acquire("m6"));
  a_.Change({.license = license, .seats = 0});
  EXPECT_EQ(store_.Number("select count(*) from seats", "select count(*) from tenure.seats"), 2);
}

TEST_P(SeatLine, AWithdrawnOfferIsMadeAgainWhenThereIsRoom) {
  const base::Uuid license = a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto waited = a_.Wait("m2", 100);
  a_.Pass(200);
  const base::Uuid ticket = std::get<Waiting>(waited->outcome()).ticket;
  a_.Release(held.session);
  a_.Change({.license = license, .seats = 0});
  EXPECT_EQ(std::get<TicketView>(a_.SeeTicket(ticket)).position, 1);
  a_.Change({.license = license, .seats = 1});
  EXPECT_EQ(std::get<TicketView>(a_.SeeTicket(ticket)).position, 0);
}

TEST_P(SeatLine, ARequestForATicketWaitsForItsOffer) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const Grant held = Granted(a_.Acquire("m1"));
  const auto waited = a_.Wait("m2", 100);
  a_.Pass(200);
  const base::Uuid ticket = std::get<Waiting>(waited->outcome()).ticket;
  std::optional<db::Result<TicketOutcome>> seen;
  a_.seats().AwaitTicket({{}, "default", "ann", ticket, TicketCommand::Kind::kSee}, 30'000, nullptr,
                         [&](db::Result<TicketOutcome> result) { seen = std::move(result); });
  a_.Pass(20'000);
  EXPECT_FALSE(seen) << "its request keeps the ticket alive";
  a_.Release(held.session);
  a_.Drive();
  ASSERT_TRUE(seen && seen->ok());
  EXPECT_EQ(std::get<TicketView>(seen->value()).position, 0);
}

TEST_P(SeatLine, AnOfferOfAProcessThatDiedAtOnceIsFoundWithinASecond) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one process";
  a_.Create({.seats = 1, .ttl_ms = 600'000});
  const Grant held = Granted(a_.Acquire("m1"));
  TestProcess b(store_, "b");
  const auto waited = b.Wait("m2", 30'000);
  a_.Release(held.session);  // and is never heard of again: no feed tells b
  b.Pass(1'000);
  ASSERT_TRUE(waited->answered());
  Granted(waited->outcome());
}

TEST_P(SeatLine, AKeyThatWasUsedBeforeHasTheSameAnswerWithoutTheLicenseKey) {
  a_.Create({.seats = 1});
  const base::IdempotencyKey once{"default/ann/acquire/k1", "body"};
  const Grant grant = Granted(a_.Acquire("m1", {.once = once}));
  const auto again = a_.AcquireOnce("m1", {.once = once});
  const auto* stored = std::get_if<base::StoredAnswer>(&again);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, 201);
  EXPECT_NE(stored->body.find(grant.session.ToString()), std::string::npos);
  EXPECT_EQ(stored->body.find("license_key"), std::string::npos);
}

/// Who repeats its request counts from when it asked again.
TEST_P(SeatLine, WhatIsLeftOfAGrantIsToldAnewWhenItsRequestIsRepeated) {
  a_.Create({.seats = 1, .ttl_ms = 60'000});
  const base::IdempotencyKey once{"default/ann/acquire/k1", "body"};
  const Grant grant = Granted(a_.Acquire("m1", {.once = once}));
  const auto left_after = [&](std::int64_t ms) {
    clock().Advance(ms);
    const auto again = a_.AcquireOnce("m1", {.once = once});
    const auto body = http::JsonValue::Parse(std::get<base::StoredAnswer>(again).body);
    EXPECT_EQ(body->TextOf("session_id"), grant.session.ToString());
    return body->Find("remaining_ms")->Number();
  };
  EXPECT_EQ(left_after(10'000), 50'000);
  Renewed(a_.Heartbeat(grant.session));
  EXPECT_EQ(left_after(1'000), 59'000);
  EXPECT_EQ(left_after(59'000), 0);
  EXPECT_EQ(left_after(3'600'000), 0);
  const Grant next = Granted(a_.Acquire("m1"));
  EXPECT_EQ(left_after(0), 0) << "it is another holding";
  EXPECT_TRUE(a_.Release(next.session));
  EXPECT_EQ(left_after(0), 0);
}

}  // namespace
}  // namespace tenure::seats
