#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "audit/refusals.hpp"
#include "base/clock.hpp"
#include "db/method.hpp"

namespace tenure::audit {

/// One row of the audit.
struct Entry {
  std::int64_t sequence = 0;
  std::int64_t at_ms = 0;
  std::string tenant{};  ///< of who did it; empty: a command on the store itself
  std::string person{};  ///< empty: not known
  std::string address{};
  std::string request_id{};
  std::string act{};
  std::string object{};
  std::string detail{};  ///< a JSON object
};

/// Where an entry stands in the list. Times come first: people ask for times, and a number is taken
/// before its transaction commits.
struct Position {
  std::int64_t at_ms = 0;
  std::int64_t sequence = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};
/// "1766311200000-42": a cursor. Empty when it is none.
std::string ToText(const Position& position);
std::optional<Position> ParsePosition(std::string_view text);

struct ListRequest {
  static constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();

  // Empty: any.
  std::string tenant{};
  std::string person{};
  std::string act{};
  std::string object{};
  std::int64_t from_ms = 0;
  std::int64_t to_ms = kForEver;     ///< not itself
  std::optional<Position> before{};  ///< the last one of the page before
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, person, act, object); }
};
using ListReply = db::Page<Entry>;
/// Pages of the audit, newest first. Each list goes by the index of the filter that leaves least;
/// what else was asked for is compared row by row.
db::Transaction::Pending QueueEntries(db::Transaction& tx, const ListRequest& request,
                                      std::int64_t rows);
Entry ReadEntry(const db::Rows::Row& row);

struct NoteRequest {
  db::AuditEvent event{};

  std::size_t bytes() const { return db::BytesOf(event.object, event.detail); }
};
struct NoteReply {};
/// Changes nothing but the audit: for what happened and was no change (a refusal). The row is the
/// recorder's, as every other.
void WriteNotes(db::Transaction& tx, db::Items<NoteRequest, NoteReply> items);

struct ForgetRequest {
  std::int64_t retention_ms = 0;
};
/// The retention's way, and the only one that the store lets through: raises the bound before which
/// entries may be missing, then removes a batch of those before it.
db::Swept Forget(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms);

/// The audit of a store: what the routes, the tasks and the tests call. Acts get there by
/// themselves (recorder.hpp).
///
/// Any number of processes may run this on one store: nothing is remembered here but refusals that
/// are summed up.
class Audit {
  Probe probe_;
  db::Write<WriteNotes> note_;
  Refusals refusals_;

 public:
  Audit(db::Store& store, const base::Clock& clock, telemetry::Registry& metrics);

  db::List<QueueEntries, ReadEntry> List;
  /// What happened and was no change.
  void Note(base::Actor actor, db::AuditEvent event, db::Write<WriteNotes>::Callback done);
  /// One bounded batch. The caller repeats while `has_more`.
  db::Sweep<Forget> ForgetSome;

  Refusals& refusals() { return refusals_; }
  Probe& probe() { return probe_; }
};

}  // namespace tenure::audit
