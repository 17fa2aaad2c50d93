#pragma once

#include <string_view>
#include <utility>

#include "db/page.hpp"
#include "db/store.hpp"
#include "db/sweep.hpp"

namespace tenure::db {

/// A handler as a method of its capability, `sessions.Find({id}, caller, done)`: what routes, tasks
/// and tests call. A call returns at once; the callback runs on the caller's executor (none: on a
/// lane's thread) when the store has decided.
template <class Handler>
class Method {
 public:
  using Request = typename Handler::RequestType;
  using Callback = base::UniqueFunction<Result<typename Handler::ReplyType>>;

  /// REQUIRES: the store outlives it. `parts`: what the handler is made of.
  template <class... Parts>
  explicit Method(Store& store, Parts&&... parts)
      : store_(store), handler_(std::forward<Parts>(parts)...) {}

  void operator()(Request request, base::Caller caller, Callback done) {
    store_.Submit(handler_, std::move(caller), std::move(request), std::move(done));
  }
  /// Nobody in particular calls.
  void operator()(Request request, Callback done) {
    (*this)(std::move(request), nullptr, std::move(done));
  }
  void operator()(Callback done) { (*this)({}, nullptr, std::move(done)); }

  Handler& handler() { return handler_; }

 private:
  Store& store_;
  Handler handler_;
};

// Handlers of operations without parts of their own: a name, perhaps a lane, and a function, of
// whose type the request and the reply are taken.

template <class Request, class Reply>
using Items = std::span<Item<Request, Reply>* const>;
/// What is asked for where there is nothing to say.
struct Nothing {};

template <class Handler>
class Named : public Handler {
 public:
  explicit Named(std::string_view name) : name_(name) {}
  std::string_view name() const final { return name_; }

 private:
  const std::string_view name_;
};
template <class Handler>
class NamedOfLane : public Named<Handler> {
 public:
  NamedOfLane(std::string_view name, LaneName lane) : Named<Handler>(name), lane_(lane) {}
  LaneName lane() const final { return lane_; }

 private:
  const LaneName lane_;
};

template <auto kLook>
struct LookFunction;
template <class Request, class Reply, void (*kLook)(Transaction&, Items<Request, Reply>)>
struct LookFunction<kLook> final : Named<LookHandler<Request, Reply>> {
  using Named<LookHandler<Request, Reply>>::Named;
  void ReadItems(Transaction& tx, Items<Request, Reply> items) override { kLook(tx, items); }
};

/// A figure that is the same for everybody who asks.
template <auto kCount>
struct CountFunction;
template <class Reply, Reply (*kCount)(Transaction&, std::int64_t now_ms)>
struct CountFunction<kCount> final : Named<LookHandler<Nothing, Reply>> {
  using Named<LookHandler<Nothing, Reply>>::Named;
  void ReadItems(Transaction& tx, Items<Nothing, Reply> items) override {
    const Reply reply = kCount(tx, tx.TakeClock(tx.QueueClock()));
    for (auto* item : items) item->reply = reply;
  }
};

/// `kQueue` queues the query of a page, `kRead` makes a Row of a row of it (page.hpp). Either may
/// want to know the store's time (`Now`), too.
template <auto kQueue, auto kRead>
struct ListFunctions;
template <class Request, class Row, class... QueueNow, class... ReadNow,
          Transaction::Pending (*kQueue)(Transaction&, const Request&, std::int64_t, QueueNow...),
          Row (*kRead)(const Rows::Row&, ReadNow...)>
struct ListFunctions<kQueue, kRead> final : Named<ListHandler<Request, Row>> {
  using Named<ListHandler<Request, Row>>::Named;
  Transaction::Pending QueuePage(Transaction& tx, const Request& request, std::int64_t rows,
                                 [[maybe_unused]] std::int64_t now_ms) override {
    return kQueue(tx, request, rows, QueueNow(now_ms)...);
  }
  Row ReadRow(const Rows::Row& row, [[maybe_unused]] std::int64_t now_ms) override {
    return kRead(row, ReadNow(now_ms)...);
  }
};

template <auto kSweep>
struct SweepFunction;
template <class Request, Swept (*kSweep)(Transaction&, const Request&, std::int64_t now_ms)>
struct SweepFunction<kSweep> final : NamedOfLane<SweepHandler<Request>> {
  using NamedOfLane<SweepHandler<Request>>::NamedOfLane;
  Swept Sweep(Transaction& tx, const Request& request, std::int64_t now_ms) override {
    return kSweep(tx, request, now_ms);
  }
};

template <auto kWrite>
struct WriteFunction;
template <class Request, class Reply, void (*kWrite)(Transaction&, Items<Request, Reply>)>
struct WriteFunction<kWrite> final : NamedOfLane<TypedHandler<Request, Reply>> {
  using NamedOfLane<TypedHandler<Request, Reply>>::NamedOfLane;
  void WriteItems(Transaction& tx, Items<Request, Reply> items) override { kWrite(tx, items); }
};

template <auto kLook>
using Look = Method<LookFunction<kLook>>;
template <auto kCount>
using Count = Method<CountFunction<kCount>>;
template <auto kQueue, auto kRead>
using List = Method<ListFunctions<kQueue, kRead>>;
template <auto kSweep>
using Sweep = Method<SweepFunction<kSweep>>;
template <auto kWrite>
using Write = Method<WriteFunction<kWrite>>;

}  // namespace tenure::db
