#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/operation.hpp"
#include "messages/directory.hpp"
#include "messages/message.hpp"
#include "messages/news.hpp"
#include "messages/probe.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// Puts messages into the transaction of somebody else: what another capability sends goes out when
/// and if its own change is committed (M1). Signal the news after COMMIT.
///
///   Enqueuer enqueuer(directory, process);
///   auto sent = enqueuer.Add(tx, {&request});
///   … COMMIT …
///   enqueuer.news().Signal(wake);
///   for (const auto& topic : enqueuer.opened()) directory.Learn(topic);
class Enqueuer {
 public:
  Enqueuer(Directory& directory, std::string_view process)
      : directory_(directory), process_(process) {}

  /// REQUIRES: once per transaction; the locks that the caller takes on its own come before.
  std::vector<EnqueueReply> Add(db::Transaction& tx,
                                std::span<const EnqueueRequest* const> requests);
  const News& news() const { return news_; }
  /// Topics that were not known to this process.
  const std::vector<Directory::Known>& opened() const { return opened_; }

 private:
  struct Entry;
  using TopicName = std::pair<std::string_view, std::string_view>;  // tenant, topic
  void OpenTopics(db::Transaction& tx, std::span<const EnqueueRequest* const> requests);
  void FindDuplicates(db::Transaction& tx, std::vector<Entry>& entries, std::int64_t now_ms);
  void Insert(db::Transaction& tx, const std::vector<Entry>& entries, std::int64_t now_ms);

  Directory& directory_;
  const std::string_view process_;
  std::map<TopicName, std::int64_t> topic_ids_;
  std::vector<Directory::Known> opened_;
  News news_;
};

/// What a batch of enqueues brought; all but the reply is with the first of the batch.
struct EnqueueResult {
  EnqueueReply reply;
  News news{};
  std::vector<Directory::Known> opened{};
};

/// All enqueues that wait, in one transaction.
class EnqueueHandler final : public db::TypedHandler<EnqueueRequest, EnqueueResult> {
 public:
  EnqueueHandler(std::string_view name, Directory& directory, std::string_view process,
                 wake::Registry& wake, Probe& probe)
      : name_(name), directory_(directory), process_(process), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return name_; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string_view name_;
  Directory& directory_;
  const std::string_view process_;
  wake::Registry& wake_;
  Probe& probe_;
};

}  // namespace tenure::messages
