#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "http/curl.hpp"
#include "http/outgoing.hpp"

namespace tenure::http {

/// One request on its way: its libcurl handle and what has come back so far. The handle points into
/// this object, so it does not move. Used by one thread; between construction and `Finish` the
/// handle is in a multi handle, which the owner sees to.
class OutgoingTransfer {
 public:
  /// REQUIRES: OutgoingProblem(request) found none; 0 < left_ms.
  OutgoingTransfer(OutgoingRequest request, Outgoing::Done done, const std::string& ca_file,
                   std::int64_t left_ms);
  OutgoingTransfer(const OutgoingTransfer&) = delete;
  OutgoingTransfer& operator=(const OutgoingTransfer&) = delete;

  CURL* handle() const { return easy_.get(); }

  /// What came of it, now that libcurl says that it is over. `wall_ms` is for a Retry-After with a
  /// date from a server that does not say what time it has itself.
  OutgoingReply Finish(CURLcode result, std::int64_t wall_ms);
  /// The same for one that is given up.
  OutgoingReply GiveUp(std::string why) const;

  Outgoing::Done& done() { return done_; }

 private:
  static std::size_t OnBody(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* self);
  void TakeHeader(std::string_view line);
  curl::HeaderList HeaderLines() const;
  std::string Trouble(CURLcode result) const;

  const OutgoingRequest request_;
  Outgoing::Done done_;
  const curl::HeaderList headers_;
  std::array<char, CURL_ERROR_SIZE> trouble_{};
  OutgoingReply reply_{};
  std::size_t header_bytes_ = 0;
  bool head_ended_ = false;
  std::string retry_after_{};
  std::optional<std::int64_t> date_ms_{};  // the server's own clock
  const curl::Easy easy_;                  // last: it points to the others
};

/// Why a request cannot be sent at all, if so. Quotes nothing of it: there may be secrets in it.
std::optional<std::string> OutgoingProblem(const OutgoingRequest& request);

/// What Retry-After asks for, from now on: seconds, or the distance of a date from `now_ms`. At
/// most a day: further ahead nobody knows what a server will want. Nothing when it is neither.
std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, std::int64_t now_ms);

}  // namespace tenure::http
