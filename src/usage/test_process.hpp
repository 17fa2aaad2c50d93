#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "messages_sql/queries.hpp"
#include "sessions_sql/queries.hpp"
#include "store/test_store.hpp"
#include "tasks/task.hpp"
#include "usage/usage.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {

inline std::vector<const db::Query*> AllQueries() {
  std::vector<const db::Query*> queries;
  for (const auto module : {sql::All(), sessions::sql::All(), messages::sql::All()})
    queries.insert(queries.end(), module.begin(), module.end());
  return queries;
}

/// One process with sessions, messages and usage on a test's store, driven by hand: every call runs
/// the lanes until it is answered.
class TestProcess {
 public:
  TestProcess(store::TestStore& test_store, const Options& options, std::string id = "p")
      : store_(test_store.NewProcess()),
        wake_(test_store.clock()),
        sessions_(*store_, {kDuration, kRetention}, test_store.metrics()),
        messages_(*store_, wake_, std::move(id), test_store.clock(), test_store.metrics()),
        usage_(*store_, sessions_, messages_, wake_, options, test_store.metrics()) {}

  static constexpr std::int64_t kDay = 86'400'000;
  static constexpr std::int64_t kDuration = 30 * kDay;
  static constexpr std::int64_t kRetention = 400 * kDay;

  sessions::Session Put(const sessions::Key& key, sessions::Kind kind,
                        const base::Uuid& tenant = {}) {
    return Await<sessions::PutReply>([&](auto done) {
             sessions_.Put({tenant, key, kind}, nullptr, std::move(done));
           })
        .session;
  }
  void End(const sessions::Session& session) {
    Await<sessions::EndReply>([&](auto done) {
      sessions_.End({session.id, session.key}, nullptr, std::move(done));
    });
  }
  sessions::Session Find(const base::Uuid& id) {
    return *Await<sessions::FindReply>([&](auto done) {
              sessions_.Find(id, nullptr, std::move(done));
            }).session;
  }
  std::int64_t Remove() {
    return Await<sessions::BackgroundReply>(
               [&](auto done) { sessions_.RemoveSome({}, std::move(done)); })
        .rows;
  }

  std::optional<Window> Seal() {
    return Await<SealReply>([&](auto done) { usage_.SealNext(std::move(done)); }).sealed;
  }
  /// All that are due.
  std::vector<Window> SealAll() {
    std::vector<Window> windows;
    while (const auto window = Seal()) windows.push_back(*window);
    return windows;
  }
  RangesReply Ranges() {
    return Await<RangesReply>([&](auto done) { usage_.FindRanges(std::move(done)); });
  }
  bool Emit(const EmitRequest& request) {
    return Await<EmitReply>([&](auto done) { usage_.Emit(request, std::move(done)); }).emitted;
  }
  void EmitAll() {
    for (RangesReply next = Ranges(); next.window; next = Ranges()) EXPECT_TRUE(Emit(next));
  }
  SettleReply Settle() {
    return Await<SettleReply>([&](auto done) { usage_.Settle(std::move(done)); });
  }
  RecordsReply Records(const RecordsRequest& request) {
    return Await<RecordsReply>(
        [&](auto done) { usage_.ListRecords(request, nullptr, std::move(done)); });
  }
  WindowsReply Windows(const WindowsRequest& request = {}) {
    return Await<WindowsReply>(
        [&](auto done) { usage_.ListWindows(request, nullptr, std::move(done)); });
  }
  UnsentReply Unsent() {
    return Await<UnsentReply>([&](auto done) { usage_.CountUnsent(std::move(done)); });
  }
  TotalsReply Total(const TotalsRequest& request = {}) {
    return Await<TotalsReply>([&](auto done) { usage_.Total(request, nullptr, std::move(done)); });
  }
  RefusedReply RefusedRecords(const RefusedRequest& request = {}) {
    return Await<RefusedReply>(
        [&](auto done) { usage_.ListRefused(request, nullptr, std::move(done)); });
  }
  Factor SetFactor(int kind, std::int64_t millionths) {
    return Await<SetFactorReply>(
               [&](auto done) { usage_.SetFactor(kind, millionths, nullptr, std::move(done)); })
        .factor;
  }
  std::vector<Factor> AllFactors() {
    return Await<FactorsReply>([&](auto done) { usage_.ListFactors(nullptr, std::move(done)); })
        .factors;
  }
  std::int64_t Send(std::int64_t from) {
    return Await<SendReply>([&](auto done) { usage_.Send({from}, nullptr, std::move(done)); })
        .windows;
  }

  std::vector<messages::ClaimedMessage> Claim(std::int64_t max = 100) {
    messages::ClaimRequest request;
    request.tenant = tasks::kOwnTenant;
    request.topics.emplace_back(kTopic);
    request.max = max;
    request.owner = "sender";
    return Await<messages::ClaimReply>(
               [&](auto done) { messages_.Claim(std::move(request), nullptr, std::move(done)); })
        .messages;
  }
  /// Brings a claimed chunk to `receiver`.
  Delivered Deliver(const messages::ClaimedMessage& message,
                    const std::function<PostReply(const Post&)>& receiver) {
    const Delivery delivery(
        {.load = [this](ChunkName name,
                        auto done) { usage_.Load(std::move(name), std::move(done)); },
         .change = [this](ChunkChange change,
                          auto done) { usage_.Change(std::move(change), std::move(done)); },
         .report =
             [this](messages::ReportRequest request, auto done) {
               messages_.Report(std::move(request), nullptr, std::move(done));
             },
         .post = [&receiver](const Post& post, auto done) { done(receiver(post)); },
         .installation = "test"});
    std::optional<Delivered> delivered;
    delivery.Deliver(message, [&](Delivered result) { delivered = std::move(result); });
    store::Drive(*store_);
    return delivered.value();
  }
  void PromoteAll() {
    Await<messages::PromoteReply>([&](auto done) { messages_.PromoteSome(std::move(done)); });
  }

  messages::Messages& messages() { return messages_; }
  Usage& usage() { return usage_; }
  db::Store& store() { return *store_; }

  template <class Reply, class Submit>
  Reply Await(Submit submit) {
    std::optional<Reply> reply;
    submit([&](db::Result<Reply> result) {
      if (result.ok())
        reply = std::move(result.value());
      else
        ADD_FAILURE() << result.fault().what();
    });
    store::Drive(*store_);
    return reply.value();
  }

 private:
  std::unique_ptr<db::Store> store_;
  wake::Registry wake_;
  sessions::Sessions sessions_;
  messages::Messages messages_;
  Usage usage_;
};

}  // namespace tenure::usage
