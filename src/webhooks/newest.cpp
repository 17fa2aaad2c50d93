#include "webhooks/newest.hpp"

#include <memory>

namespace tenure::webhooks {

void NewestBots::Learn(base::Executor& home, base::Task then) {
  {
    const base::Lock lock(mutex_);
    waiting_.push_back({&home, std::move(then)});
    if (std::exchange(looking_, true)) return;
  }
  Look();
}

void NewestBots::Look() {
  const auto asking = std::make_shared<std::vector<Asker>>();
  {
    const base::Lock lock(mutex_);
    asking->swap(waiting_);
    looking_ = !asking->empty();
  }
  if (asking->empty()) return;
  webhooks_.InForce({webhooks_.bots().Get()->revision}, nullptr, [this, asking](auto reply) {
    if (reply.ok() && reply.value().bots) webhooks_.bots().Put(reply.value().bots);
    for (Asker& each : *asking) each.home->Post(std::move(each.then));
    Look();
  });
}

}  // namespace tenure::webhooks
