#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "client/store/message_store.hpp"
#include "support/postgres_cluster.hpp"
#include "support/temp_dir.hpp"

namespace tenure::client {

enum class PlaceKind { kSqlite, kPostgres, kPooledPostgres };

/// A fresh store by its URL, and a look behind the library: the kernel itself on the same store, as
/// another process has it.
class Place {
 public:
  explicit Place(PlaceKind kind) : kind_(kind) {
    if (kind == PlaceKind::kSqlite) {
      dir_.emplace();
      url_ = "sqlite://" + (dir_->path() / "messages.db").string();
    } else {
      database_ = support::SharedPostgres().CreateDatabase();
      url_ = support::SharedPostgres().Url(database_);
    }
    kernel_ = std::make_unique<MessageStore>(
        kind == PlaceKind::kSqlite
            ? StoreAddress(SqliteAddress{(dir_->path() / "messages.db").string()})
            : StoreAddress(PostgresAddress{url_, pooled()}));
  }
  ~Place() {
    kernel_.reset();
    if (!database_.empty()) support::SharedPostgres().DropDatabase(database_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  const std::string& url() const { return url_; }
  bool pooled() const { return kind_ == PlaceKind::kPooledPostgres; }
  messages::Messages& kernel() { return kernel_->messages(); }

  /// Runs `submit(callback)` and waits for its reply.
  template <class Reply, class Submit>
  static Reply Ask(Submit submit) {
    std::promise<Reply> promise;
    submit([&](db::Result<Reply> result) {
      if (result.ok())
        promise.set_value(std::move(result.value()));
      else
        promise.set_exception(std::make_exception_ptr(result.fault()));
    });
    return promise.get_future().get();
  }

  void ChangeTopic(messages::TopicChange change) {
    change.tenant = "default";
    Ask<messages::TopicChangeReply>(
        [&](auto done) { kernel().ChangeTopic(std::move(change), nullptr, std::move(done)); });
  }
  messages::DeadReply Dead(const std::string& topic) {
    return Ask<messages::DeadReply>([&](auto done) {
      messages::DeadRequest request;
      request.filter.tenant = "default";
      request.filter.topic = topic;
      kernel().ListDead(std::move(request), nullptr, std::move(done));
    });
  }
  /// PostgreSQL only.
  std::string Execute(const std::string& sql) const {
    return support::SharedPostgres().Execute(database_, sql);
  }
  /// Gives all workers up for dead that do not send a heartbeat at this very moment, and takes back
  /// what they held. PostgreSQL only.
  std::int64_t GiveUpWorkers() {
    Execute("update tenure.message_workers set expires_ms = 0");
    std::int64_t taken = 0;
    for (bool more = true; more;) {
      const auto reply =
          Ask<messages::ReapReply>([&](auto done) { kernel().ReapSome({false}, std::move(done)); });
      taken += reply.returned + reply.crashed + reply.dead;
      more = reply.has_more;
    }
    return taken;
  }

 private:
  const PlaceKind kind_;
  std::optional<support::TempDir> dir_;
  std::string database_;
  std::string url_;
  std::unique_ptr<MessageStore> kernel_;
};

}  // namespace tenure::client
