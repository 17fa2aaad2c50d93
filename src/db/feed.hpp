#pragma once

#include <functional>
#include <string_view>

namespace tenure::db {

/// What a feed tells. Both run on the feed's thread, must return soon and must not throw.
struct FeedEvents {
  /// Another process (or this one) sent this with sql::kNotify, in a transaction that committed.
  std::function<void(std::string_view payload)> on_payload = {};
  /// Something may have been missed, or the store cannot say what happened: everybody who waits
  /// asks again. Also once when the feed has begun to listen.
  std::function<void()> on_gap = {};
};

/// News of what other processes committed: what makes a waiter ask again before its time has come.
/// It is a hint and nothing else. While it is down nothing is told, and when it is back `on_gap`
/// is: whoever waits also polls, seldom while `is_listening` and more often while it is not.
///
/// No wake-up is lost across an outage: whatever was committed before the feed listened (again) is
/// covered by the `on_gap` that follows, whatever is committed later is told.
///
/// Life: made by Engine::NewFeed, Start, Stop (at the latest by the destructor); it must not
/// outlive its engine. After Stop nothing is told any more. Threads: Start and Stop are the
/// owner's, the rest any.
class Feed {
 public:
  virtual ~Feed() = default;

  virtual void Start() = 0;
  virtual void Stop() = 0;
  /// Whether news arrive right now.
  virtual bool is_listening() const = 0;
  /// Whether anybody waits. A feed that must poll for its news does so only meanwhile; when
  /// interest returns, `on_gap` covers what was not looked at. Until the first call nobody does.
  virtual void SetInterested(bool interested) = 0;
};

}  // namespace tenure::db
