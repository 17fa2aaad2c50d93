#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "auth/key.hpp"
#include "auth/probe.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "config/secret.hpp"
#include "http/client.hpp"

namespace tenure::auth {

/// Keeps the keys fresh, off the way of requests: they take what is there and never wait.
///
/// Files are read when the object is made, every kFilesMs and on `Use` (SIGHUP). What cannot be
/// read then, or is no key, changes nothing and is logged once: a file that is being replaced must
/// not shut everybody out. An address is asked at the start, every kRefreshMs, and when somebody
/// met a token whose key is not known (`Miss`), but never twice within kPauseMs, however many
/// strangers make up key ids. While it does not answer, or answers nonsense, the last keys stay for
/// kKeepMs; then they are given up, since nobody can say any more which of them were withdrawn.
///
/// What is asked: a GET without redirects, of 10 s and 256 KiB at most; https, or this machine.
///
/// Life: construct (throws base::UserError when a file is wrong), Start, Stop; from one thread.
/// Tests drive it by `Step` instead of `Start`. Other members: any thread.
class KeyKeeper {
 public:
  static constexpr std::int64_t kFilesMs = 10'000;
  static constexpr std::int64_t kPauseMs = 30'000;
  static constexpr std::int64_t kRefreshMs = 10 * 60'000;
  static constexpr std::int64_t kKeepMs = 24 * 3'600'000;

  /// What is of this machine.
  struct Local {
    std::vector<std::string> files{};
    config::Secret secret{};  ///< for HS256; empty: none
  };

  /// `jwks_url` may be empty.
  KeyKeeper(Local local, std::string jwks_url, const base::Clock& clock, Probe& probe);
  ~KeyKeeper();

  void Start();
  void Stop();

  /// The keys that count now.
  std::shared_ptr<const KeySet> keys() const;
  /// Whether the address has never answered yet, or not for too long: then that a key is not known
  /// means nothing.
  bool IsBlind() const;

  /// Somebody showed a token whose key is not known: ask for fresh ones as soon as that is allowed.
  void Miss();
  /// From now on these, read at once.
  void Use(Local local);

  /// Does what is due, in the caller's thread. REQUIRES: not started.
  void Step();

 private:
  /// Keys, and the text that they were made of: whether they have changed is seen by it.
  struct Source {
    std::string text{};
    std::vector<Key> keys{};
  };

  void Loop();
  std::int64_t NextDueBootMs() const;
  bool FetchIsDue() const;
  bool IsMissed() const;
  void RefreshLocal(Local local);
  void Fetch();
  Source Ask();
  void FetchFailed(const std::string& why);
  void Publish();
  static void CheckNames(const std::vector<Key>& keys);
  static Source Read(const Local& local);

  const std::string jwks_url_;
  const base::Clock& clock_;
  Probe& probe_;
  std::optional<http::Client> client_;  // the thread's; `Stop` cancels it
  std::string path_;

  // The thread's (before Start and in Step: the caller's).
  Local local_;
  Source from_files_;
  Source from_url_;
  std::int64_t files_read_boot_ms_ = 0;
  std::optional<std::int64_t> asked_boot_ms_;
  std::optional<std::int64_t> answered_boot_ms_;
  std::string file_trouble_;   // what was logged last
  std::string fetch_trouble_;  // what was logged last

  mutable base::Mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const KeySet> published_ TENURE_GUARDED_BY(mutex_);
  bool blind_ TENURE_GUARDED_BY(mutex_) = false;
  /// What `Use` said, until it is read.
  std::optional<Local> wanted_ TENURE_GUARDED_BY(mutex_);
  /// Since the last time that the issuer was asked.
  bool missed_ TENURE_GUARDED_BY(mutex_) = false;
  bool woken_ TENURE_GUARDED_BY(mutex_) = false;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::auth
