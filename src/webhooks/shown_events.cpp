#include "webhooks/shown_events.hpp"

#include <map>

#include "base/json_text.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks/rules/form.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

constexpr auto kShownColumns =
    db::Members(kEventColumns, &EventRow::received_ms, &EventRow::number);

struct Shown {
  EventRow event{};
  std::string payload{};  ///< JSON; empty: it is too large, or gone
};

Shown ReadShown(const db::Rows::Row& row) {
  constexpr std::size_t kBody = std::tuple_size_v<decltype(kShownColumns)>;
  Shown shown{db::ReadAs<EventRow>(row, kShownColumns), {}};
  if (row.IsNull(kBody)) return shown;
  shown.payload = row.Text(kBody);
  if (shown.event.content_type.find("form") != std::string::npos)
    shown.payload = rules::PayloadOfForm(shown.payload).value_or("");
  if (!base::IsJson(shown.payload)) shown.payload.clear();  // written past us
  return shown;
}

}  // namespace

void ShownEvents::Show(db::Transaction& tx, const std::vector<queues::Message*>& messages) const {
  std::map<base::Uuid, Shown> events;
  for (const queues::Message* message : messages) events.try_emplace(*message->event_id);
  std::vector<base::Uuid> ids;
  for (const auto& [id, shown] : events) ids.push_back(id);
  for (const auto row : tx.Run(sql::kShowEvents, ids, inline_payload_bytes_))
    events.at(ids[row.ordinal()]) = ReadShown(row);
  for (queues::Message* message : messages) {
    const Shown& shown = events.at(*message->event_id);
    if (shown.event.event_id != *message->event_id) continue;
    message->envelope = EnvelopeJson(
        shown.event,
        {.bot = {}, .copy = message->copy, .ordered = true, .processed_ms = message->enqueued_ms},
        shown.payload);
    message->event = {.type = shown.event.event,
                      .action = shown.event.action,
                      .delivery_id = shown.event.delivery_id,
                      .payload_url = shown.payload.empty() ? PayloadUrl(shown.event) : "",
                      .payload_bytes = static_cast<std::int64_t>(shown.payload.size())};
  }
}

}  // namespace tenure::webhooks
