#pragma once

#include <memory>

#include "base/task.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// One request and its answer. Lives on the loop of its connection: all members are called on that
/// loop's thread only. Work that ends elsewhere posts back through `executor()`. Whoever holds the
/// pointer keeps the request's buffers alive; the client may have gone meanwhile, then `Reply` does
/// nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const Request& request() const = 0;
  /// The loop of this connection; outlives the exchange.
  virtual base::Executor& executor() = 0;

  /// Answers. REQUIRES: called once, on the loop's thread (also from inside the handler).
  virtual void Reply(Response response) = 0;

  void Reply(const Problem& problem) { Reply(ToResponse(problem, request().request_id)); }
  void Reply(const base::Fault& fault) { Reply(FromFault(fault)); }
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace tenure::http
