#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/operation.hpp"
#include "messages/look.hpp"
#include "messages/message.hpp"
#include "messages/news.hpp"
#include "messages/topic.hpp"
#include "messages/watch.hpp"
#include "wake/registry.hpp"

/// What operators change: timers that are not wanted any more, dead letters, topics.
namespace tenure::messages {

struct CancelRequest {
  std::string tenant{};
  base::Uuid id{};
};
enum class CancelOutcome { kCancelled, kFired, kUnknown };
struct CancelReply {
  CancelOutcome outcome = CancelOutcome::kUnknown;
};
/// Takes back timers that have not fired. It meets whoever promotes it at the row's lock: one of
/// the two finds that the other was first.
class CancelHandler final : public db::TypedHandler<CancelRequest, CancelReply> {
 public:
  std::string_view name() const override { return "messages.cancel"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

struct DeadChangeRequest {
  enum class Kind { kRedrive, kDiscard };
  Kind kind = Kind::kRedrive;
  DeadFilter filter{};
  std::int64_t limit = 1'000;  ///< of one transaction
  std::int64_t delay_ms = 0;   ///< kRedrive: before the first becomes ready
  std::int64_t rate = 0;       ///< kRedrive: so many a second; 0: all at once
  bool dry_run = false;        ///< only say which
};
struct DeadChangeReply {
  DeadChangeRequest::Kind kind = DeadChangeRequest::Kind::kRedrive;
  bool dry_run = false;
  std::vector<base::Uuid> ids{};
  bool has_more = false;
  News news{};
};
/// Puts dead letters back into their lines, with their attempts forgotten, or away for good. A
/// redriven one keeps its id and its fence, and stays on record as such. One that killed its
/// workers stays a suspect.
class DeadChangeHandler final : public db::TypedHandler<DeadChangeRequest, DeadChangeReply> {
 public:
  DeadChangeHandler(std::string_view process, wake::Registry& wake)
      : process_(process), wake_(wake) {}
  std::string_view name() const override { return "messages.dead_change"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view process_;
  wake::Registry& wake_;
};

/// A value: set it; -1: as the default is.
struct TopicChange {
  std::string tenant{};
  std::string name{};
  std::optional<std::int64_t> max_attempts{};
  std::optional<std::int64_t> max_crashes{};
  std::optional<std::int64_t> lease_ms{};
  std::optional<std::int64_t> retention_ms{};
  std::optional<std::int64_t> backoff_ms{};
  std::optional<std::int64_t> backoff_max_ms{};
  std::optional<std::int64_t> dedup_ms{};
  std::optional<bool> paused{};
  std::string paused_reason{};
};
struct TopicChangeReply {
  News news{};  ///< of a topic that goes on: what waited in it is ready
};
/// Makes the topic where there is none: a pause may come before the first message. The row is
/// locked before it is changed, so what goes on record as old values is what was there.
class TopicChangeHandler final : public db::TypedHandler<TopicChange, TopicChangeReply> {
 public:
  TopicChangeHandler(std::string_view process, wake::Registry& wake)
      : process_(process), wake_(wake) {}
  std::string_view name() const override { return "messages.topic_change"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view process_;
  wake::Registry& wake_;
};

/// Notes that somebody asks for these topics: a message that is ready and nobody asks for can say
/// so.
struct TouchRequest {
  std::vector<TopicKey> topics{};
};
struct TouchReply {};
class TouchHandler final : public db::TypedHandler<TouchRequest, TouchReply> {
 public:
  std::string_view name() const override { return "messages.touch"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::messages
