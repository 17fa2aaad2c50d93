#pragma once

#include <memory>
#include <string>

struct pg_conn;

namespace tenure::api {

/// A connection of the test's own to PostgreSQL, with a transaction that stays open between calls:
/// for holding locks against the server, and for looking at a database that no cluster object has.
class SqlSession {
 public:
  explicit SqlSession(const std::string& url);
  /// The first value of the result as text; empty when there is none.
  std::string Execute(const std::string& sql);
  /// The SQLSTATE with which it is refused; empty when it is not.
  std::string RefusalOf(const std::string& sql);

 private:
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace tenure::api
