#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/operation.hpp"

namespace tenure::messages {

using TopicKey = std::pair<std::string, std::string>;  ///< tenant, topic

/// A process says which topics it wants to be told of, or looks which transactions are under way.
///
/// The trap (spec 05, Waiting): a producer that looked before the flag was committed tells nobody,
/// and commits after the consumer looked. So, once its flag is committed, a consumer takes `xmax`
/// of a snapshot: every producer that may have missed the flag has a lower number. It goes on
/// looking every few milliseconds until `xmin` has reached that: then all of them have ended, and
/// what they brought is there to be seen. Whoever comes later sees the flag.
struct WatchRequest {
  std::vector<TopicKey> watch{};  ///< flags that are set, or live on
  std::vector<TopicKey> leave{};  ///< flags that are taken back
  std::int64_t for_ms = 0;
};
struct WatchReply {
  std::int64_t xmin = 0;  ///< with nothing to set or take back; 0 where nobody else commits
  std::int64_t xmax = 0;
};
class WatchHandler final : public db::TypedHandler<WatchRequest, WatchReply> {
 public:
  explicit WatchHandler(std::string_view process) : process_(process) {}
  std::string_view name() const override { return "messages.watch"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;

 private:
  const std::string_view process_;
};

}  // namespace tenure::messages
