#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/uuid.hpp"
#include "messages/dead_letters.hpp"
#include "messages/message.hpp"
#include "messages/rules.hpp"
#include "messages/topics/topics.hpp"
#include "messages/waiting/timers.hpp"
#include "store/tables.hpp"

namespace tenure::sim {

/// Where a message is (messages/README.md, invariants 1 and 2).
/// kAside: a user's transaction sent it to a topic that has no row yet (messages/enqueue/sort.hpp).
enum class Place { kAbsent, kWaiting, kReady, kClaimed, kDead, kFinished, kAside };

/// A message as the tables have it.
struct MessageRow {
  Place place = Place::kAbsent;
  std::int64_t number = 0;  ///< its payload: which enqueue it came from
  std::string topic{};
  std::int64_t pos = 0;
  std::int64_t due_ms = 0;
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;
  std::int64_t worker = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;

  friend bool operator==(const MessageRow&, const MessageRow&) = default;
};

struct ClaimRow {
  std::int64_t started = 0;
  std::vector<messages::Handed> messages{};
};

/// Everything that is on record about messages after one commit.
struct Picture {
  std::int64_t now_ms = 0;  ///< the store's clock at that commit
  std::map<base::Uuid, MessageRow> messages{};
  std::vector<ClaimRow> claims{};
  std::map<std::int64_t, std::int64_t> workers{};  ///< until when each lives
  std::set<std::string> paused{};                  ///< topics
  std::string twice{};                             ///< a message that is in two places
};

/// What the tables say about the messages of a tenant, read past all of Tenure's code.
Picture ReadPicture(store::Tables& tables, const std::string& tenant, std::int64_t now_ms);

/// The history of all messages of a run, and the judge of M1, M2 and M3.
///
/// It is told what is asked for before it is asked, looks at the tables after every commit, and
/// hears every answer. Each message's way from one commit to the next must be one that the contract
/// allows for what was carried out, at that time, and that somebody asked for; each answer must be
/// what the tables say. It shares no code with the rules that it checks.
///
///  (a) A message appears once for each enqueue, and leaves by an acknowledgement, a burial, a
///      cancellation or a discard that somebody asked for; it is never in two places.
///  (b) Each claim has a higher fence than all before it, and takes a message that nobody has.
///  (c) Whoever reports under a fence changes a message only while it is claimed under that very
///      fence, is told `done` once, and is refused only when it is not.
///  (d) Nothing becomes ready before it is due; a cancelled timer never fires.
///  (e) One message for a dedup key within its window.
///  (f) Crashes are counted for messages that were begun, attempts for failures that were reported;
///      a suspect is handed out alone; nothing is taken back from who still holds it.
///  (h) Nothing is handed out of a topic that is paused.
///
/// REQUIRES: every commit and every answer is noted, in the order in which they happened.
class MessageBook {
 public:
  using Claim = std::pair<base::Uuid, std::int64_t>;  ///< a message and the fence it is held under
  struct Limits {
    std::int64_t max_attempts = 0;
    std::int64_t max_crashes = 0;
    std::int64_t dedup_ms = 0;  ///< at the least, from commit to commit
  };
  MessageBook(Limits limits, std::function<void(const std::string&)> complain)
      : limits_(limits), complain_(std::move(complain)) {}

  // What is asked for.
  void AskEnqueue(std::int64_t number, const std::string& dedup_key);
  void AskReport(messages::Disposition disposition, const Claim& claim);
  void AskCancel(const base::Uuid& id) { cancels_.insert(id); }
  /// Somebody who waited has gone: the process gives back what nobody was told of.
  void Leave() { somebody_left_ = true; }
  void LeaveWorker(std::int64_t worker) { left_workers_.insert(worker); }

  /// A transaction that ran these queries was committed; `picture` is what is there now.
  void Committed(const std::set<std::string, std::less<>>& queries, Picture picture,
                 std::int64_t boot_ms);

