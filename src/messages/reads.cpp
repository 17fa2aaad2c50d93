#include "messages/reads.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "messages/rules.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

void ReadLive(const db::Rows::Row& row, MessageView& view) {
  view.topic = row.Text(0);
  view.priority = PriorityOf(row.Int(1));
  using View = MessageView;
  db::ReadInto(view, row, 3, &View::fence, &View::attempts, &View::crashes, &View::enqueued_ms,
               &View::due_ms, &View::claimed_ms, &View::lease_until_ms, &View::owner,
               &View::worker_until_ms, &View::error, &View::correlation_id, &View::headers,
               &View::trace, &View::kind, &View::payload, &View::paused_ms, &View::paused_reason,
               &View::asked_ms, &View::ahead);
  view.state = view.lease_until_ms > 0 ? MessageState::kClaimed
               : row.Int(2) > 0        ? MessageState::kReady
                                       : MessageState::kWaiting;
}

void ReadDead(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDead;
  using View = MessageView;
  db::ReadInto(view, row, 0, &View::topic, &View::priority, &View::fence, &View::attempts,
               &View::crashes, &View::enqueued_ms, &View::ended_ms, &View::reason, &View::error,
               &View::correlation_id, &View::headers, &View::trace, &View::kind, &View::payload);
}

void ReadFinished(const db::Rows::Row& row, MessageView& view) {
  view.state = MessageState::kDone;
  using View = MessageView;
  db::ReadInto(view, row, 0, &View::topic, &View::fence, &View::attempts, &View::crashes,
               &View::enqueued_ms, &View::ended_ms, &View::correlation_id, &View::output);
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

db::Transaction::Pending QueueMessages(db::Transaction& tx, const MessagesRequest& request) {
  using Which = MessagesRequest::Which;
  const MessagesRequest::Place behind = request.behind.value_or(MessagesRequest::Place());
  const std::int64_t rows = request.limit + 1;
  const std::string_view tenant = request.tenant;
  const std::string_view topic = request.topic;
  if (request.which == Which::kWaiting)
    return tx.Queue(sql::kListWaiting, tenant, topic, behind.due_ms, behind.id, rows, kMostLooked);
  // Where every place is shown, no more than a page has to be looked at.
  const std::int64_t looked = request.which == Which::kInLine ? rows : kMostLooked;
  return tx.Queue(sql::kListInLine, tenant, topic, static_cast<std::int64_t>(request.which),
                  behind.line, behind.pos, behind.id, rows, looked);
}

ListedMessage ReadListed(const db::Rows::Row& row) {
  ListedMessage message;
  using Place = MessagesRequest::Place;
  db::ReadInto(message.place, row, 1, &Place::line, &Place::pos, &Place::due_ms, &Place::id);
  using Listed = ListedMessage;
  db::ReadInto(message, row, 5, &Listed::topic, &Listed::fence, &Listed::attempts, &Listed::crashes,
               &Listed::enqueued_ms, &Listed::claimed_ms, &Listed::lease_until_ms, &Listed::owner,
               &Listed::worker_until_ms, &Listed::payload_bytes, &Listed::error,
               &Listed::correlation_id);
  return message;
}

MessagesReply TakeMessages(const db::Rows& rows, const MessagesRequest& request) {
  MessagesReply reply;
  reply.which = request.which;
  std::optional<MessagesRequest::Place> end;  // of what was looked at
  for (const auto row : rows) {
    ListedMessage message = ReadListed(row);
    if (row.Int(0) == 0)
      end = message.place;
    else
      reply.rows.push_back(std::move(message));
  }
  if (std::ssize(reply.rows) > request.limit) {
    reply.rows.pop_back();
    end = reply.rows.back().place;
  }
  reply.next = end;
  return reply;
}

}  // namespace

