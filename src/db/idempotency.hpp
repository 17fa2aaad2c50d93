#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/caller.hpp"
#include "db/operation.hpp"
#include "db/sweep.hpp"

namespace tenure::db {

/// How long answers are kept.
inline constexpr std::int64_t kAnswerRetentionMs = 24 * 3'600'000;

/// The bookkeeping of a batch of names, each once: which were claimed by this transaction, and what
/// was answered to the others.
struct ClaimedKeys {
  struct Before {
    std::string body_hash;
    base::StoredAnswer answer;
  };
  std::vector<bool> claimed;                   // by index of the name
  std::vector<std::optional<Before>> earlier;  // for those that were not
};
ClaimedKeys ClaimAnswers(Transaction& tx, const std::vector<base::IdempotencyKey>& keys);
/// What is to be kept under a name; nothing: asking again may help.
struct NamedAnswer {
  std::string name;
  std::optional<base::StoredAnswer> answer;
};
/// Keeps the answers with the effects, and gives the names of those without one back.
void KeepAnswers(Transaction& tx, std::span<const NamedAnswer> answers);

template <class Request>
struct IdempotentRequest {
  Request request;
  base::IdempotencyKey key;

  std::size_t bytes() const { return BytesOf(request, key); }
};

/// The operations that a batch carried out for its requests, and what they brought.
struct CarriedOut {
  std::vector<std::unique_ptr<Operation>> owned;
  std::vector<Operation*> operations;
  std::unique_ptr<BatchResult> result;
};

/// Carries out the operations of another handler at most once per key: the answer is kept in the
/// effect's own transaction, so after a lost reply the same request gets the same answer. The names
/// are claimed before the inner handler takes its locks, in ascending order: a transaction that
/// waits for a name holds no lock of a capability. What the inner operation did for the record is
/// the outer one's audit event; a repetition does nothing, so it leaves no second one.
///
/// `Keep` makes the answer that is kept of a Reply, or nothing where asking again may help: then
/// nothing is kept, and the next request with this key is carried out anew. The lane is the inner
/// handler's, unless another one is named.
template <class Request, class Reply>
class IdempotentHandler final
    : public TypedHandler<IdempotentRequest<Request>, base::IdempotentReply<Reply>, CarriedOut> {
 public:
  using Inner = ItemHandler<Request, Reply>;
  using InnerItem = Item<Request, Reply>;
  using Keep = std::optional<base::StoredAnswer> (*)(const Reply&);
  using Items =
      typename ItemHandler<IdempotentRequest<Request>, base::IdempotentReply<Reply>>::Items;

  IdempotentHandler(std::string_view name, Inner& inner, Keep keep)
      : IdempotentHandler(name, inner, keep, inner.lane()) {}
  IdempotentHandler(std::string_view name, Inner& inner, Keep keep, LaneName lane)
      : name_(name), inner_(inner), keep_(keep), lane_(lane) {}

  std::string_view name() const override { return name_; }
  LaneName lane() const override { return lane_; }
  /// Where it does not choose the lane, those that wait for different names do not share their
  /// fate.
  std::size_t KeyHash(const IdempotentRequest<Request>& once) const override {
    return lane_.kind() == LaneName::Kind::kUserKeys ? std::hash<std::string>()(once.key.name)
                                                     : inner_.KeyHash(once.request);
  }

 protected:
  CarriedOut WriteItems(Transaction& tx, Items items) override {
    const auto firsts = FirstOfEachName(items);
    std::vector<base::IdempotencyKey> keys;
    for (const auto* item : firsts) keys.push_back(item->request.key);
    const ClaimedKeys claims = ClaimAnswers(tx, keys);

    CarriedOut inner;
    std::vector<OuterItem*> mine;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (!claims.claimed[i]) {
        firsts[i]->reply = Repeated(keys[i], *claims.earlier[i]);
        continue;
      }
      inner.owned.push_back(
          std::make_unique<InnerItem>(inner_, firsts[i]->caller(), firsts[i]->key_hash(),
                                      firsts[i]->request.request, typename InnerItem::Callback()));
      inner.operations.push_back(inner.owned.back().get());
      mine.push_back(firsts[i]);
    }
    if (mine.empty()) return inner;
    inner.result = inner_.Write(tx, inner.operations);

    std::vector<NamedAnswer> answers;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto& done = static_cast<const InnerItem&>(*inner.operations[i]);
      TENURE_CHECK(done.decided(), "what is answered once is decided in one batch");
      answers.push_back({mine[i]->request.key.name, keep_(*done.reply)});
      mine[i]->reply = *done.reply;
      if (const AuditEvent* event = done.audit_event()) mine[i]->Did(*event);
    }
    KeepAnswers(tx, answers);
    return inner;
  }

  void DoneItems(Items, const CarriedOut& inner) override {
    inner_.Done(inner.operations, inner.result.get());
  }

 private:
  using OuterItem = Item<IdempotentRequest<Request>, base::IdempotentReply<Reply>>;

  /// One item per name; a second one of the same batch is told that the first is under way.
  static std::vector<OuterItem*> FirstOfEachName(Items items) {
    std::vector<OuterItem*> firsts;
    std::unordered_set<std::string_view> names;
    for (auto* item : items) {
      if (names.insert(item->request.key.name).second)
        firsts.push_back(item);
      else
        item->reply = base::KeyUnderWay();
    }
    return firsts;
  }

  static base::IdempotentReply<Reply> Repeated(const base::IdempotencyKey& key,
                                               const ClaimedKeys::Before& before) {
    if (before.body_hash != key.body_hash) return base::KeyOfAnotherRequest();
    return before.answer;
  }

  const std::string name_;
  Inner& inner_;
  const Keep keep_;
  const LaneName lane_;
};

struct ForgetAnswersRequest {};

/// Deletes a batch of answers that were kept long enough.
class ForgetAnswersHandler final : public SweepHandler<ForgetAnswersRequest> {
 public:
  std::string_view name() const override { return "db.forget_answers"; }

 protected:
  Swept Sweep(Transaction& tx, const ForgetAnswersRequest& request, std::int64_t now_ms) override;
};

}  // namespace tenure::db
