#include "messages/dead_groups.hpp"

#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

DeadGroup ReadGroup(const db::Rows::Row& row) {
  using Group = DeadGroup;
  return db::ReadAs<Group>(row, &Group::topic, &Group::reason, &Group::error, &Group::count,
                           &Group::first_ms, &Group::last_ms, &Group::id);
}

}  // namespace

void GroupDeadLetters(db::Transaction& tx, db::Items<GroupsRequest, GroupsReply> items) {
  for (auto* item : items) {
    const std::string_view tenant = item->request.tenant, topic = item->request.topic;
    GroupsReply reply;
    const db::Rows rows = topic.empty()
                              ? tx.Run(sql::kGroupDead, tenant, kMaxGrouped)
                              : tx.Run(sql::kGroupDeadOfTopic, tenant, topic, kMaxGrouped);
    for (const auto row : rows) {
      reply.groups.push_back(ReadGroup(row));
      reply.capped = row.Int(7) >= kMaxGrouped;  // the same in each row
    }
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::messages
