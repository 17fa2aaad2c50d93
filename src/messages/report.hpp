#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/directory.hpp"
#include "messages/message.hpp"
#include "messages/news.hpp"
#include "messages/probe.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// What was done with a message that somebody had in his hands, for metrics and traces.
struct Finished {
  std::string topic{};
  std::int64_t claimed_ms = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t attempts = 0;
  std::string trace{};
};

/// What became of reports; the news and the clock are with the first of the batch.
struct ReportResult {
  ReportReply reply;
  std::vector<Finished> finished{};  ///< of those that have left the reporter's hands
  std::int64_t now_ms = 0;
  News news{};
  ReportRequest passed_over{};           ///< those with the outcome kPassedOver, to be asked again
  std::vector<Directory::Known> used{};  ///< topics that were not known to be in use
};

/// What to do about a message that some transaction has locked.
enum class Locked {
  kPassOver,  ///< leave it out, so that nobody else waits
  kAwait,     ///< wait a moment for that transaction; then kContended
};

inline db::Access AccessFor(Locked locked) {
  return locked == Locked::kAwait ? db::Access::kImpatientWrite : db::Access::kWrite;
}

/// Acknowledges all that wait to be.
///
/// M2: the delete names the fence of the claim that is under way. Ack, retry and reap of one
/// message meet at its row lock; whoever comes second finds another state, and says so.
///
/// On PostgreSQL one statement for all is enough when they are of one tenant and of topics that
/// this process knows (finish_known.sql); what that did not find is asked for once more, message by
/// message (finish_messages.sql). Each of the two compares tenant, id and fence under the row's
/// lock, so it does not matter which of them finds a message, nor what happens in between. Each
/// locks in ascending order, both together do not: if the same messages are acknowledged in two
/// processes at once of which each knows what the other does not, PostgreSQL may end one of the
/// transactions, and the lane runs it again.
class AckHandler final : public db::TypedHandler<ReportRequest, ReportResult> {
 public:
  AckHandler(std::string_view name, Locked locked, Directory& directory, Probe& probe)
      : name_(name), locked_(locked), directory_(directory), probe_(probe) {}
  std::string_view name() const override { return name_; }
  db::Access access() const override { return AccessFor(locked_); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view name_;
  const Locked locked_;
  Directory& directory_;
  Probe& probe_;
};

/// Everything else that a holder says: retry, dead, untouched, extend. Lock, load, decide in order
/// of arrival, apply.
class ReportHandler final : public db::TypedHandler<ReportRequest, ReportResult> {
 public:
  ReportHandler(std::string_view name, Locked locked, std::string_view process,
                wake::Registry& wake, Probe& probe)
      : name_(name), locked_(locked), process_(process), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return name_; }
  db::Access access() const override { return AccessFor(locked_); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view name_;
  const Locked locked_;
  const std::string_view process_;
  wake::Registry& wake_;
  Probe& probe_;
};

}  // namespace tenure::messages
