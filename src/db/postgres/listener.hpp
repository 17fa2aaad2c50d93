#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

#include "db/feed.hpp"
#include "db/postgres/connection.hpp"

namespace tenure::db::postgres {

/// The channel of sql::kNotify.
inline constexpr const char* kChannel = "tenure";

/// When a listener doubts that anybody is at the other end.
struct ListenerPatience {
  std::int64_t silence_ms = 5'000;  ///< nothing was heard for so long: the server is asked
  std::int64_t answer_ms = 5'000;   ///< and must answer in this time
};

/// A process's one LISTEN connection, with a thread of its own.
///
/// It connects, says LISTEN, and then `on_gap`: the notifications of what committed before LISTEN
/// was answered have been missed, those of what commits later arrive. A connection that is lost is
/// replaced, with back-off and jitter (so that a thousand processes do not come back in one
/// moment), and the same begins again. A peer that died without a word is noticed within seconds:
/// when nothing has been heard for a while the server is asked, and must answer (ListenerPatience).
///
/// Nothing blocks but poll(2), with an eventfd of Stop in its set (and the look-up of a host name,
/// in libpq): Stop returns promptly also while the server is down or does not answer.
class Listener final : public Feed {
 public:
  /// `direct` leads past any pooler: LISTEN belongs to a session.
  Listener(ConnectionOptions direct, std::string channel, FeedEvents events,
           ListenerPatience patience = {});
  ~Listener() override;

  void Start() override;
  void Stop() override;
  bool is_listening() const override { return listening_.load(); }
  void SetInterested(bool) override {}  // an idle LISTEN costs nothing

 private:
  struct Stopped {};  // thrown where Stop was noticed

  void Loop();
  void Listen();
  void Connect();
  void Deliver();
  /// A plain command; its answer is only waited for.
  void Execute(const std::string& command);
  /// Reads what has arrived. Throws when the connection is gone.
  void Consume();
  /// Sleeps until the socket is ready for `events` (0: only sleeps); false at the deadline. Throws
  /// Stopped.
  bool Sleep(short events, std::int64_t until_boot_ms);
  void BackOff();
  [[noreturn]] void Lost(const std::string& what);

  const ConnectionOptions options_;
  const std::string channel_;
  const FeedEvents events_;
  const ListenerPatience patience_;

  // The thread's.
  ConnectionPtr connection_;
  std::int64_t pause_ms_ = 0;  // before the next attempt to connect
  std::minstd_rand jitter_{std::random_device{}()};

  std::atomic<bool> listening_{false};  // written by the thread
  int stop_ = -1;                       // eventfd; made by Start, closed after the thread has ended
  std::thread thread_;                  // the owner's
};

}  // namespace tenure::db::postgres
