#pragma once

#include "app/background.hpp"
#include "app/server_tasks.hpp"
#include "audit/audit.hpp"
#include "config/settings.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "inbox/inbox.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "tasks/tasks.hpp"
#include "usage/usage.hpp"

namespace tenure::app {

/// Expiry and retention of sessions.
void AddSessionTasks(ServerTasks& tasks, sessions::Sessions& sessions,
                     const config::SessionSettings& settings);

/// Forgets answers that were kept for idempotency keys.
void AddAnswerTask(ServerTasks& tasks, db::Store& store, db::ForgetHandler& forget);

/// Forgets past grants, dead tickets and unused names.
void AddLeaseTask(ServerTasks& tasks, leases::Leases& leases,
                  const config::LeaseSettings& settings);

/// Forgets inbound messages after their retention.
void AddInboxTask(ServerTasks& tasks, inbox::Inbox& inbox, const config::InboxSettings& settings);

/// Forgets finished messages, dedup keys and redriven dead letters.
void AddMessageTask(ServerTasks& tasks, messages::Messages& messages);

/// Closes usage windows and puts them into chunks; notes what is settled.
void AddUsageTasks(ServerTasks& tasks, usage::Usage& usage);

/// Forgets entries of the audit after their retention; without one they are kept for ever.
void AddAuditTask(ServerTasks& tasks, audit::Audit& audit, const config::AuditSettings& settings);

/// Puts the refusals that this process summed up into the audit.
void AddRefusalSums(Background& background, audit::Audit& audit);

/// What each process counts for its own gauges.
void AddGauges(Background& background, sessions::Sessions& sessions, leases::Leases& leases,
               inbox::Inbox& inbox, std::int64_t interval_ms);
/// These more often: they are alerts.
void AddTaskGauges(Background& background, tasks::Tasks& tasks);
void AddMessageGauges(Background& background, messages::Messages& messages);
void AddUsageGauges(Background& background, usage::Usage& usage);

}  // namespace tenure::app
