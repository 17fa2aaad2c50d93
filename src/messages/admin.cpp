#include "messages/admin.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "messages/change.hpp"
#include "messages/deeds.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {

void CancelHandler::WriteItems(db::Transaction& tx, Items items) {
  std::set<MessageRef> wanted;
  for (const auto* item : items) wanted.insert({item->request.id, item->request.tenant});
  const MessageColumns columns(wanted);
  std::map<MessageRef, CancelOutcome> outcomes;
  for (const auto row : tx.Run(sql::kCancelTimers, columns.ids, columns.tenants))
    outcomes[columns.At(row.ordinal())] = CancelOutcome::kCancelled;
  for (const auto row : tx.Run(sql::kLoadFates, columns.ids, columns.tenants))
    outcomes[columns.At(row.ordinal())] = CancelOutcome::kFired;
  for (auto* item : items) {
    const auto found = outcomes.find({item->request.id, item->request.tenant});
    item->reply = CancelReply{found == outcomes.end() ? CancelOutcome::kUnknown : found->second};
  }
}

namespace {

Letters LockLetters(db::Transaction& tx, const DeadChangeRequest& request) {
  const DeadFilter& filter = request.filter;
  Letters letters;
  const auto take = [&](const db::Rows& rows) {
    for (const auto row : rows) {
      letters.ids.push_back(row.Uuid(0));
      letters.topics.emplace_back(row.Text(1));
    }
  };
  if (filter.ids.empty()) {
    const std::int64_t reason = filter.reason ? static_cast<std::int64_t>(*filter.reason) : 0;
    take(tx.Run(sql::kLockDead, std::string_view(filter.tenant), std::string_view(filter.topic),
                reason, request.limit));
  } else {
    const std::set<base::Uuid> unique(filter.ids.begin(), filter.ids.end());
    take(tx.Run(sql::kLockDeadIds, std::vector<base::Uuid>(unique.begin(), unique.end()),
                std::string_view(filter.tenant)));
  }
  return letters;
}

}  // namespace

/// One after the other: two operators who redrive the same letters must not both find them.
void DeadChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const DeadChangeRequest& request = item->request;
    const Letters letters = LockLetters(tx, request);
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    DeadChangeReply reply;
    reply.kind = request.kind;
    reply.dry_run = request.dry_run;
    reply.ids = letters.ids;
    reply.has_more = request.filter.ids.empty() &&
                     static_cast<std::int64_t>(letters.ids.size()) == request.limit;
    if (!request.dry_run && request.kind == DeadChangeRequest::Kind::kDiscard) {
      tx.Queue(sql::kDiscardDead, letters.ids);
    } else if (!request.dry_run) {
      std::vector<std::int64_t> due;
      for (std::size_t i = 0; i < letters.ids.size(); ++i) {
        const auto nth = static_cast<std::int64_t>(i);
        due.push_back(now_ms + request.delay_ms +
                      (request.rate > 0 ? nth * 1'000 / request.rate : 0));
        reply.news.Add(request.filter.tenant, letters.topics[i], due.back(), now_ms);
      }
      tx.Queue(sql::kRedriveDead, letters.ids, due, now_ms);
      reply.news.Tell(tx, process_, now_ms);
    }
    if (item->actor() && !request.dry_run && !letters.ids.empty())
      item->Did(DeedOf(request, letters));
    item->reply = std::move(reply);
  }
}

void DeadChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) item->reply->news.Signal(wake_);
}

void TopicChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  // One statement each: two changes of one topic in a batch are applied one after the other.
  for (auto* item : items) {
    const TopicChange& change = item->request;
    const auto column = [](const std::optional<std::int64_t>& value) {
      return std::vector<std::int64_t>{value.value_or(-2)};
    };
    const std::vector<std::string_view> tenant{change.tenant};
    const std::vector<std::string_view> name{change.name};
    tx.Queue(sql::kOpenTopics, tenant, name, std::vector<std::int64_t>{0});
    const db::Rows before = tx.Run(sql::kLockTopics, tenant, name);
    const std::vector<std::int64_t> paused{!change.paused ? -1 : *change.paused ? now_ms : 0};
    tx.Queue(sql::kWriteTopics, tenant, name, column(change.max_attempts),
             column(change.max_crashes), column(change.lease_ms), column(change.retention_ms),
             column(change.backoff_ms), column(change.backoff_max_ms), column(change.dedup_ms),
             paused, std::vector<std::string_view>{change.paused_reason});
    if (item->actor() && !before.empty())
      if (auto deed = DeedOf(change, ReadTopic(before[0]))) item->Did(*std::move(deed));
    TopicChangeReply reply;
    if (change.paused == false) {
      reply.news.Add(change.tenant, change.name, now_ms, now_ms);
      reply.news.Tell(tx, process_, now_ms);
    }
    item->reply = std::move(reply);
  }
}

void TopicChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) item->reply->news.Signal(wake_);
}

void TouchHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::set<TopicKey> topics;
  for (auto* item : items) {
    topics.insert(item->request.topics.begin(), item->request.topics.end());
    item->reply = TouchReply{};
  }
  std::vector<std::string_view> tenants, names;
  for (const auto& [tenant, name] : topics) {
    tenants.push_back(tenant);
    names.push_back(name);
  }
  tx.Queue(sql::kTouchTopics, tenants, names, now_ms);
}

}  // namespace tenure::messages
