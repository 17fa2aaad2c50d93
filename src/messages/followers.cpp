#include "messages/followers.hpp"

#include <functional>

#include "messages_sql/queries.hpp"

namespace tenure::messages {

void MakeReady(db::Transaction& tx, const std::vector<base::Uuid>& ids, std::int64_t now_ms,
               Notifications& notifications) {
  for (const auto row : tx.Run(sql::kMakeReady, db::Columns(ids, std::identity()), now_ms))
    notifications.Add(row.Text(0), row.Text(1), now_ms, now_ms);
}

std::vector<base::Uuid> Withdraw(db::Transaction& tx, const std::vector<base::Uuid>& ids) {
  std::vector<base::Uuid> withdrawn;
  for (const auto row : tx.Run(sql::kWithdrawMessages, db::Columns(ids, std::identity())))
    withdrawn.push_back(row.Uuid(0));
  return withdrawn;
}

}  // namespace tenure::messages
