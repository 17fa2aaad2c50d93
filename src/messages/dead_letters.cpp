#include "messages/dead_letters.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/json_writer.hpp"
#include "db/behind.hpp"
#include "db/keys.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::size_t kMostNamed = 100;

/// The dead letters that were changed, and the topic of each.
struct Letters {
  std::vector<base::Uuid> ids{};
  std::vector<std::string> topics{};
  std::vector<base::Uuid> followed{};
};

Letters LockLetters(db::Transaction& tx, const DeadChangeRequest& request) {
  const DeadFilter& filter = request.filter;
  Letters letters;
  const auto take = [&](const db::Rows& rows) {
    for (const auto row : rows) {
      letters.ids.push_back(row.Uuid(0));
      letters.topics.emplace_back(row.Text(1));
      if (row.Int(2) != 0) letters.followed.push_back(row.Uuid(0));
    }
  };
  if (filter.ids.empty()) {
    const std::int64_t reason = filter.reason ? static_cast<std::int64_t>(*filter.reason) : 0;
    take(tx.Run(sql::kLockDead, std::string_view(filter.tenant), std::string_view(filter.topic),
                reason, request.limit));
  } else {
    const db::UniqueKeys ids(filter.ids);
    take(tx.Run(sql::kLockDeadIds, db::Columns(ids, std::identity()),
                std::string_view(filter.tenant)));
  }
  return letters;
}

/// The object is the topic, when all are of one. Of many letters the first hundred are named: so
/// much fits, and the others are found by the same filter. REQUIRES: there is one.
db::AuditEvent AuditEventOf(const DeadChangeRequest& request, const Letters& letters) {
  const std::string& topic = letters.topics.front();
  const bool of_one_topic =
      std::ranges::all_of(letters.topics, [&](const std::string& each) { return each == topic; });
  db::AuditEvent event{of_one_topic ? topic : "", ""};
  base::JsonWriter json(event.detail);
  json.BeginObject().Field("letters", letters.ids.size());
  if (request.filter.ids.empty()) {
    if (!request.filter.topic.empty()) json.Field("topic", std::string_view(request.filter.topic));
    if (request.filter.reason) json.Field("death_reason", ToText(*request.filter.reason));
  }
  if (request.delay_ms > 0) json.Field("delay_ms", request.delay_ms);
  if (request.rate > 0) json.Field("rate", request.rate);
  json.Key("ids").BeginArray();
  for (std::size_t i = 0; i < std::min(letters.ids.size(), kMostNamed); ++i)
    json.Value(letters.ids[i]);
  json.EndArray().EndObject();
  return event;
}

}  // namespace

db::Transaction::Pending QueueDead(db::Transaction& tx, const DeadRequest& request,
                                   std::int64_t rows) {
  const DeadFilter& filter = request.filter;
  const std::int64_t reason = filter.reason ? static_cast<std::int64_t>(*filter.reason) : 0;
  return tx.Queue(request.newest_first ? sql::kListDeadDescending : sql::kListDead,
                  std::string_view(filter.tenant), std::string_view(filter.topic), reason,
                  db::Behind(request.after, request.newest_first), rows);
}

DeadLetter ReadDeadLetter(const db::Rows::Row& row) {
  using Letter = DeadLetter;
  return db::ReadAs<Letter>(row, &Letter::id, &Letter::topic, &Letter::reason, &Letter::died_ms,
                            &Letter::enqueued_ms, &Letter::attempts, &Letter::crashes,
                            &Letter::error, &Letter::correlation_id, &Letter::payload_bytes);
}

/// One after the other: two operators who redrive the same letters must not both find them.
Notifications DeadChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  Notifications notifications;
  std::int64_t now_ms = 0;
  for (auto* item : items) {
    const DeadChangeRequest& request = item->request;
    const Letters letters = LockLetters(tx, request);
    now_ms = tx.TakeClock(tx.QueueClock());
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
        notifications.Add(request.filter.tenant, letters.topics[i], due.back(), now_ms);
      }
      tx.Queue(sql::kRedriveDead, letters.ids, due, now_ms);
      followers_.Revived(tx, letters.followed);
    }
    if (item->actor() && !request.dry_run && !letters.ids.empty())
      item->Did(AuditEventOf(request, letters));
    item->reply = std::move(reply);
  }
  notifications.Tell(tx, process_, now_ms);
  return notifications;
}

}  // namespace tenure::messages
