#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "db/operation.hpp"
#include "webhooks/reads.hpp"
#include "webhooks/receive.hpp"

namespace tenure::webhooks {

/// Stored events are routed once more, for one bot, by what its file says now.
struct ReplayRequest {
  std::string tenant{};
  std::string bot{};
  std::int64_t since_ms = 0;
  std::int64_t until_ms = std::numeric_limits<std::int64_t>::max();
  std::string event{};  ///< empty: any, here and below
  std::string repository{};
  std::int64_t after = 0;    ///< the number of the last event of the call before
  std::int64_t limit = 100;  ///< of events that are looked at
  bool dry_run = false;

  std::size_t bytes() const { return db::BytesOf(tenant, bot, event, repository); }
};
struct ReplayReply {
  enum class Kind { kDone, kNoBot };
  Kind kind = Kind::kDone;
  std::int64_t found = 0;    ///< events that the bot wants
  std::int64_t changed = 0;  ///< messages that were appended
  std::int64_t after = 0;    ///< for the next call; 0: there is nothing more
};
inline constexpr std::int64_t kMaxReplayed = 100;
/// What is kept of it under an idempotency key: nothing where there is no such bot yet.
std::optional<base::StoredAnswer> ReplayAnswer(const ReplayReply& reply);

/// Appends stored events to a bot's queue, in the order of their numbers: what was answered before
/// another was sent comes before it (Q1 a). They keep their event_id, and are new messages.
///
/// As ReceiveHandler: the bots lock, shared, is taken before the bots are read, so nothing enters a
/// generation that an apply has closed; then messages of topics, then the ordered queues.
class ReplayHandler final : public db::TypedHandler<ReplayRequest, ReplayReply, ReceiveEffect> {
 public:
  ReplayHandler(messages::TopicCache& topics, std::string_view process, wake::Registry& wake,
                SnapshotCache& bots, const FullTopics& full, Probe& probe,
                const ReceiveOptions& options)
      : topics_(topics),
        process_(process),
        wake_(wake),
        bots_(bots),
        full_(full),
        probe_(probe),
        options_(options) {}
  std::string_view name() const override { return "webhooks.replay"; }
  /// It reads bodies, one of which may be large: nobody else waits behind it.
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }

 protected:
  ReceiveEffect WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items, const ReceiveEffect& effect) override {
    effect.Publish(topics_, wake_, bots_, probe_);
  }

 private:
  static ReplayReply Append(db::Transaction& tx, const ReplayRequest& request, const Snapshot& bots,
                            FanOut& fan_out);

  messages::TopicCache& topics_;
  const std::string_view process_;
  wake::Registry& wake_;
  SnapshotCache& bots_;
  const FullTopics& full_;
  Probe& probe_;
  const ReceiveOptions options_;
};

}  // namespace tenure::webhooks
