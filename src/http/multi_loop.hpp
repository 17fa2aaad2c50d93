#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "http/curl.hpp"

namespace tenure::http {

/// libcurl's multi handle on an epoll. A round costs what happens in it, however many requests are under
/// way: curl_multi_perform and curl_multi_poll look at each of them in every round.
///
/// Threads: `Wake` from any; everything else from one.
class MultiLoop {
 public:
  /// REQUIRES: the clock is the machine's.
  MultiLoop(std::size_t kept_connections, const base::Clock& clock);
  ~MultiLoop();
  MultiLoop(const MultiLoop&) = delete;
  MultiLoop& operator=(const MultiLoop&) = delete;

  void Add(CURL* handle) { curl::Check(curl_multi_add_handle(multi_.get(), handle)); }
  /// Of one that is under way this closes the connection.
  void Remove(CURL* handle) { curl::Check(curl_multi_remove_handle(multi_.get(), handle)); }

  /// Waits until something can go on, `Wake` was called, or `most_ms` have passed; goes on with it.
  void RunOnce(std::int64_t most_ms);
  /// Ends the wait that is under way, or the next one.
  void Wake();

  struct Ended {
    CURL* handle = nullptr;
    CURLcode result = CURLE_OK;
  };
  /// One that has ended, each once. It is still to be removed.
  std::optional<Ended> TakeEnded();

 private:
  static int OnSocket(CURL* handle, curl_socket_t socket, int what, void* self, void* of_socket);
  static int OnTimer(CURLM* multi, long wait_ms, void* self);
  void Watch(curl_socket_t socket, int what) const;
  void Go(curl_socket_t socket, int events);

  const base::Clock& clock_;
  const int epoll_;
  const int wakeup_;                           // an eventfd
  std::optional<std::int64_t> timer_boot_ms_;  // libcurl's own
  const curl::Multi multi_;                    // last: its end still calls OnSocket
};

}  // namespace tenure::http
