#include "messages/enqueue/sort.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "db/columns.hpp"
#include "messages/rules.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kSortBatch = 500;
struct Unsorted {
  bool has_unkeyed = false;
  std::vector<std::int64_t> keyed{};
};
Unsorted FindUnsorted(db::Transaction& tx, std::int64_t keyed_after) {
  Unsorted found;
  for (const auto row :
       tx.Run(sql::kFindUnsorted, keyed_after, static_cast<std::int64_t>(kKeyedAtOnce)))
    if (row.Int(1) == 0)
      found.has_unkeyed = true;
    else
      found.keyed.push_back(row.Int(0));
  return found;
}

std::int64_t KeyedAfter(SortHandler::Items items) {
  std::int64_t after = 0;
  for (const auto* item : items) after = std::max(after, item->request.keyed_after);
  return after;
}

}  // namespace

void SortHandler::ReadItems(db::Transaction& tx, Items items) {
  const Unsorted found = FindUnsorted(tx, KeyedAfter(items));
  if (found.has_unkeyed) return;
  for (auto* item : items)
    if (!item->request.keyed) item->reply = SortReply{.keyed = found.keyed};
}

Notifications SortHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<std::int64_t> keyed{0};  // nobody's: an empty column would mean that nothing is asked
  for (const auto* item : items)
    if (item->request.keyed) keyed.push_back(*item->request.keyed);
  const db::Rows rows = tx.Run(sql::kLockUnsorted, keyed, kSortBatch);
  std::map<std::pair<std::string, std::string>, std::int64_t> lines;  // by tenant and topic: bits
  std::vector<std::int64_t> sequence;
  for (const auto row : rows) {
    sequence.push_back(row.Int(0));
    lines[{std::string(row.Text(1)), std::string(row.Text(2))}] |= LinesOf(PriorityOf(row.Int(3)));
  }
  using Opened = decltype(lines)::value_type;
  tx.Queue(
      sql::kOpenTopics,
      db::Columns(
          lines, [](const Opened& each) { return std::string_view(each.first.first); },
          [](const Opened& each) { return std::string_view(each.first.second); }, &Opened::second));
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  tx.Queue(sql::kSortMessages, sequence, now_ms);
  Notifications notifications;
  for (const auto row : rows) notifications.Add(row.Text(1), row.Text(2), row.Int(4), now_ms);
  notifications.Tell(tx, process_, now_ms);
  Unsorted left = FindUnsorted(tx, KeyedAfter(items));
  // What is left of a batch that was not full was in other hands, or came just now.
  const bool is_full = static_cast<std::int64_t>(sequence.size()) == kSortBatch;
  const SortReply reply{.has_more = left.has_unkeyed && is_full,
                        .has_locked = left.has_unkeyed && !is_full,
                        .keyed = std::move(left.keyed)};
  for (auto* item : items) item->reply = reply;
  return notifications;
}

}  // namespace tenure::messages
