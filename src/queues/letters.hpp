#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "queues/effects.hpp"
#include "queues/message.hpp"
#include "wake/registry.hpp"

/// Messages that could not be processed: parked ones, which are in the way of their sessions, and
/// those that were passed over. Operators look at them, and send messages once more.
namespace tenure::queues {

struct LetterFilter {
  enum class Which { kBoth, kParked, kSkipped };
  std::string tenant{};
  std::string queue{};
  Which which = Which::kBoth;
  std::optional<DeathReason> reason{};
  std::string error_class{};  ///< empty: any
  std::optional<base::Uuid> session{};
  std::string entity{};  ///< empty: any
  std::int64_t since_ms = 0;

  std::size_t bytes() const { return db::BytesOf(tenant, queue, error_class, entity); }
};

/// Where a message lies.
struct Place {
  base::Uuid session{};
  std::int64_t sequence = 0;
};

struct Letter {
  std::int64_t dead_ms = 0;
  Place place{};
  bool parked = false;
  std::string key{};
  std::string name{};
  std::string entity{};
  std::int64_t generation = 0;
  base::Uuid id{};
  DeathReason reason = DeathReason::kNone;
  std::int64_t attempts = 0;
  std::string error{};
  std::string error_class{};
  std::int64_t replayed_ms = 0;  ///< 0: it was not
  std::int64_t followers = 0;    ///< that wait behind it
  std::int64_t bytes = 0;
};
struct LettersRequest {
  LetterFilter filter{};
  std::int64_t after_ms = 0;
  Place after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return filter.bytes(); }
};
db::Transaction::Pending QueueLetters(db::Transaction& tx, const LettersRequest& request,
                                      std::int64_t rows);
Letter ReadLetter(const db::Rows::Row& row);

/// Letters that have their cause in common.
struct LetterSum {
  DeathReason reason = DeathReason::kNone;
  std::string error_class{};
  std::int64_t letters = 0;
  std::int64_t sessions = 0;
  std::int64_t oldest_ms = 0;
  std::int64_t newest_ms = 0;
};
struct LetterSumsRequest {
  LetterFilter filter{};  ///< tenant, queue, which
  std::int64_t limit = 1'000;

  std::size_t bytes() const { return filter.bytes(); }
};
db::Transaction::Pending QueueLetterSums(db::Transaction& tx, const LetterSumsRequest& request,
                                         std::int64_t rows);
LetterSum ReadLetterSum(const db::Rows::Row& row);

/// So many bytes are sent once more by one transaction, or one message.
inline constexpr std::int64_t kMaxAgainBytes = 8 << 20;

/// Messages that are sent once more, to the ends of their sessions, with new ids and as they were
/// otherwise; or letters that are put away.
struct AgainRequest {
  enum class What { kLetters, kHistory, kDiscard };
  What what = What::kLetters;
  std::string tenant{};
  std::string queue{};
  std::string reason{};         ///< for the record
  std::vector<Place> places{};  ///< kLetters, kDiscard: each once
  // kHistory
  base::Uuid session{};
  std::int64_t from = 1;
  std::int64_t to = 0;
  std::int64_t limit = 1'000;
  bool clear_state = false;
  bool dry_run = false;

  std::size_t bytes() const { return db::BytesOf(tenant, queue, reason, places); }
};
struct AgainReply {
  SendReply::Kind kind = SendReply::Kind::kSent;
  std::int64_t found = 0;
  std::int64_t changed = 0;
  std::int64_t next = 0;  ///< kHistory: where it goes on; 0: that was all
};
class AgainHandler final : public ChangingHandler<AgainRequest, AgainReply> {
 public:
  using ChangingHandler::ChangingHandler;
  std::string_view name() const override { return "queues.again"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }

 protected:
  Effects WriteItems(db::Transaction& tx, Items items) override;
};

/// What a consumer keeps with a session.
struct StateRequest {
  std::string tenant{};
  std::string queue{};
  base::Uuid session{};

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
struct StateReply {
  bool found = false;  ///< the session
  std::optional<std::string> state{};
  std::int64_t fence = 0;
  std::int64_t written_ms = 0;
};
void FindStates(db::Transaction& tx, db::Items<StateRequest, StateReply> items);

}  // namespace tenure::queues
