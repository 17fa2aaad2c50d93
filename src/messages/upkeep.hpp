#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "db/operation.hpp"
#include "messages/news.hpp"
#include "messages/probe.hpp"
#include "wake/registry.hpp"

/// What keeps messages moving. Every process runs these, at any time; each statement is safe beside
/// itself.
namespace tenure::messages {

struct PromoteRequest {};
struct PromoteReply {
  std::int64_t rows = 0;
  bool has_more = false;
  std::int64_t now_ms = 0;
  std::optional<std::int64_t> next_due_ms{};  ///< of what still waits
  std::int64_t late_ms = 0;                   ///< the latest of them
  News news{};
};

/// Makes messages ready whose time has come: timers, retries.
///
/// M3: a timer is the message, so nothing is moved that could be lost or doubled; one update gives
/// it its place in the line. Two processes that promote at once pass over each other's rows.
class PromoteHandler final : public db::TypedHandler<PromoteRequest, PromoteReply> {
 public:
  PromoteHandler(std::string_view process, wake::Registry& wake, Probe& probe)
      : process_(process), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "messages.promote"; }
  bool reads() const override { return true; }

 protected:
  /// Most of the time nothing is due, and nothing is written.
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view process_;
  wake::Registry& wake_;
  Probe& probe_;
};

struct ReapRequest {
  /// False: only what workers with a heartbeat left is taken back. Claims without one ended while
  /// nobody could prolong them: the store was away, or nobody served.
  bool leases = true;
};
struct ReapReply {
  std::int64_t returned = 0;  ///< messages that are ready again, nothing counted
  std::int64_t crashed = 0;   ///< ready again, with one crash more
  std::int64_t dead = 0;      ///< crashes spent
  bool has_more = false;
  News news{};
};

/// Takes back what was claimed and is not held any more.
///
/// Who holds: a worker with a heartbeat holds everything that it claimed for as long as its row is
/// there and was not given up for dead; anybody else holds each message until its lease_until_ms.
/// A worker is given up under the lock of its row, which its heartbeat needs too: either the
/// heartbeat comes first and it lives, or it is told that it was given up.
///
/// Revocation is the moment of the commit: until then the old holder may still finish the message
/// (nobody else has it), afterwards its fence matches nothing (M2).
///
/// Lock order: workers, claims, messages; all SKIP LOCKED, so it waits for nobody. What it could
/// not lock it looks at again a second later.
class ReapHandler final : public db::TypedHandler<ReapRequest, ReapReply> {
 public:
  ReapHandler(std::string_view process, wake::Registry& wake, Probe& probe)
      : process_(process), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "messages.reap"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view process_;
  wake::Registry& wake_;
  Probe& probe_;
};

struct TidyRequest {
  std::int64_t redriven_ms = 90LL * 24 * 3'600'000;  ///< how long a redriven dead letter is kept
};
struct TidyReply {
  std::int64_t rows = 0;
  bool has_more = false;
};

/// One bounded batch of forgetting: finished messages, dedup keys, redriven dead letters, owners
/// and waiters of long ago.
class TidyHandler final : public db::TypedHandler<TidyRequest, TidyReply> {
 public:
  std::string_view name() const override { return "messages.tidy"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::messages
