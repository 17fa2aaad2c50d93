#include "push/change.hpp"

#include <algorithm>
#include <set>

#include "base/json_writer.hpp"
#include "push/json.hpp"
#include "push/signature.hpp"
#include "push_sql/queries.hpp"

namespace tenure::push {
namespace {

using std::string_view;
using ChangeItem = db::Item<Command, Outcome>;

const SubscriptionKey& ChangedKey(const Command& command) {
  return std::visit([](const auto& one) -> const SubscriptionKey& { return one.key; }, command);
}

/// One change, inside of the batch's transaction.
class Change {
 public:
  Change(db::Transaction& tx, const Vault* vault, ChangeItem& item)
      : tx_(tx), vault_(vault), item_(item), key_(ChangedKey(item.request)) {
    Load();
  }

  Outcome Run() {
    std::visit([this](const auto& command) { Do(command); }, item_.request);
    outcome_.now_ms = now_ms_;
    return std::move(outcome_);
  }

 private:
  void Load() {
    const auto found =
        tx_.Queue(sql::kFindSubscription, string_view(key_.tenant), string_view(key_.name));
    const auto clock = tx_.QueueClock();
    const db::Rows rows = tx_.Take(found);
    now_ms_ = tx_.TakeClock(clock);
    exists_ = !rows.empty();
    if (exists_) now_ = db::ReadAs<Subscription>(rows[0], kSubscriptionColumns);
  }

  void Do(const PutCommand& put) {
    if (put.exists && *put.exists != exists_) {
      outcome_.kind = ChangeKind::kOtherwise;
      return;
    }
    if (put.revision && (!exists_ || now_.revision != *put.revision)) {
      outcome_.kind = ChangeKind::kOtherRevision;
      outcome_.subscription = std::move(now_);
      return;
    }
    if (!exists_ && Create(put)) return;
    Update(put);
  }

  /// False: somebody else has made it since it was looked for; it is locked and loaded now.
  bool Create(const PutCommand& put) {
    Subscription made;
    made.tenant = key_.tenant;
    made.name = key_.name;
    made.id = base::Uuid::V7(now_ms_);
    made.topic = put.topic;
    made.url = put.url;
    made.max_in_flight = put.max_in_flight;
    made.timeout_ms = put.timeout_ms;
    made.format = put.format;
    made.enabled = put.enabled.value_or(true);
    const std::string secret = put.secret.value_or(NewSigningSecret());
    const HeaderValues headers = put.headers.value_or(HeaderValues());
    made.secrets = SealSecrets(*vault_, made.id, {{secret, 0}});
    made.headers = SealHeaders(*vault_, made.id, headers);
    made.header_names = HeaderNames(headers);
    made.revision = 1;
    made.created_ms = made.updated_ms = now_ms_;
    const bool added =
        !tx_.Run(sql::kAddSubscription, string_view(made.tenant), string_view(made.name), made.id,
                 string_view(made.topic), string_view(made.url), made.max_in_flight,
                 made.timeout_ms, static_cast<std::int64_t>(made.format),
                 static_cast<std::int64_t>(made.enabled), string_view(made.header_names),
                 string_view(made.secrets), string_view(made.headers), now_ms_)
             .empty();
    if (!added) {
      Lock();
      Load();
      // What was in the way may be gone again by now.
      if (put.exists || !exists_) outcome_.kind = ChangeKind::kOtherwise;
      return put.exists.has_value() || !exists_;
    }
    if (!TakeTopic(made.topic)) {
      tx_.Queue(sql::kRemoveSubscription, string_view(key_.tenant), string_view(key_.name));
      return true;
    }
    outcome_.kind = ChangeKind::kCreated;
    if (!put.secret) outcome_.secret = secret;
    Record(made, {});
    outcome_.subscription = std::move(made);
    return true;
  }

  void Update(const PutCommand& put) {
    Subscription next = now_;
    next.topic = put.topic;
    next.url = put.url;
    next.max_in_flight = put.max_in_flight;
    next.timeout_ms = put.timeout_ms;
    next.format = put.format;
    next.enabled = put.enabled.value_or(true);
    const bool is_opened = put.enabled.value_or(false) || put.url != now_.url;
    if (is_opened) next.gone_ms = 0;
    // Who says so again, or names another endpoint, wants it to be tried now.
    if (put.url != now_.url || (is_opened && !now_.is_delivered())) next.circuit = {};
    bool same = next.topic == now_.topic && next.url == now_.url &&
                next.max_in_flight == now_.max_in_flight && next.timeout_ms == now_.timeout_ms &&
                next.format == now_.format && next.enabled == now_.enabled &&
                next.gone_ms == now_.gone_ms;
    if (put.secret) same &= !ReplaceSecret(*put.secret, next);
    if (put.headers) same &= !ReplaceHeaders(*put.headers, next);
    if (same) {
      outcome_.kind = ChangeKind::kUnchanged;
      outcome_.subscription = std::move(now_);
      return;
    }
    if (next.topic != now_.topic) {
      if (!TakeTopic(next.topic)) return;
      tx_.Queue(sql::kGiveTopicBack, string_view(key_.tenant), string_view(now_.topic),
                string_view(key_.name));
    }
    Write(next);
    outcome_.kind = ChangeKind::kChanged;
    Record(next, now_);
    outcome_.subscription = std::move(next);
  }

