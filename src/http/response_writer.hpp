#pragma once

#include <string>
#include <string_view>

#include "http/message.hpp"

namespace tenure::http {

/// What an answer on the wire has besides the handler's response.
struct ResponseFrame {
  std::string_view request_id;
  std::string_view date;  ///< as HttpDate gives it
  bool head = false;      ///< the request was HEAD: everything but the body
  bool close = false;     ///< the connection ends after this answer
};

/// Appends header and body as they go to the socket, so that an answer is one write.
void AppendResponse(std::string& out, const Response& response, const ResponseFrame& frame);

/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(std::int64_t wall_ms);

}  // namespace tenure::http
