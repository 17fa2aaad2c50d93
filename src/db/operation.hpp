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
#include "db/transaction.hpp"

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
struct Deed {
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
  void Did(Deed deed) {
    if (actor()) deed_ = std::make_unique<Deed>(std::move(deed));
  }
  /// Null: nothing, or nothing for the record.
  const Deed* deed() const { return deed_.get(); }

  /// Of the aggregate that it changes: operations with the same one share their fate where a lock
  /// is not to be had.
  std::size_t key_hash() const { return key_hash_; }

  virtual bool decided() const = 0;
  /// Takes the reply back before the batch is run again.
  virtual void Reset() { deed_.reset(); }
  /// Answers the caller: with the reply, or with `fault` when there is one.
  virtual void Complete(const base::Fault* fault) = 0;
  /// What it weighs in the lane's queue.
  virtual std::size_t bytes() const { return 256 * (1 + fences().size()); }

  std::int64_t deadline_boot_ms = 0;  ///< set by the lane

 private:
  Handler& handler_;
  base::Caller caller_;
  std::size_t key_hash_;
  std::unique_ptr<Deed> deed_;
};

/// What a lane does with a batch of operations of one kind. One object per kind; it is used by
/// several lanes at once, so it keeps no state of a batch in itself.
///
/// A batch goes through two phases. `Read` looks without locks and may decide what needs no change
/// (the common repeated request); those are answered at once. What is left goes to `Write`, in one
/// transaction that the lane commits; only then is it answered. Either may be left empty.
/// Operations with fences are not looked at by `Read`, and reach `Write` only when the guard found
/// their fences live in the same transaction. A phase that throws is undone and, where that helps,
/// run again: it must decide from its arguments and the store alone.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual std::string_view name() const = 0;

  /// How long the first try of `Write` waits for others' locks; those of a divided batch wait a
  /// moment in any case (lane.hpp).
  virtual Access access() const { return Access::kWrite; }

  virtual bool reads() const { return false; }
  virtual void Read(Transaction&, std::span<Operation* const>) {}
  /// REQUIRES afterwards: every operation is decided.
  virtual void Write(Transaction&, std::span<Operation* const>) {}
  /// After COMMIT (or after Read, for what that decided): the place to count. Must not throw.
  virtual void Done(std::span<Operation* const>) {}
};

/// An operation with its types. A request that may be large says how large with `bytes()`.
template <class Request, class Reply>
class Item final : public Operation {
 public:
  using Callback = base::UniqueFunction<Result<Reply>>;

  Item(Handler& handler, base::Caller caller, std::size_t key_hash, Request what, Callback done)
      : Operation(handler, std::move(caller), key_hash),
        request(std::move(what)),
        done_(std::move(done)) {}

  std::size_t bytes() const override {
    std::size_t bytes = Operation::bytes();
    if constexpr (requires { request.bytes(); }) bytes += request.bytes();
    return bytes;
  }
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

/// A handler of items of one type: saves each capability the casts.
template <class Request, class Reply>
class TypedHandler : public Handler {
 public:
  using ItemType = Item<Request, Reply>;
  using Items = std::span<ItemType* const>;

  void Read(Transaction& tx, std::span<Operation* const> operations) final {
    ReadItems(tx, Typed(operations));
  }
  void Write(Transaction& tx, std::span<Operation* const> operations) final {
    WriteItems(tx, Typed(operations));
  }
  void Done(std::span<Operation* const> operations) final { DoneItems(Typed(operations)); }

 protected:
  virtual void ReadItems(Transaction&, Items) {}
  virtual void WriteItems(Transaction&, Items) {}
  virtual void DoneItems(Items) {}

 private:
  static std::vector<ItemType*> Typed(std::span<Operation* const> operations) {
    std::vector<ItemType*> items;
    items.reserve(operations.size());
    for (Operation* operation : operations) items.push_back(static_cast<ItemType*>(operation));
    return items;
  }
};

}  // namespace tenure::db
