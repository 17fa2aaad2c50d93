#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/messages.hpp"
#include "queues/queues.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {

/// What is wrong on purpose.
enum class QueueBug {
  kNothing,
  kSendWithoutLock,      ///< `next` is read of a session that is not locked
  kNextWithTheLock,      ///< `next` is read by the statement that waits for the lock
  kNumbersOfASequence,   ///< as an identity column gives them, whoever commits first
  kAcceptWithoutLock,    ///< an accept hands out what it saw, and did not lock
  kCompleteWithoutLock,  ///< reports decide on what they saw
  kCompleteByAnyFence,   ///< reports count whoever says them
  kNoGate,               ///< holds are counted beside other accepts
  kHoldsWithTheGate,     ///< they are counted by the statement that waits for the gate
  kOlderCap,             ///< an accept does not wait for whoever changes the cap
  kCountersApart,        ///< the counters are written by another transaction
  kMarkNotRead,          ///< what users' transactions completed is not looked at
  kMarkNotCompared,      ///< their fence is not compared at COMMIT
  kMarkWithoutKeyShare,  ///< it is compared with what another one may raise meanwhile
  kStagedAtTheCall,      ///< a user's message gets its number at the call
  kStagedPassedOver,     ///< those who put them in pass over each other's
  kStagedByReport,       ///< a report puts them in, into a session of an older generation
  kGenerationTooEarly,   ///< a new generation does not wait for the old one
};

/// A user's transaction: sends, or completes beside an effect; takes its time, and commits or rolls
/// back.
struct UsersTurn {
  static constexpr auto kTakenBack = base::FaultKind::kTimeout;

  std::string tenant{};
  std::string key{};
  std::int64_t number = 0;
  base::Uuid session{};  ///< of a completion
  std::int64_t fence = 0;
  std::int64_t sequence = 0;
  bool rolls_back = false;
  bool constrains_now = false;  ///< SET CONSTRAINTS ALL IMMEDIATE, and stays open

  std::size_t bytes() const { return db::BytesOf(tenant, key); }
};
struct UsersTurnReply {};
class UsersTurnHandler final : public db::TypedHandler<UsersTurn, UsersTurnReply> {
 public:
  std::string_view name() const override { return "stepped.queue_user"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// What a report does that puts in what was sent to its session.
struct EnterStaged {
  base::Uuid session{};
  std::size_t bytes() const { return 0; }
};
struct EnterStagedReply {};
class EnterStagedHandler final : public db::TypedHandler<EnterStaged, EnterStagedReply> {
 public:
  std::string_view name() const override { return "stepped.enter_staged"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

struct SeenSession {
  std::int64_t generation = 0;
  std::int64_t next = 0;
  std::int64_t head = 0;
  std::int64_t fence = 0;
  queues::State state = queues::State::kIdle;
  std::vector<std::int64_t> numbers{};  ///< of its messages, in their order
};
/// The tables after a commit.
struct QueuePicture {
  std::int64_t generation = 0;
  std::int64_t cap = 0;
  std::map<std::string, SeenSession> sessions{};  // by id
  std::set<std::int64_t> staged{};
  bool counters_are_right = true;

  std::int64_t Held() const;
  /// Whether a session of an older generation has messages.
  bool HasOlder(std::int64_t generation) const;
};

/// Ordered queues in every order of steps: producers, accepts, reports, drainers, users' own transactions
/// that stay open, a cap and a key rule that change.
class QueueStepRun final : public Frame {
 public:
  explicit QueueStepRun(QueueBug planted);
  std::int64_t handed() const { return handed_; }

 private:
  std::unique_ptr<Server> Boot(Process& process) override;
  queues::Queues& queues(Process& process);
  bool IsStranger(const Process& process) const override;
  bool IsExpected(const base::Fault& fault) const override;
  void Begin() override;
  void Submit(Process& process) override;
  void OnStep(Process& process, std::string_view step) override;
  void OnCommit(Process& process) override;
  void Judge() override;

  // What a process does.

  void Act(Process& process);
  std::string AnyKey() { return std::string(1, static_cast<char>('a' + Random(3))); }
  std::int64_t NextNumber();
  queues::DeclareRequest Declared(std::int64_t cap);
  void Declare(Process& process);
  void Send(Process& process);
  void UserSends(Process& process);
  void UserCompletes(Process& process);
  void Accept(Process& process);
  void Handed(const queues::HeldSession& held);
  void Slice(const std::string& id, const SeenSession& seen,
             const std::vector<queues::Message>& messages);
  /// One that was handed out, lately.
  std::optional<queues::HeldSession> AnyHeld();
  std::int64_t SequenceOf(const queues::HeldSession& held);
  void Tell(Process& process, queues::Report::Kind kind);
  void Told(const queues::Report& report, const queues::ReportOutcome& outcome);

  // The tables after every commit.

  QueuePicture Look();
  void Compare(const std::string& id, const SeenSession& now, const QueuePicture& all);
  bool IsDrained() const;
  void Missing();

  UsersTurnHandler user_;
  EnterStagedHandler enter_staged_;
  const QueueBug planted_;
  std::int64_t handed_ = 0;

  // Of one run.
  std::shared_ptr<const QueuePicture> picture_;
  std::int64_t rule_ = 0;
  std::int64_t commit_ = 0;
  std::int64_t number_ = 0;
  std::map<std::int64_t, std::int64_t> asked_;    // how many commits there had been, by number
  std::map<std::int64_t, std::int64_t> visible_;  // by which commit, by number
  std::array<std::vector<std::int64_t>, kProcesses> committing_;  // of users, by process
  std::set<std::int64_t> answered_;
  std::map<std::string, std::int64_t> given_;    // the latest fence, by session
  std::map<std::string, std::int64_t> done_;     // the latest message that was completed
  std::map<std::string, std::int64_t> effects_;  // the same in users' transactions
  std::vector<queues::HeldSession> held_;
};

}  // namespace tenure::stepped
