#pragma once

#include <memory>
#include <string>

#include <libpq-fe.h>

#include "sim/picture.hpp"

namespace tenure::stepped {

/// What PostgreSQL has on record about the messages of a tenant, seen by nobody's transaction.
class MessagePictures {
 public:
  explicit MessagePictures(const std::string& url);

  sim::Picture Read(const std::string& tenant, std::int64_t now_ms);

 private:
  struct Closer {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  using Result = std::unique_ptr<PGresult, Closer>;
  Result Ask(const char* sql, const std::string& tenant);

  std::unique_ptr<PGconn, Closer> connection_;
};

}  // namespace tenure::stepped
