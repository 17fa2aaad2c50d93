#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "db/method.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

struct TopicSizesRequest {
  using Name = std::pair<std::string, std::string>;  // tenant, bot
  std::vector<Name> bots{};

  std::size_t bytes() const { return 200 * bots.size(); }
};
struct TopicSizesReply {
  std::vector<std::int64_t> bytes{};  ///< of the payloads that wait; in the order of the request
};
/// Sums of what waits: only of topics that have a limit, and not for each webhook.
void ReadTopicSizes(db::Transaction& tx, db::Items<TopicSizesRequest, TopicSizesReply> items);

/// Which bots without order have as much as they may, as a look of some seconds ago found (ordered
/// queues are counted exactly). Threads: any.
class FullTopics {
 public:
  using Name = TopicSizesRequest::Name;

  /// Those that have a limit.
  static TopicSizesRequest Limited(const Snapshot& bots);
  void Learn(const Snapshot& bots, const TopicSizesRequest& asked, const TopicSizesReply& sizes);
  bool Has(const std::string& tenant, const std::string& bot) const;

 private:
  mutable base::Mutex mutex_;
  std::set<Name> full_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::webhooks
