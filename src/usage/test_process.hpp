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
#include "store/process.hpp"
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

/// A process with sessions, messages and usage.
class TestProcess final : public store::Process {
 public:
  TestProcess(store::TestStore& test_store, const Options& options, std::string id = "p")
      : Process(test_store),
        sessions_(store(), {kDuration, kRetention}, test_store.metrics()),
        messages_(store(), wake(), std::move(id), test_store.clock(), test_store.metrics()),
        usage_(store(), sessions_, messages_, wake(), options, test_store.metrics()) {}

  static constexpr std::int64_t kDay = 86'400'000;
  static constexpr std::int64_t kDuration = 30 * kDay;
  static constexpr std::int64_t kRetention = 400 * kDay;

  sessions::Session Put(const sessions::Key& key, sessions::Kind kind,
                        const base::Uuid& tenant = {}) {
    return Call(sessions_, &sessions::Sessions::Put, {tenant, key, kind}).session;
  }
  void End(const sessions::Session& session) {
    Call(sessions_, &sessions::Sessions::End, {session.id, session.key});
  }
  sessions::Session Find(const base::Uuid& id) {
    return *Call(sessions_, &sessions::Sessions::Find, {id}).session;
  }
  std::int64_t Remove() {
    return Await<db::Swept>([&](auto done) { sessions_.RemoveSome({}, std::move(done)); }).rows;
  }

  std::optional<Window> Seal() { return Call(usage_, &Usage::SealNext).sealed; }
  /// All that are due.
  std::vector<Window> SealAll() {
    std::vector<Window> windows;
    while (const auto window = Seal()) windows.push_back(*window);
    return windows;
  }
  RangesReply Ranges() { return Call(usage_, &Usage::FindRanges); }
  bool Emit(const EmitRequest& request) { return Call(usage_, &Usage::Emit, request).emitted; }
  void EmitAll() {
    for (RangesReply next = Ranges(); next.window; next = Ranges()) EXPECT_TRUE(Emit(next));
  }
  db::Swept Tidy() { return Call(usage_, &Usage::TidySome); }
  RecordsReply Records(const RecordsRequest& request) {
    return Call(usage_, &Usage::ListRecords, request);
  }
  WindowsReply Windows(const WindowsRequest& request = {}) {
    return Call(usage_, &Usage::ListWindows, request);
  }
  UnsentReply Unsent() { return Call(usage_, &Usage::CountUnsent); }
  TotalsReply Total(const TotalsRequest& request = {}) {
    return Call(usage_, &Usage::Total, request);
  }
  RefusedReply RefusedRecords(const RefusedRequest& request = {}) {
    return Call(usage_, &Usage::ListRefused, request);
  }
  Factor SetFactor(int kind, std::int64_t millionths) {
    return Await<SetFactorReply>(
               [&](auto done) { usage_.SetFactor(kind, millionths, nullptr, std::move(done)); })
        .factor;
  }
  std::vector<Factor> AllFactors() { return Call(usage_, &Usage::ListFactors).factors; }
  std::int64_t Send(std::int64_t from) { return Call(usage_, &Usage::Send, {from}).windows; }

  std::vector<messages::ClaimedMessage> Claim(std::int64_t max = 100) {
    messages::ClaimRequest request;
    request.tenant = tasks::kOwnTenant;
    request.topics.emplace_back(kTopic);
    request.max = max;
    request.owner = "sender";
    return Call(messages_, &messages::Messages::Claim, std::move(request)).messages;
  }
  /// Brings a claimed chunk to `receiver`.
  Delivered Deliver(const messages::ClaimedMessage& message,
                    const std::function<PostReply(const Post&)>& receiver) {
    const ChunkDelivery delivery(
        {.load = [this](ChunkName name,
                        auto done) { usage_.Load(std::move(name), std::move(done)); },
         .change = [this](ChunkChange change,
                          auto done) { usage_.Change(std::move(change), std::move(done)); },
         .settle =
             [this](messages::SettleRequest request, auto done) {
               messages_.Settle(std::move(request), nullptr, std::move(done));
             },
         .post = [&receiver](const Post& post, auto done) { done(receiver(post)); },
         .installation = "test"});
    std::optional<Delivered> delivered;
    delivery.Deliver(message, [&](Delivered result) { delivered = std::move(result); });
    store::Drive(store());
    return delivered.value();
  }
  void PromoteAll() { Call(messages_, &messages::Messages::PromoteSome); }

  messages::Messages& messages() { return messages_; }
  Usage& usage() { return usage_; }

 private:
  sessions::Sessions sessions_;
  messages::Messages messages_;
  Usage usage_;
};

}  // namespace tenure::usage
