#include "queues/tidy.hpp"

#include <algorithm>
#include <map>

#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

constexpr std::int64_t kWalkedAtOnce = 200;
constexpr std::int64_t kForgottenOfASession = 100;
constexpr std::int64_t kMostQueues = 10'000;

struct OldMessage {
  base::Uuid session{};
  std::int64_t sequence = 0;
};

TidyReply TidyPart(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) {
  TidyReply reply;
  const std::int64_t unused_since_ms = now_ms - request.session_retention_ms;
  std::vector<base::Uuid> walked, unused;
  const db::Rows rows = tx.Run(sql::kWalkSessions, request.after, kWalkedAtOnce);
  for (const auto row : rows) {
    walked.push_back(row.Uuid(0));
    if (row.Int(2) != 0 && row.Int(3) <= unused_since_ms) unused.push_back(row.Uuid(0));
  }
  if (walked.empty()) return reply;
  std::vector<OldMessage> old;
  std::map<base::Uuid, std::int64_t> of_session;
  bool is_cut = false;
  const db::Rows found = tx.Run(sql::kFindOldMessages, walked, now_ms, kForgottenOfASession);
  for (const auto row : found) {
    const base::Uuid& session = walked[row.ordinal()];
    old.push_back({session, row.Int(0)});
    is_cut |= ++of_session[session] == kForgottenOfASession;
  }
  tx.Queue(sql::kForgetMessages, db::Columns(old, &OldMessage::session, &OldMessage::sequence));
  reply.messages = std::ssize(old);
  // The same part once more, if one of its sessions has more.
  reply.last = is_cut ? request.after : walked.back();
  reply.has_more = is_cut || std::ssize(walked) == kWalkedAtOnce;

  std::vector<base::Uuid> locked;
  const db::Rows seized = tx.Run(sql::kSeizeSessions, unused);
  for (const auto row : seized) locked.push_back(unused[row.ordinal()]);
  struct Floor {
    std::int64_t fence = 0;
    std::int64_t sequence = 0;
  };
  std::map<std::int64_t, Floor> floors;
  if (!locked.empty()) {
    const db::Rows gone = tx.Run(sql::kForgetSessions, locked, unused_since_ms);
    for (const auto row : gone) {
      Floor& floor = floors[row.Int(0)];
      floor.fence = std::max(floor.fence, row.Int(1));
      floor.sequence = std::max(floor.sequence, row.Int(2));
      ++reply.sessions;
    }
  }
  for (const auto& [queue, floor] : floors)
    tx.Queue(sql::kRaiseFloors, queue, floor.fence, floor.sequence);
  return reply;
}

}  // namespace

void TidySessions(db::Transaction& tx, db::Items<TidyRequest, TidyReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  items.front()->reply = TidyPart(tx, items.front()->request, now_ms);
}

db::Swept ForgetKeys(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  return db::Swept()
      .Add(tx.Run(sql::kForgetDedupKeys, now_ms, db::kSweepRows).size())
      .Add(tx.Run(sql::kForgetLetters, now_ms - request.letters_ms, db::kSweepRows).size());
}

db::Swept DropDrained(db::Transaction& tx, const DropRequest&, std::int64_t) {
  tx.Queue(sql::kLockBots);
  tx.Queue(sql::kSettleGenerations);
  return {static_cast<std::int64_t>(tx.Run(sql::kDropDrained).size()), false};
}

DrainsReply FindDrains(db::Transaction& tx, std::int64_t) {
  DrainsReply reply;
  for (const auto row : tx.Run(sql::kFindDrains, kMostQueues))
    reply.queues.push_back({std::string(row.Text(0)), std::string(row.Text(1))});
  return reply;
}

FiguresReply CountQueues(db::Transaction& tx, std::int64_t now_ms) {
  FiguresReply reply{{}, now_ms};
  const db::Rows rows = tx.Run(sql::kCountQueues, kMostQueues);
  for (const auto row : rows) {
    using Figures = QueueFigures;
    reply.queues.push_back(db::ReadAs<Figures>(
        row, &Figures::name, &Figures::scope, &Figures::max_sessions, &Figures::depth_threshold,
        &Figures::messages, &Figures::bytes, &Figures::ready, &Figures::held, &Figures::parked,
        &Figures::oldest_ms));
  }
  return reply;
}

}  // namespace tenure::queues
