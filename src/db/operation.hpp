#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/caller.hpp"
#include "base/error.hpp"
#include "base/task.hpp"
#include "db/lane_name.hpp"
#include "db/transaction.hpp"
#include "db/weight.hpp"

namespace tenure::db {

/// What an operation came to: its reply, or the fault that kept it from being carried out.
template <class Reply>
class Result {
 public:
  Result(Reply reply) : value_(std::move(reply)) {}        // NOLINT(google-explicit-constructor)
  Result(base::Fault fault) : value_(std::move(fault)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.index() == 0; }
  Reply& value() { return std::get<0>(value_); }
  const Reply& value() const { return std::get<0>(value_); }
  const base::Fault& fault() const { return std::get<1>(value_); }

 private:
  std::variant<Reply, base::Fault> value_;
};

/// What an operation did to what, for the record.
struct AuditEvent {
  std::string object{};
  std::string detail{};  ///< a JSON object: why, how, old and new values; no payloads, no secrets
};

class Handler;

/// One request on its way through a lane. Made by a capability, owned by the lane until it is
/// completed.
class Operation {
 public:
  Operation(Handler& handler, base::Caller caller, std::size_t key_hash)
      : handler_(handler), caller_(std::move(caller)), key_hash_(key_hash) {}
  virtual ~Operation() = default;

  Handler& handler() const { return handler_; }
  /// Where `Complete` runs; null: on the lane's own thread.
  base::Executor* home() const { return caller_.home; }
  /// It is carried out only while all of these are of live grants; otherwise it is completed with
  /// kFenceStale. For changes only: whoever just looks has none.
  const std::vector<base::Fence>& fences() const { return caller_.fences; }

  const base::Caller& caller() const { return caller_; }

  /// Who answers for it; null: what it does is nothing for the record.
  const base::Actor* actor() const { return caller_.actor.get(); }
  /// Said by the handler, in `Write`, and only of what changed something: it goes on record in the
  /// same transaction (recorder.hpp). Without an actor nobody wants to know.
  void Did(AuditEvent event) {
    if (actor()) audit_event_ = std::make_unique<AuditEvent>(std::move(event));
  }
  /// Null: nothing, or nothing for the record.
  const AuditEvent* audit_event() const { return audit_event_.get(); }

  /// Of the aggregate that it changes: operations with the same one share their fate where a lock
  /// is not to be had.
  std::size_t key_hash() const { return key_hash_; }

  virtual bool decided() const = 0;
  /// Takes the reply back before the batch is run again.
  virtual void Reset() { audit_event_.reset(); }
  /// Answers the caller: with the reply, or with `fault` when there is one.
  virtual void Complete(const base::Fault* fault) = 0;
  /// What it weighs in the lane's queue and in a batch.
  virtual std::size_t bytes() const { return 256 * (1 + fences().size()); }

  std::int64_t deadline_boot_ms = 0;  ///< set by the lane

 private:
  Handler& handler_;
  base::Caller caller_;
  std::size_t key_hash_;
  std::unique_ptr<AuditEvent> audit_event_;
};

/// What a batch brought besides its replies, from `Handler::Write` to `Handler::Done`.
class BatchResult {
 public:
  virtual ~BatchResult() = default;
};

/// What a lane does with a batch of operations of one kind. One object per kind; it is used by
/// several lanes at once, so it keeps no state of a batch in itself.
///
/// A batch goes through two phases. `Read` looks without locks and may decide what needs no change
/// (the common repeated request); those are answered at once. What is left goes to `Write`, in one
/// transaction that the lane commits; only then is it answered. Either may be left empty.
/// Operations with fences are not looked at by `Read`, and reach `Write` only when the fence check found
/// their fences live in the same transaction. A phase that throws is undone and, where that helps,
/// run again: it must decide from its arguments and the store alone.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual std::string_view name() const = 0;
  /// Which lane carries its operations out.
  virtual LaneName lane() const { return LaneName::OfKey(); }

  /// How long the first try of `Write` waits for others' locks; those of a divided batch wait a
  /// moment in any case (lane.hpp).
  virtual Access access() const { return Access::kWrite; }

  virtual bool reads() const { return false; }
  virtual void Read(Transaction&, std::span<Operation* const>) {}
  /// Decides the first operation, and as many of the others as one transaction should hold; those
  /// that are left undecided are the next batch. Returns what `Done` is to know; null: nothing.
  virtual std::unique_ptr<BatchResult> Write(Transaction&, std::span<Operation* const>) {
    return nullptr;
  }
  /// After COMMIT, with what `Write` returned (or after Read, with null, for what that decided):
  /// the place to count and to wake. Must not throw.
  virtual void Done(std::span<Operation* const>, const BatchResult*) {}
};

