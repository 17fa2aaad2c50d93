#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "db/operation.hpp"

namespace tenure::db {

/// What makes a request the same request: who sent it where under which key, and what it said.
struct OnceKey {
  std::string name;  ///< tenant, person, route, key
  std::string body_hash;
};

/// An answer as it is kept: what the client saw.
struct Answer {
  std::int64_t status = 0;
  std::string body;
  std::string location;  ///< empty: none
  bool final = true;     ///< false: asking again may help, so the next request is carried out anew
};

enum class OnceStatus {
  kAnswered,   ///< `answer` is this request's, given now or before
  kOtherBody,  ///< the key was used for another request
  kUnderWay,   ///< the first request with this key is in the same batch
};

struct OnceReply {
  OnceStatus status = OnceStatus::kAnswered;
  Answer answer;
  std::shared_ptr<Operation> carried_out;  ///< what was done for it now; null for a repetition
};

/// How long answers are kept.
inline constexpr std::int64_t kAnswerRetentionMs = 24 * 3'600'000;

/// The bookkeeping of a batch of names, each once: which were claimed by this transaction, and what
/// was answered to the others.
struct Claims {
  struct Before {
    std::string body_hash;
    Answer answer;
  };
  std::vector<bool> claimed;                   // by index of the name
  std::vector<std::optional<Before>> earlier;  // for those that were not
};
Claims ClaimAnswers(Transaction& tx, const std::vector<OnceKey>& keys);
/// Keeps what is final with the effects, and gives the names of the rest back.
void KeepAnswers(Transaction& tx, const std::vector<std::string>& names,
                 const std::vector<Answer>& answers);

template <class Request>
struct OnceRequest {
  Request request;
  OnceKey key;
};

/// Carries out the operations of another handler at most once per key: the answer is kept in the
/// effect's own transaction, so after a lost reply the same request gets the same answer. The names
/// are claimed before the inner handler takes its locks, in ascending order: a transaction that
/// waits for a name holds no lock of a capability. What the inner operation did for the record is
/// the outer one's deed; a repetition does nothing, so it leaves no second one.
///
/// `Inner` is a TypedHandler<Request, Reply>; `Render` makes the client's answer of a Reply.
template <class Request, class Reply>
class OnceHandler final : public TypedHandler<OnceRequest<Request>, OnceReply> {
 public:
  using Inner = TypedHandler<Request, Reply>;
  using InnerItem = Item<Request, Reply>;
  using Render = Answer (*)(const Reply&);
  using Items = typename TypedHandler<OnceRequest<Request>, OnceReply>::Items;

  OnceHandler(std::string_view name, Inner& inner, Render render)
      : name_(name), inner_(inner), render_(render) {}
  std::string_view name() const override { return name_; }

 protected:
  void WriteItems(Transaction& tx, Items items) override {
    const auto firsts = FirstOfEachName(items);
    std::vector<OnceKey> keys;
    for (const auto* item : firsts) keys.push_back(item->request.key);
    const Claims claims = ClaimAnswers(tx, keys);

    std::vector<std::size_t> mine;  // indexes into firsts
    std::vector<Operation*> inner;
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (!claims.claimed[i]) {
        firsts[i]->reply = Repeated(keys[i], *claims.earlier[i]);
        continue;
      }
      auto operation =
          std::make_shared<InnerItem>(inner_, firsts[i]->caller(), firsts[i]->key_hash(),
                                      firsts[i]->request.request, typename InnerItem::Callback());
      inner.push_back(operation.get());
      mine.push_back(i);
      firsts[i]->reply = OnceReply{OnceStatus::kAnswered, {}, std::move(operation)};
    }
    if (inner.empty()) return;
    inner_.Write(tx, inner);

    std::vector<std::string> names;
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      answers.push_back(render_(*static_cast<InnerItem*>(inner[i])->reply));
      names.push_back(keys[mine[i]].name);
      firsts[mine[i]]->reply->answer = answers.back();
      if (const Deed* deed = inner[i]->deed()) firsts[mine[i]]->Did(*deed);
    }
    KeepAnswers(tx, names, answers);
  }

  void DoneItems(Items items) override {
    std::vector<Operation*> carried_out;
    for (const auto* item : items)
      if (item->reply->carried_out) carried_out.push_back(item->reply->carried_out.get());
    inner_.Done(carried_out);
  }

 private:
  using OuterItem = Item<OnceRequest<Request>, OnceReply>;

  /// One item per name; a second one of the same batch is told that the first is under way.
  static std::vector<OuterItem*> FirstOfEachName(Items items) {
    std::vector<OuterItem*> firsts;
    std::unordered_set<std::string_view> names;
    for (auto* item : items) {
      if (names.insert(item->request.key.name).second)
        firsts.push_back(item);
      else
        item->reply = OnceReply{OnceStatus::kUnderWay, {}, nullptr};
    }
    return firsts;
  }

  static OnceReply Repeated(const OnceKey& key, const Claims::Before& before) {
    if (before.body_hash != key.body_hash) return {OnceStatus::kOtherBody, {}, nullptr};
    return {OnceStatus::kAnswered, before.answer, nullptr};
  }

  const std::string name_;
  Inner& inner_;
  const Render render_;
};

struct ForgetRequest {};
struct ForgetReply {
  std::int64_t rows = 0;
  bool has_more = false;  ///< the batch was full
};

/// Deletes a batch of answers that were kept long enough.
class ForgetHandler final : public TypedHandler<ForgetRequest, ForgetReply> {
 public:
  std::string_view name() const override { return "db.forget_answers"; }

 protected:
  void WriteItems(Transaction& tx, Items items) override;
};

}  // namespace tenure::db
