#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "sessions/changes.hpp"

namespace tenure::sessions {

struct Options {
  std::int64_t duration_ms = 2'592'000'000;    ///< of a new session; the whole ensemble's
  std::int64_t retention_ms = 34'560'000'000;  ///< how long ended sessions are kept
};

struct FindRequest {
  base::Uuid id;
};
struct FindReply {
  std::optional<Session> session;
  std::int64_t now_ms = 0;
};
void FindSessions(db::Transaction& tx, db::Items<FindRequest, FindReply> items);

struct ListRequest {
  std::optional<base::Uuid> user = {};
  std::optional<base::Uuid> tenant = {};
  std::optional<base::Uuid> capacity = {};
  std::optional<bool> active = {};
  std::optional<base::Uuid> after = {};  ///< the last id of the page before
  bool newest_first = false;
  std::int64_t limit = 100;
};
using ListReply = db::Page<Session>;
db::Transaction::Pending QueueSessions(db::Transaction& tx, const ListRequest& request,
                                       std::int64_t rows, std::int64_t now_ms);

std::int64_t CountActiveSessions(db::Transaction& tx, std::int64_t now_ms);
/// Marks a batch of overdue sessions.
db::Swept Expire(db::Transaction& tx, const db::Nothing&, std::int64_t now_ms);
struct RemoveRequest {
  std::int64_t retention_ms = 0;
};
/// Deletes a batch of sessions that ended longer ago than the retention period and whose usage is
/// settled, and keys that are left without.
db::Swept Remove(db::Transaction& tx, const RemoveRequest& request, std::int64_t now_ms);

// The bodies of /sessions, camelCase as the document that they come from (json.cpp).

/// What the client of a PUT sees, and what is kept under an idempotency key; nothing when another
/// tenant's session stands in the way: that is refused, and may have ended when it is asked again.
std::optional<base::StoredAnswer> PutAnswer(const PutReply& reply);
std::string SessionJson(const Session& session, std::int64_t now_ms);
std::string ListJson(const ListReply& reply);

/// One active session per user and capacity: what the routes, the tasks and the tests call.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Sessions {
  db::Store& store_;
  const Options options_;
  Probe probe_;
  db::Sweep<Remove> remove_{store_, "sessions.remove", db::LaneName::Shared(0)};

 public:
  Sessions(db::Store& store, const Options& options, telemetry::Registry& metrics)
      : store_(store), options_(options), probe_(metrics) {}

  db::Method<PutHandler> Put{store_, options_.duration_ms, probe_};
  /// The same under an idempotency key: after a lost reply the caller gets the first answer again.
  db::Method<db::IdempotentHandler<PutRequest, PutReply>> PutOnce{
      store_, "sessions.put_once", Put.handler(), PutAnswer, db::LaneName::UserKeys()};
  db::Look<FindSessions> Find{store_, "sessions.find"};
  db::List<QueueSessions, ReadSession> List{store_, "sessions.list"};
  /// Ends a session of which the key was found before: its key decides the lane.
  db::Method<EndHandler> End{store_, probe_};

  // One bounded batch of each background job. The caller repeats while `has_more`.
  db::Sweep<Expire> ExpireSome{store_, "sessions.expire", db::LaneName::Shared(0)};
  void RemoveSome(base::Caller caller, base::UniqueFunction<db::Result<db::Swept>> done) {
    remove_({options_.retention_ms}, std::move(caller), std::move(done));
  }
  db::Count<CountActiveSessions> CountActive{store_, "sessions.count"};

  Probe& probe() { return probe_; }
};

}  // namespace tenure::sessions