std::string CursorOf(const MessagesRequest::Place& place, MessagesRequest::Which which) {
  if (which == MessagesRequest::Which::kWaiting)
    return fmt::format("{}-{}", place.due_ms, place.id.ToString());
  return fmt::format("{}-{}-{}", place.line, place.pos, place.id.ToString());
}

std::optional<MessagesRequest::Place> ParseCursor(std::string_view text,
                                                  MessagesRequest::Which which) {
  const std::size_t dash = text.find('-');
  const auto first = ParseNumber(text.substr(0, dash));
  if (!first || dash == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(dash + 1);
  MessagesRequest::Place place;
  if (which == MessagesRequest::Which::kWaiting) {
    place.due_ms = *first;
  } else {
    const std::size_t next = rest.find('-');
    const auto pos = ParseNumber(rest.substr(0, next));
    if (!pos || next == std::string_view::npos) return std::nullopt;
    place.line = *first;
    place.pos = *pos;
    rest.remove_prefix(next + 1);
  }
  const auto id = base::Uuid::Parse(rest);
  if (!id) return std::nullopt;
  place.id = *id;
  return place;
}

MessageState ListedMessage::state() const {
  if (lease_until_ms > 0) return MessageState::kClaimed;
  return place.pos > 0 ? MessageState::kReady : MessageState::kWaiting;
}

void ListMessages(db::Transaction& tx, db::Items<MessagesRequest, MessagesReply> items) {
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items) pages.push_back(QueueMessages(tx, item->request));
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i]->reply = TakeMessages(tx.Take(pages[i]), items[i]->request);
}

std::string_view ToText(MessageState state) {
  switch (state) {
    case MessageState::kWaiting:
      return "waiting";
    case MessageState::kReady:
      return "ready";
    case MessageState::kClaimed:
      return "claimed";
    case MessageState::kDead:
      return "dead";
    case MessageState::kDone:
      return "done";
  }
  return "ready";
}

void FindMessages(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const std::string_view tenant = item->request.tenant;
    const auto live = tx.Queue(sql::kFindMessage, item->request.id, tenant);
    const auto dead = tx.Queue(sql::kFindDead, item->request.id, tenant);
    const auto finished = tx.Queue(sql::kFindFinished, item->request.id, tenant);
    MessageView view;
    view.id = item->request.id;
    view.now_ms = now_ms;
    bool found = false;
    const auto take = [&](db::Transaction::Pending pending, auto read) {
      for (const auto row : tx.Take(pending)) {
        if (!found) read(row, view);
        found = true;
      }
    };
    take(live, ReadLive);
    take(dead, ReadDead);
    take(finished, ReadFinished);
    item->reply = FindReply{};
    if (found) item->reply->message = std::move(view);
  }
}

CountsReply CountMessages(db::Transaction& tx, std::int64_t now_ms) {
  CountsReply reply;
  for (const auto row : tx.Run(sql::kCountTopics, kMaxCounted)) {
    const bool unhandled = row.Int(2) + kUnhandledMs < now_ms;
    reply.topics.push_back({std::string(row.Text(0)), std::string(row.Text(1)), row.Int(3),
                            now_ms - row.Int(4), unhandled});
  }
  for (const auto row : tx.Run(sql::kCountRest, kMaxCounted)) {
    reply.waiting = row.Int(0);
    reply.dead = row.Int(1);
  }
  using Dead = CountsReply::DeadTopic;
  for (const auto row : tx.Run(sql::kCountDeadTopics, kMaxDeadNamed))
    reply.dead_topics.push_back(db::ReadAs<Dead>(row, &Dead::tenant, &Dead::name, &Dead::dead,
                                                 &Dead::first_ms, &Dead::last_ms));
  using Paused = CountsReply::PausedTopic;
  for (const auto row : tx.Run(sql::kListPaused))
    reply.paused.push_back(db::ReadAs<Paused>(row, &Paused::tenant, &Paused::name,
                                              &Paused::since_ms, &Paused::reason));
  reply.now_ms = now_ms;
  return reply;
}

}  // namespace tenure::messages