  /// Whether it is another one.
  bool ReplaceSecret(const std::string& secret, Subscription& next) {
    const auto secrets = OpenSecrets(*vault_, now_.id, now_.secrets, now_ms_);
    if (!secrets.empty() && secrets.front().text == secret) return false;
    next.secrets = SealSecrets(*vault_, now_.id, {{secret, 0}});
    return true;
  }
  bool ReplaceHeaders(const HeaderValues& headers, Subscription& next) {
    if (OpenHeaders(*vault_, now_.id, now_.headers) == headers) return false;
    next.headers = SealHeaders(*vault_, now_.id, headers);
    next.header_names = HeaderNames(headers);
    return true;
  }

  void Do(const RemoveCommand&) {
    if (!exists_) return;
    tx_.Queue(sql::kRemoveSubscription, string_view(key_.tenant), string_view(key_.name));
    tx_.Queue(sql::kGiveTopicBack, string_view(key_.tenant), string_view(now_.topic),
              string_view(key_.name));
    outcome_.kind = ChangeKind::kRemoved;
    Record(now_, {});
  }

  void Do(const RotateCommand& rotate) {
    if (!exists_) return;
    Subscription next = now_;
    const std::string secret = rotate.secret.value_or(NewSigningSecret());
    std::vector<ActiveSecret> secrets = OpenSecrets(*vault_, now_.id, now_.secrets, now_ms_);
    if (secrets.empty()) {  // those that must go on signing would be lost
      outcome_.kind = ChangeKind::kSealed;
      return;
    }
    for (ActiveSecret& old : secrets)
      if (old.until_ms == 0) old.until_ms = now_ms_ + kOldSecretMs;
    std::erase_if(secrets, [&](const ActiveSecret& old) { return old.text == secret; });
    secrets.insert(secrets.begin(), {secret, 0});
    if (secrets.size() > kMaxSecrets) secrets.resize(kMaxSecrets);
    next.secrets = SealSecrets(*vault_, now_.id, secrets);
    Write(next);
    outcome_.kind = ChangeKind::kChanged;
    outcome_.secret = secret;
    Record(next, {});
    outcome_.subscription = std::move(next);
  }

  void Do(const DisableCommand& disable) {
    if (!exists_ || now_.id != disable.id) return;
    outcome_.kind = ChangeKind::kUnchanged;
    if (now_.gone_ms > 0 || now_.revision != disable.revision) return;
    Subscription next = now_;
    next.gone_ms = now_ms_;
    Write(next);
    outcome_.kind = ChangeKind::kChanged;
    Record(next, {});
    outcome_.subscription = std::move(next);
  }

  void Do(const ResealCommand&) {
    if (!exists_) return;
    Subscription next = now_;
    if (!Reseal(*vault_, next)) {
      outcome_.kind = ChangeKind::kSealed;
      return;
    }
    outcome_.kind = ChangeKind::kUnchanged;
    if (next.secrets != now_.secrets || next.headers != now_.headers) Store(next);
  }

  bool TakeTopic(const std::string& topic) {
    if (!tx_.Run(sql::kTakeTopic, string_view(key_.tenant), string_view(topic),
                 string_view(key_.name))
             .empty())
      return true;
    outcome_.kind = ChangeKind::kTopicTaken;
    const db::Rows rows = tx_.Run(sql::kWhoseTopic, string_view(key_.tenant), string_view(topic));
    if (!rows.empty()) outcome_.taken_by = rows[0].Text(0);
    return false;
  }

  void Lock() {
    const std::vector<std::string_view> tenant{key_.tenant};
    const std::vector<std::string_view> name{key_.name};
    tx_.Queue(sql::kLockSubscriptions, tenant, name);
  }

  void Write(Subscription& next) {
    ++next.revision;
    next.updated_ms = now_ms_;
    Store(next);
  }
  void Store(const Subscription& next) {
    tx_.Queue(sql::kWriteSubscription, string_view(key_.tenant), string_view(key_.name),
              string_view(next.topic), string_view(next.url), next.max_in_flight, next.timeout_ms,
              static_cast<std::int64_t>(next.format), static_cast<std::int64_t>(next.enabled),
              next.gone_ms, string_view(next.header_names), string_view(next.secrets),
              string_view(next.headers), next.revision, next.updated_ms, next.circuit.failures,
              next.circuit.next_ms);
  }

  /// What it is, and what it was before where that is something else; never a secret.
  void Record(const Subscription& subscription, const std::optional<Subscription>& before) {
    item_.Did({key_.name, AuditDetail(subscription, before)});
  }

  db::Transaction& tx_;
  const Vault* vault_;
  ChangeItem& item_;
  const SubscriptionKey& key_;
  bool exists_ = false;
  Subscription now_{};
  std::int64_t now_ms_ = 0;
  Outcome outcome_{};
};

}  // namespace

std::size_t ChangeHandler::KeyHash(const Command& command) const {
  const SubscriptionKey& key = ChangedKey(command);
  return std::hash<std::string>()(key.name) * 31 + std::hash<std::string>()(key.tenant);
}

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  std::set<SubscriptionKey> keys;
  for (const auto* item : items) keys.insert(ChangedKey(item->request));
  tx.Queue(sql::kLockSubscriptions, db::Columns(keys, kSubscriptionKeyColumns));
  for (auto* item : items) item->reply = Change(tx, vault_, *item).Run();
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items)
    if (item->reply->kind != ChangeKind::kUnchanged) return wake_.SignalAll(kChangedKey);
}

std::optional<base::StoredAnswer> RotateAnswer(const Outcome& outcome) {
  if (outcome.kind != ChangeKind::kChanged) return std::nullopt;
  return base::StoredAnswer{200, R"({"secret":null})", ""};
}

}  // namespace tenure::push
