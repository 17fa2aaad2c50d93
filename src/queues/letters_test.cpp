// Messages that could not be processed, on every store: listed, summed up, resumed, sent once more.

#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;
using testing::ElementsAre;
using Outcome = ReportOutcome::Kind;
using Which = LetterFilter::Which;

class LetterContract : public QueuesContract {
 protected:
  std::vector<Letter> Letters(LettersRequest request = {}) {
    request.filter.tenant = "default";
    request.filter.queue = "q";
    return a_.Call(a_.queues(), &Queues::ListLetters, request).rows;
  }
  std::vector<Letter> Letters(Which which) {
    LettersRequest request;
    request.filter.which = which;
    return Letters(request);
  }
  /// The session of `key` with its first `dead` messages rejected, under `skip`.
  base::Uuid Bury(const std::string& key, int dead, const std::string& error = "bad 7") {
    base::Uuid id;
    for (int i = 0; i < dead; ++i) {
      const HeldSession held = a_.AcceptOne();
      EXPECT_EQ(held.key, key);
      Report report = a_.Of(Report::Kind::kFail, held, held.messages.at(0).sequence);
      report.rejected = true;
      report.error = error;
      EXPECT_EQ(a_.Tell(report).then, Then::kSkipped);
      id = held.id;
    }
    return id;
  }
  AgainReply Again(AgainRequest request) {
    request.tenant = "default";
    request.queue = "q";
    return a_.Call(a_.queues(), &Queues::Again, request);
  }
  AgainReply Append(const std::vector<Letter>& letters) {
    AgainRequest request;
    for (const Letter& each : letters) request.places.push_back(each.place);
    return Again(request);
  }
  ReportOutcome Rewind(const base::Uuid& session, std::int64_t sequence) {
    return a_.Tell({.kind = Report::Kind::kRewind, .session = session, .sequence = sequence});
  }
  std::vector<std::string> Payloads(const HeldSession& held) {
    std::vector<std::string> payloads;
    for (const Message& each : held.messages) payloads.push_back(each.payload);
    return payloads;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, LetterContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(LetterContract, ParkedOnesAndThoseThatWerePassedOverAreListedInTheOrderOfTheirDeaths) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  a_.Send("k", "1");
  a_.Send("k", "2");
  const base::Uuid k = Bury("k", 1);
  clock().Advance(1'000);
  a_.Declare({.max_delivery_count = 1});
  const HeldSession held = a_.AcceptOne();
  a_.Fail(held, 2, "it broke at 0x12ab");
  const std::vector<Letter> letters = Letters();
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_FALSE(letters[0].parked);
  EXPECT_EQ(letters[0].place.session, k);
  EXPECT_EQ(letters[0].place.sequence, 1);
  EXPECT_EQ(letters[0].reason, DeathReason::kRejected);
  EXPECT_EQ(letters[0].error, "bad 7");
  EXPECT_EQ(letters[0].error_class, "bad #");
  EXPECT_EQ(letters[0].followers, 1);
  EXPECT_TRUE(letters[1].parked);
  EXPECT_EQ(letters[1].id, held.messages.at(0).id);
  EXPECT_EQ(letters[1].reason, DeathReason::kMaxDeliveryCount);
  EXPECT_EQ(letters[1].attempts, 1);
  EXPECT_EQ(letters[1].followers, 0);
  LettersRequest behind;
  behind.after_ms = letters[0].dead_ms;
  behind.after = letters[0].place;
  EXPECT_EQ(Letters(behind).size(), 1u);
  EXPECT_EQ(Letters(Which::kParked).size(), 1u);
  EXPECT_EQ(Letters(Which::kSkipped).size(), 1u);
  LettersRequest of_class;
  of_class.filter.error_class = "bad #";
  EXPECT_EQ(Letters(of_class).size(), 1u);
  of_class.filter.session = base::Uuid::V7(1);
  EXPECT_TRUE(Letters(of_class).empty());
  const auto sums =
      a_.Call(a_.queues(), &Queues::SumLetters, {.filter = {.tenant = "default", .queue = "q"}});
  ASSERT_EQ(sums.rows.size(), 2u);
  EXPECT_EQ(sums.rows[0].letters, 1);
  EXPECT_EQ(sums.rows[0].sessions, 1);
}

TEST_P(LetterContract, AppendedOnesComeOnceMoreBehindWhatWaitsInTheirOrder) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  for (const char* payload : {"1", "2", "3"}) a_.Send("k", payload);
  Bury("k", 2);
  const std::vector<Letter> letters = Letters();
  const AgainReply reply = Append(letters);
  EXPECT_EQ(reply.found, 2);
  EXPECT_EQ(reply.changed, 2);
  EXPECT_EQ(Append(letters).found, 0) << "each is replayed once";
  EXPECT_GT(Letters().at(0).replayed_ms, 0);
  const HeldSession held = a_.AcceptOne();
  EXPECT_THAT(Payloads(held), ElementsAre("3", "1", "2"));
  EXPECT_THAT(Sequences(held.messages), ElementsAre(3, 4, 5));
  EXPECT_EQ(held.messages.at(1).replay_of, letters.at(0).id);
  EXPECT_NE(held.messages.at(1).id, letters.at(0).id);
}

TEST_P(LetterContract, OneThatIsRewoundIsInItsPlaceAgainWithThosePassedOverBehindIt) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  for (const char* payload : {"1", "2", "3"}) a_.Send("k", payload);
  const base::Uuid k = Bury("k", 2);
  const std::int64_t fence =
      a_.Call(a_.queues(), &Queues::ListSessions, {.tenant = "default", .queue = "q", .id = k})
          .rows.at(0)
          .session.fence;
  EXPECT_EQ(Rewind(k, 1).kind, Outcome::kDone);
  EXPECT_TRUE(Letters().empty());
  Report late{.kind = Report::Kind::kComplete, .session = k, .fence = fence, .sequence = 1};
  EXPECT_EQ(a_.Tell(late).kind, Outcome::kStale) << "its last holder never had this one";
  const HeldSession held = a_.AcceptOne();
  EXPECT_GT(held.fence, fence + 1);
  EXPECT_THAT(Sequences(held.messages), ElementsAre(1, 2, 3));
}

