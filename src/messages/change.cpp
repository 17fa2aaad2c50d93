#include "messages/change.hpp"

#include <utility>

#include "messages_sql/queries.hpp"

namespace tenure::messages {

MessageColumns::MessageColumns(const std::set<MessageRef>& messages) {
  for (const auto& [id, tenant] : messages) {
    ids.push_back(id);
    tenants.push_back(tenant);
  }
}

std::map<MessageRef, Held> LockMessages(db::Transaction& tx, const MessageColumns& wanted) {
  std::map<MessageRef, Held> held;
  for (const auto row : tx.Run(sql::kLockMessages, wanted.ids, wanted.tenants)) {
    Held& message = held[wanted.At(row.ordinal())];
    message.fence = row.Int(0);
    message.lease_until_ms = row.Int(1);
    message.worker = row.Int(2);
    message.line = row.Int(3);
    message.attempts = row.Int(4);
    message.crashes = row.Int(5);
    message.claimed_ms = row.Int(6);
    message.enqueued_ms = row.Int(7);
    message.trace = row.Text(8);
    message.tenant = row.Text(9);
    message.topic_name = row.Text(10);
    message.topic = ReadTopic(row, 11);
  }
  return held;
}

void Changes::PutBack(const base::Uuid& id, const Held& message, std::int64_t due_ms,
                      std::string error) {
  back_.push_back({id, &message, due_ms, std::move(error)});
}

void Changes::Bury(const base::Uuid& id, const Held& message, DeathReason reason,
                   std::string error) {
  buried_.push_back({id, &message, reason, std::move(error)});
}

void Changes::Extend(const base::Uuid& id, std::int64_t lease_until_ms) {
  extended_.push_back(id);
  until_.push_back(lease_until_ms);
}

void Changes::Apply(db::Transaction& tx, std::int64_t now_ms) {
  {
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> lines, due, attempts, crashes;
    std::vector<std::string_view> errors;
    for (const Back& back : back_) {
      const Held& message = *back.message;
      ids.push_back(back.id);
      lines.push_back(LineOf(PriorityOf(message.line), message.crashes));
      due.push_back(back.due_ms);
      attempts.push_back(message.attempts);
      crashes.push_back(message.crashes);
      errors.push_back(back.error);
      news_.Add(message.tenant, message.topic_name, back.due_ms, now_ms);
    }
    tx.Queue(sql::kPutBack, ids, lines, due, attempts, crashes, errors, now_ms);
  }
  {
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> reasons, attempts, crashes;
    std::vector<std::string_view> tenants, errors;
    for (const Buried& buried : buried_) {
      ids.push_back(buried.id);
      tenants.push_back(buried.message->tenant);
      reasons.push_back(static_cast<std::int64_t>(buried.reason));
      attempts.push_back(buried.message->attempts);
      crashes.push_back(buried.message->crashes);
      errors.push_back(buried.error);
    }
    tx.Queue(sql::kBuryMessages, ids, tenants, reasons, attempts, crashes, errors, now_ms);
  }
  tx.Queue(sql::kExtendMessages, extended_, until_);
  news_.Tell(tx, process_, now_ms);
}

}  // namespace tenure::messages
