#pragma once

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <stop_token>
#include <thread>

namespace tenure::cli {

/// Signals that are meant for a command which this program runs, kept from ending this program:
/// SIGTERM, SIGINT, SIGHUP and SIGQUIT are blocked and read from a descriptor instead.
///
/// Life: made before any thread is started, so that all of them leave the signals alone; lives as
/// long as the command. The destructor puts the mask back.
class HeldSignals {
 public:
  /// `also`: further ones than those.
  HeldSignals(std::initializer_list<int> also = {});
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int fd() const { return fd_; }  ///< readable when one is there
  int Take();                     ///< the next one; 0: there is none
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

/// While this program itself waits for something: the first signal means to wait no longer, and
/// requests `token`. A thread watches for it.
class Impatience {
 public:
  explicit Impatience(HeldSignals& signals);
  ~Impatience();
  Impatience(const Impatience&) = delete;
  Impatience& operator=(const Impatience&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

  /// Watches no longer, and returns the signal that it took; 0: none, and later ones are left.
  int End();

 private:
  void Watch(HeldSignals& signals);

  const int over_;  // an eventfd: End was called
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  std::thread watcher_;
};

}  // namespace tenure::cli