TEST_P(LetterContract, TheOrderIsLostOnceSomethingBehindIsDone) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  for (const char* payload : {"1", "2", "3"}) a_.Send("k", payload);
  const base::Uuid k = Bury("k", 1);
  EXPECT_EQ(Rewind(k, 2).kind, Outcome::kOrderLost) << "it waits";
  const HeldSession held = a_.AcceptOne();
  a_.Complete(held, 2);
  EXPECT_EQ(Rewind(k, 1).kind, Outcome::kRefused) << "it is held";
  a_.Complete(held, 3);
  EXPECT_EQ(Rewind(k, 1).why, "message 2 was completed or discarded");
}

TEST_P(LetterContract, WhatWasDiscardedOrReplayedCannotBeRewound) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  for (const char* key : {"k", "k", "l", "l"}) a_.Send(key);
  const base::Uuid k = Bury("k", 1);
  EXPECT_EQ(a_.Tell({.kind = Report::Kind::kDiscard, .session = k}).kind, Outcome::kDone);
  const ReportOutcome lost = Rewind(k, 1);
  EXPECT_EQ(lost.kind, Outcome::kOrderLost);
  EXPECT_EQ(lost.why, "message 2 was completed or discarded");
  const base::Uuid l = Bury("l", 1);
  std::vector<Letter> letters = Letters();
  std::erase_if(letters, [&](const Letter& each) { return each.place.session != l; });
  EXPECT_EQ(Append(letters).changed, 1);
  EXPECT_EQ(Rewind(l, 1).why, "message 1 was replayed at the end of its session");
}

TEST_P(LetterContract, ThoseThatArePutAwayAreHistory) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip});
  a_.Send("k");
  const base::Uuid k = Bury("k", 1);
  AgainRequest discard{.what = AgainRequest::What::kDiscard};
  for (const Letter& each : Letters()) discard.places.push_back(each.place);
  EXPECT_EQ(Again(discard).changed, 1);
  EXPECT_TRUE(Letters().empty());
  EXPECT_EQ(Rewind(k, 1).why, "message 1 was completed or discarded");
  const auto page =
      a_.Call(a_.queues(), &Queues::Peek, {.tenant = "default", .queue = "q", .session = k});
  EXPECT_EQ(page.rows.at(0).State(), PeekedState::kDone);
}

TEST_P(LetterContract, WhatASessionHasDoneIsSentOnceMoreInPages) {
  a_.Declare();
  for (const char* payload : {"1", "2", "3", "4"}) a_.Send("k", payload);
  const HeldSession held = a_.AcceptOne();
  Report report = a_.Of(Report::Kind::kComplete, held, 3);
  report.state = "s";
  report.keep = false;
  a_.Tell(report);
  AgainRequest replay{.what = AgainRequest::What::kHistory};
  replay.session = held.id;
  replay.limit = 2;
  replay.clear_state = true;
  AgainReply reply = Again(replay);
  EXPECT_EQ(reply.changed, 2);
  EXPECT_EQ(reply.next, 3);
  replay.from = 3;
  reply = Again(replay);
  EXPECT_EQ(reply.changed, 1);
  EXPECT_EQ(reply.next, 0);
  const HeldSession again = a_.AcceptOne();
  EXPECT_EQ(again.state, std::nullopt);
  EXPECT_THAT(Payloads(again), ElementsAre("4", "1", "2", "3"));
}

TEST_P(LetterContract, ManyAreResumedAtARate) {
  a_.Declare({.max_delivery_count = 1});
  for (const char* key : {"k", "l"}) {
    a_.Send(key);
    a_.Fail(a_.AcceptOne(), 1, "it broke");
  }
  std::vector<Report> reports;
  for (const Letter& each : Letters(Which::kParked))
    reports.push_back({.kind = Report::Kind::kResume,
                       .session = each.place.session,
                       .sequence = each.place.sequence,
                       .delay_ms = static_cast<std::int64_t>(reports.size()) * 500});
  for (const ReportOutcome& each : a_.Reports(reports).outcomes)
    EXPECT_EQ(each.kind, Outcome::kDone);
  EXPECT_EQ(a_.Accept(a_.Ask(2)).sessions.size(), 1u);
  clock().Advance(500);
  EXPECT_EQ(a_.Accept(a_.Ask(2)).sessions.size(), 1u);
}

TEST_P(LetterContract, AStateIsKeptWhileTheHoldLasts) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  const auto find = [&] {
    return a_.Call(a_.queues(), &Queues::FindState,
                   {.tenant = "default", .queue = "q", .session = held.id});
  };
  EXPECT_TRUE(find().found);
  EXPECT_EQ(find().state, std::nullopt);
  Report keep = a_.Of(Report::Kind::kState, held);
  keep.state = "half";
  EXPECT_EQ(a_.Tell(keep).kind, Outcome::kDone);
  EXPECT_EQ(find().state, "half");
  EXPECT_EQ(find().fence, held.fence);
  a_.Release(held);
  keep.state = "late";
  EXPECT_EQ(a_.Tell(keep).kind, Outcome::kStale);
  EXPECT_EQ(find().state, "half");
  EXPECT_EQ(a_.AcceptOne().state, "half");
}

}  // namespace
}  // namespace tenure::queues
