#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/waiting/notifications.hpp"
#include "webhooks/bots/change.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

struct ApplyRequest {
  bots::File file{};      ///< of its tenant
  std::string content{};  ///< the same as JSON
  std::string person{};
  std::optional<std::int64_t> revision{};  ///< which one is replaced; none: whichever is there
  bool dry_run = false;
  bool only_first = false;  ///< a tenant that has a file keeps it

  std::size_t bytes() const { return 3 * content.size() + db::BytesOf(person); }
};
struct ApplyReply {
  enum class Kind {
    kDone,         ///< or would be
    kMoved,        ///< another revision is in force than the one to be replaced
    kSourceTaken,  ///< another tenant has a source of that name: `name`
  };
  Kind kind = Kind::kDone;
  std::int64_t revision = 0;  ///< that is in force now
  std::vector<bots::Change> changes{};
  bool kept = false;  ///< `only_first`, and there was one: the changes were not made
  std::string name{};
};

/// Puts a tenant's bots in force, for all processes at once, while they run: under the bots lock,
/// which whoever routes has shared. What commits afterwards is routed by the new file, and nothing
/// is by two. Repeating the same file changes nothing and makes no revision.
///
/// The bots' queues change in the same transaction: what a queue is and who feeds it are never of
/// two revisions.
class ApplyHandler final : public messages::NotifyingHandler<ApplyRequest, ApplyReply> {
 public:
  using NotifyingHandler::NotifyingHandler;
  std::string_view name() const override { return "webhooks.apply"; }
  /// It waits for a lock for as long as a batch of webhooks takes, on no lane of theirs.
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }

 protected:
  messages::Notifications WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::webhooks