  // What was answered, and what there was to be seen while that was decided: the picture before the
  // transaction, and one after each commit up to its own. An answer must be true of one of them.
  using Seen = std::span<const std::shared_ptr<const Picture>>;
  void Enqueued(std::int64_t number, const messages::EnqueuedMessage& answer);
  /// It was rolled back.
  void NotEnqueued(std::int64_t number);
  void Claimed(Seen seen, const messages::ClaimRequest& request, const messages::ClaimReply& reply);
  /// `least_ms`: how much longer an extension lasts at the least.
  void Reported(Seen seen, messages::Disposition disposition, const Claim& claim,
                messages::SettleOutcome outcome, std::int64_t least_ms);
  void Cancelled(Seen seen, const base::Uuid& id, messages::CancelOutcome outcome);
  void Beaten(Seen seen, std::int64_t worker, bool alive);
  void Paused(Seen seen, const std::string& topic, bool paused);

  const Picture& picture() const { return *picture_; }
  const std::shared_ptr<const Picture>& latest() const { return picture_; }
  /// Since when (boot time) something that these topics' consumers may have has been ready.
  std::optional<std::int64_t> ReadySince(const std::vector<std::string>& topics) const;
  std::string NameOf(const base::Uuid& id) const;
  std::int64_t claims() const { return claims_; }
  std::int64_t finished() const { return static_cast<std::int64_t>(finished_.size()); }

 private:
  enum class Kind {
    kOther,
    kEnqueue,
    kClaim,
    kAck,
    kReport,
    kReap,
    kPromote,
    kCancel,
    kDead,
    kSort
  };
  struct Move {
    Kind kind;
    base::Uuid id;
    MessageRow from;
    MessageRow to;
    Claim claim() const { return {id, from.fence}; }
  };

  static Kind KindOf(const std::set<std::string, std::less<>>& queries);
  void Judge(const Move& move, const Picture& next);
  void JudgeArrival(const Move& move, const Picture& next);
  void JudgeClaim(const Move& move, const Picture& next);
  void JudgeReturn(const Move& move, const Picture& next);
  void JudgeBurial(const Move& move, const Picture& next);
  void JudgeReaped(const Move& move, const Picture& next);
  void JudgeEnd(const Move& move);
  bool IsBegun(const Claim& claim) const;
  bool Asked(messages::Disposition disposition, const Claim& claim) const;
  void Refused(Seen seen, const Claim& claim, messages::SettleOutcome outcome);
  void Expect(bool holds, const std::string& otherwise) const {
    if (!holds) complain_(otherwise);
  }

  struct Key {
    std::optional<base::Uuid> id{};
    std::int64_t made_ms = 0;
  };

  const Limits limits_;
  const std::function<void(const std::string&)> complain_;
  std::shared_ptr<const Picture> picture_ = std::make_shared<const Picture>();
  std::map<std::int64_t, std::string> numbers_;  // every enqueue, with its dedup key
  std::map<std::int64_t, base::Uuid> made_;      // what each brought
  std::map<base::Uuid, std::int64_t> number_of_;
  std::map<std::string, Key> keys_;
  std::map<messages::Disposition, std::set<Claim>> asked_;
  std::set<std::int64_t> rolled_back_;
  std::set<base::Uuid> cancels_;
  std::set<base::Uuid> cancelled_;
  bool somebody_left_ = false;
  std::set<std::int64_t> left_workers_;
  std::set<Claim> told_;                    // whoever claimed it knows
  std::set<Claim> finished_;                // by an acknowledgement that was committed
  std::set<Claim> told_done_;               // and answered
  std::map<Claim, std::int64_t> promised_;  // until when, for those without a heartbeat
  std::map<base::Uuid, std::int64_t> last_fence_;
  std::map<base::Uuid, std::int64_t> ready_boot_ms_;
  std::int64_t claims_ = 0;
};

}  // namespace tenure::sim
