#pragma once

#include <cstdint>

#include "base/caller.hpp"
#include "db/operation.hpp"
#include "messages/waiting/consumers.hpp"
#include "queues/message.hpp"

namespace tenure::queues {

class Queues;

/// The accepts and receives of this process that wait. They stand in the lines of the kernel's
/// waiting machine (messages/waiting/consumers.hpp): an accept in that of its queue and in that of
/// its consumer, for what is reserved; one that chose a session, and a receive, in the session's.
///
/// An accept that got less than is there makes the next one ask; one that found something it could
/// not lock asks again soon; times that it learned of (deadlines, back-offs, reservations) are its
/// timers. Whoever goes while its question is under way releases what it is handed, unless the
/// client chose the accept's id: then it may ask for the same again.
class Waiters {
 public:
  using Id = messages::Consumers::Id;
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Waiters(Queues& queues, messages::Consumers& consumers)
      : queues_(queues), consumers_(consumers) {}

  Id Add(AcceptRequest request, std::int64_t wait_ms, base::Caller caller,
         Callback<AcceptReply> done);
  /// REQUIRES: one item, kReceive.
  Id Add(ReportRequest request, std::int64_t wait_ms, base::Caller caller,
         Callback<ReportReply> done);
  void Abandon(Id id) { consumers_.Abandon(id); }

 private:
  Queues& queues_;
  messages::Consumers& consumers_;
};

}  // namespace tenure::queues
