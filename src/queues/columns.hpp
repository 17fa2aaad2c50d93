#pragma once

#include "db/columns.hpp"
#include "queues/session.hpp"

namespace tenure::queues {

// As the queries have them.

inline constexpr auto kKeyColumns =
    db::Members(&SessionRow::id, &SessionRow::queue, &SessionRow::generation, &SessionRow::key,
                &SessionRow::name, &SessionRow::entity, &SessionRow::share);
/// What changes.
inline constexpr auto kStandColumns = db::Members(
    &SessionRow::next, &SessionRow::head, &SessionRow::fence, &SessionRow::state,
    &SessionRow::consumer, &SessionRow::lease_until_ms, &SessionRow::lease_ms, &SessionRow::turn_ms,
    &SessionRow::turn_count, &SessionRow::handed, &SessionRow::attempts, &SessionRow::position,
    &SessionRow::due_ms, &SessionRow::not_before_ms, &SessionRow::reserved_for,
    &SessionRow::reserved_until_ms, &SessionRow::parked_ms, &SessionRow::reason, &SessionRow::error,
    &SessionRow::error_class, &SessionRow::accept_id, &SessionRow::ended, &SessionRow::ttl_free,
    &SessionRow::created_ms, &SessionRow::activity_ms);
inline constexpr auto kSessionColumns = db::Members(kKeyColumns, kStandColumns);
inline constexpr std::size_t kSessionColumnCount = std::tuple_size_v<decltype(kSessionColumns)>;

inline constexpr auto kSettingColumns = db::Members(
    &QueueSettings::scope, &QueueSettings::max_concurrent_sessions,
    &QueueSettings::session_timeout_ms, &QueueSettings::idle_timeout_ms,
    &QueueSettings::max_duration_ms, &QueueSettings::max_messages,
    &QueueSettings::max_delivery_count, &QueueSettings::backoff_ms, &QueueSettings::backoff_max_ms,
    &QueueSettings::on_dead_letter, &QueueSettings::ttl_ms, &QueueSettings::depth_threshold,
    &QueueSettings::max_bytes, &QueueSettings::dedup_ms, &QueueSettings::history_ms);
inline constexpr auto kQueueColumns =
    db::Members(&QueueRow::id, &QueueRow::tenant, &QueueRow::name, &QueueRow::state,
                &QueueRow::generation, &QueueRow::oldest, &QueueRow::key_rule, &QueueRow::paused_ms,
                &QueueRow::paused_reason, &QueueRow::floor_fence, &QueueRow::floor_sequence,
                db::Inside(&QueueRow::settings, kSettingColumns));
inline constexpr std::size_t kQueueColumnCount = std::tuple_size_v<decltype(kQueueColumns)>;

// Reading. What stands in the store may have been written by hand: a row that makes no sense is a
// fault of whoever asked for it, and nothing is computed with it.

SessionRow ReadSession(const db::Rows::Row& row, std::size_t first = 0);
QueueRow ReadQueue(const db::Rows::Row& row, std::size_t first = 0);

}  // namespace tenure::queues
