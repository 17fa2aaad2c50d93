#pragma once

#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/task.hpp"
#include "webhooks/webhooks.hpp"

namespace tenure::webhooks {

/// Which bots are in force, asked of the store before a webhook is refused by what this process
/// remembers: another process may have applied a file a moment ago, and GitHub does not send again.
///
/// However many ask, one look is under way, and whoever comes meanwhile waits for the next one: those
/// who are refused cannot keep the store busy. Threads: any.
class NewestBots {
 public:
  explicit NewestBots(Webhooks& webhooks) : webhooks_(webhooks) {}

  /// Runs `then` on `home` when this process knows what was in force at the time of the call, or
  /// when the store could not say.
  void Learn(base::Executor& home, base::Task then);

 private:
  struct Asker {
    base::Executor* home;
    base::Task then;
  };
  void Look();

  Webhooks& webhooks_;
  base::Mutex mutex_;
  std::vector<Asker> waiting_ TENURE_GUARDED_BY(mutex_);  // for the next look
  bool looking_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::webhooks
