#pragma once

#include <optional>
#include <string>
#include <variant>

#include "db/operation.hpp"
#include "push/subscription.hpp"
#include "wake/registry.hpp"

namespace tenure::push {

/// Signalled when a subscription was changed: whoever delivers looks again.
inline constexpr const char* kChangedKey = "push";

/// As the request says; what is left out is nothing.
struct PutCommand {
  SubscriptionKey key{};
  std::string topic{};
  std::string url{};
  std::int64_t max_in_flight = kDefaultInFlight;
  std::int64_t timeout_ms = kDefaultTimeoutMs;
  Format format = Format::kBinary;
  std::optional<bool> enabled{};
  std::optional<std::string> secret{};     ///< none: as it is, or a new one
  std::optional<HeaderValues> headers{};   ///< none: as they are
  std::optional<std::int64_t> revision{};  ///< only this one is changed
  /// Whether whoever asks believes that it is there: the act that goes on record follows from it.
  std::optional<bool> exists{};

  std::size_t bytes() const { return key.bytes() + db::BytesOf(topic, url) + 8'192; }
};
struct RemoveCommand {
  SubscriptionKey key{};
  std::size_t bytes() const { return key.bytes(); }
};
struct RotateCommand {
  SubscriptionKey key{};
  std::optional<std::string> secret{};
  std::size_t bytes() const { return key.bytes() + 256; }
};
/// The endpoint said that it is gone. Whoever has changed the subscription since then knows better.
struct DisableCommand {
  SubscriptionKey key{};
  base::Uuid id{};
  std::int64_t revision = 0;
  std::size_t bytes() const { return key.bytes(); }
};
/// Seals it by the first key, if it is not. That changes nothing for anybody: no revision, no record.
struct ResealCommand {
  SubscriptionKey key{};
  std::size_t bytes() const { return key.bytes(); }
};
using Command =
    std::variant<PutCommand, RemoveCommand, RotateCommand, DisableCommand, ResealCommand>;

enum class ChangeKind {
  kCreated,
  kChanged,
  kUnchanged,
  kRemoved,
  kUnknown,        ///< there is none of this name
  kOtherRevision,  ///< it is not as the caller believes
  kOtherwise,      ///< `exists` is wrong (by now)
  kTopicTaken,     ///< another subscription has the topic
  kSealed,         ///< its secrets were sealed by a key that is not there
};
struct Outcome {
  ChangeKind kind = ChangeKind::kUnknown;
  Subscription subscription{};  ///< as it is now
  std::string secret{};         ///< to be shown, this once
  std::string taken_by{};       ///< kTopicTaken
  std::int64_t now_ms = 0;
};

/// Changes subscriptions, one after the other: locks of all that are there in ascending order, then for
/// each what is there, then the clock.
///
/// A topic has at most one subscription: the row in subscription_topics is made or given back in the
/// transaction that makes, changes or removes the subscription, under the subscription's lock.
class ChangeHandler final : public db::TypedHandler<Command, Outcome> {
 public:
  /// `vault` null: PUT and rotate are refused before they get here.
  ChangeHandler(const Vault* vault, wake::Registry& wake) : vault_(vault), wake_(wake) {}
  std::string_view name() const override { return "push.change"; }
  std::size_t KeyHash(const Command& command) const override;

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const Vault* vault_;
  wake::Registry& wake_;
};

/// What is kept of an answer to a rotation; the secret is not.
std::optional<base::StoredAnswer> RotateAnswer(const Outcome& outcome);

}  // namespace tenure::push
