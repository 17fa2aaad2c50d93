#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "support/raw_http.hpp"

namespace tenure::support {

struct ReceivedRequest {
  std::string method;
  std::string target;
  HttpHeaders headers;
  std::string body;

  /// The value of the one header of that name, in any case; throws when there are several.
  std::optional<std::string> FindHeader(std::string_view name) const;
};

/// A server on a free port of 127.0.0.1 for what Tenure sends to others. It does nothing by itself:
/// the test takes requests one by one and answers each, or lets it hang. Strict: what is no proper
/// HTTP/1.1 with a length throws, and so does waiting longer than the time-out. For one thread.
class HttpReceiver {
 public:
  explicit HttpReceiver(std::chrono::milliseconds timeout = std::chrono::seconds(30));
  ~HttpReceiver();
  HttpReceiver(const HttpReceiver&) = delete;
  HttpReceiver& operator=(const HttpReceiver&) = delete;

  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// The next request, on the connection that there is or on a new one. A connection that ends
  /// inside a request is forgotten.
  ReceivedRequest Next();
  /// Answers the last one with JSON; the connection stays open.
  void Answer(int status, std::string_view body = "{}");
  /// Answers with exactly these bytes, also wrong ones; what the client does not take is lost.
  void Say(std::string_view bytes);
  void HangUp();
  /// Whether the client has nothing more to say: waits for its end.
  bool AtEnd();

 private:
  std::optional<ReceivedRequest> TakeRequest();
  /// Waits for bytes or for another connection.
  void Receive();

  const std::chrono::milliseconds timeout_;
  int listener_ = -1;
  int connection_ = -1;
  int port_ = 0;
  std::string buffer_;  // received on the connection, not yet consumed
};

}  // namespace tenure::support
