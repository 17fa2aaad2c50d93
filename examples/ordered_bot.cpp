// A bot that sees the events of one thing in their order, one at a time, and of different things side by
// side. It keeps how many it has seen with the session, in the transaction that completes each, so what
// it says is right whatever crashes.
//
//   ordered_bot SERVER QUEUE COUNT   handles so many messages of a bot's queue

#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <tenure/queues/consumer.hpp>

namespace queues = tenure::queues;

namespace {

/// Until so many were handled. Threads: any.
class Countdown {
 public:
  explicit Countdown(int left) : left_(left) {}
  void Handled(const queues::Delivery& delivery, int seen) {
    const std::lock_guard lock(mutex_);
    std::cout << delivery.name << " " << delivery.sequence << ", " << seen << " seen" << std::endl;
    --left_;
    changed_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;  // guarded by mutex_
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: ordered_bot SERVER QUEUE COUNT\n";
    return 2;
  }
  Countdown countdown(std::atoi(argv[3]));
  queues::Consumer bot(argv[1], argv[2],
                       [&](const queues::Delivery& delivery, queues::Context& context) {
                         const int seen = std::atoi(context.State().value_or("0").c_str()) + 1;
                         context.SetState(std::to_string(seen));
                         countdown.Handled(delivery, seen);
                       });
  countdown.Await();
  bot.Stop();  // what it handled is reported before it returns
  return bot.stats().stale == 0 ? 0 : 1;
}