/// An operation with its types.
template <class Request, class Reply>
class Item final : public Operation {
 public:
  using Callback = base::UniqueFunction<Result<Reply>>;

  Item(Handler& handler, base::Caller caller, std::size_t key_hash, Request what, Callback done)
      : Operation(handler, std::move(caller), key_hash),
        request(std::move(what)),
        done_(std::move(done)) {}

  std::size_t bytes() const override { return Operation::bytes() + BytesOf(request); }
  bool decided() const override { return reply.has_value(); }
  void Reset() override {
    Operation::Reset();
    reply.reset();
  }
  void Complete(const base::Fault* fault) override {
    if (fault)
      done_(Result<Reply>(*fault));
    else
      done_(Result<Reply>(std::move(*reply)));
  }

  Request request;
  std::optional<Reply> reply;  ///< set by the handler

 private:
  Callback done_;
};

/// For operations whose reply is one of several kinds: hands the one on that the caller knows to
/// get.
template <class Reply>
auto Only(base::UniqueFunction<Result<Reply>> done) {
  return [done = std::move(done)](auto result) mutable {
    if (result.ok())
      done(std::get<Reply>(std::move(result.value())));
    else
      done(result.fault());
  };
}

/// What handlers of items of one type have in common.
template <class Request, class Reply>
class ItemHandler : public Handler {
 public:
  using RequestType = Request;
  using ReplyType = Reply;
  using ItemType = Item<Request, Reply>;
  using Items = std::span<ItemType* const>;

  /// Of the aggregate that the request changes (Operation::key_hash).
  virtual std::size_t KeyHash(const Request&) const { return 0; }

  void Read(Transaction& tx, std::span<Operation* const> operations) final {
    ReadItems(tx, Typed(operations));
  }

 protected:
  virtual void ReadItems(Transaction&, Items) {}

  static std::vector<ItemType*> Typed(std::span<Operation* const> operations) {
    std::vector<ItemType*> items;
    items.reserve(operations.size());
    for (Operation* operation : operations) items.push_back(static_cast<ItemType*>(operation));
    return items;
  }
};

/// A handler of items of one type: saves each capability the casts. `Batch` is what a transaction
/// brings besides the replies, once for all of them: whom to wake, what was learnt.
template <class Request, class Reply, class Batch = void>
class TypedHandler : public ItemHandler<Request, Reply> {
 public:
  using Items = typename ItemHandler<Request, Reply>::Items;

  std::unique_ptr<BatchResult> Write(Transaction& tx,
                                     std::span<Operation* const> operations) final {
    return std::make_unique<TypedResult>(WriteItems(tx, this->Typed(operations)));
  }
  void Done(std::span<Operation* const> operations, const BatchResult* result) final {
    if (result)
      DoneItems(this->Typed(operations), static_cast<const TypedResult*>(result)->batch);
    else
      DoneItems(this->Typed(operations), Batch{});
  }

 protected:
  virtual Batch WriteItems(Transaction&, Items) = 0;
  virtual void DoneItems(Items, const Batch&) = 0;

 private:
  struct TypedResult final : BatchResult {
    explicit TypedResult(Batch brought) : batch(std::move(brought)) {}
    const Batch batch;
  };
};

/// One whose batches bring nothing but replies.
template <class Request, class Reply>
class TypedHandler<Request, Reply, void> : public ItemHandler<Request, Reply> {
 public:
  using Items = typename ItemHandler<Request, Reply>::Items;

  std::unique_ptr<BatchResult> Write(Transaction& tx,
                                     std::span<Operation* const> operations) final {
    WriteItems(tx, this->Typed(operations));
    return nullptr;
  }
  void Done(std::span<Operation* const> operations, const BatchResult*) final {
    DoneItems(this->Typed(operations));
  }

 protected:
  virtual void WriteItems(Transaction&, Items) {}
  virtual void DoneItems(Items) {}
};

/// One that only looks.
template <class Request, class Reply>
class LookHandler : public TypedHandler<Request, Reply> {
 public:
  LaneName lane() const final { return LaneName::Reading(); }
  bool reads() const final { return true; }
};

}  // namespace tenure::db
