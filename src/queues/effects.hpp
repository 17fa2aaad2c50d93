#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/waiting/notifications.hpp"
#include "queues/session.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// A turn that is over.
struct EndedTurn {
  std::string queue{};
  std::string entity{};
  End end = End::kNone;
  bool was_idle = false;      ///< it ended with nothing left to do
  std::int64_t at_ms = 0;     ///< when it ended
  std::int64_t ms = 0;        ///< how long it was
  std::int64_t messages = 0;  ///< that were completed in it
  std::string session{};      ///< its printed name
  Scope scope = Scope::kNone;
};

/// A message that a holder has reported on.
struct HandledMessage {
  std::string queue{};
  base::Uuid id{};
  std::string trace{};  ///< what its sender said that it hangs below
  std::int64_t delivery_count = 1;
  std::int64_t at_ms = 0;  ///< of the report
  std::int64_t ms = 0;     ///< since it was handed out
  bool done = false;       ///< or it failed
};

/// What became of a queue's messages.
struct Moved {
  std::int64_t sent = 0;
  std::int64_t done = 0;
  std::int64_t retried = 0;
  std::int64_t parked = 0;
  std::int64_t skipped = 0;
};

/// What a transaction brought besides its replies: for those who wait, and for whoever counts.
struct Effects {
  messages::Notifications notifications{};
  std::vector<EndedTurn> turns{};
  std::vector<HandledMessage> handled{};  ///< where traces are recorded
  std::map<std::string, Moved> moved{};   ///< by queue
  std::vector<std::int64_t> handed_ms{};  ///< how long each message waited that was handed out
};

class Probe;

/// After COMMIT. `probe` null: nobody counts.
void Tell(const Effects& effects, wake::Registry& wake, Probe* probe);
bool RecordsTraces(const Probe* probe);

/// A handler whose transactions change sessions.
template <class Request, class Reply>
class ChangingHandler : public db::TypedHandler<Request, Reply, Effects> {
 public:
  using Items = typename db::TypedHandler<Request, Reply, Effects>::Items;
  ChangingHandler(Probe* probe, std::string_view process, wake::Registry& wake)
      : process_(process), wake_(wake), probe_(probe) {}

 protected:
  void DoneItems(Items, const Effects& effects) override { Tell(effects, wake_, probe_); }
  bool RecordsTraces() const { return queues::RecordsTraces(probe_); }

  const std::string_view process_;

 private:
  wake::Registry& wake_;
  Probe* const probe_;
};

}  // namespace tenure::queues
