#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "db/once.hpp"
#include "http/idempotency.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "messages/routes.hpp"
#include "messages/spans.hpp"

/// What the routes of this folder have in common; for its *_routes.cpp only.
namespace tenure::messages {

void AddMessageRoutes(http::Router& router, const RouteParts& parts);
void AddTimerRoutes(http::Router& router, const RouteParts& parts);
void AddTopicRoutes(http::Router& router, const RouteParts& parts);
void AddDeadLetterRoutes(http::Router& router, const RouteParts& parts);

/// Enqueues what the body says, as one or as a list under `list`.
void EnqueueFrom(const RouteParts& parts, const http::ExchangePtr& exchange, std::string_view list,
                 bool is_timer, std::string_view operation);

/// Replies with the fault, or goes on with the value.
template <class Reply, class Then>
auto Answering(const http::ExchangePtr& exchange, Then then) {
  return [exchange, then = std::move(then)](db::Result<Reply> result) mutable {
    if (!result.ok()) {
      Conclude(exchange->span(), result.fault());
      return exchange->Reply(result.fault());
    }
    then(exchange, std::move(result.value()));
  };
}

/// Replies with the fault or with what is wrong with the idempotency key, or goes on with the
/// answer, which is given now or was before.
template <class Then>
auto AnsweringOnce(const http::ExchangePtr& exchange, Then then) {
  return Answering<db::OnceReply>(
      exchange, [then = std::move(then)](const http::ExchangePtr& to, db::OnceReply reply) {
        switch (reply.status) {
          case db::OnceStatus::kAnswered:
            return then(to, std::move(reply));
          case db::OnceStatus::kOtherBody:
            return to->Reply(http::KeyOfAnotherRequest());
          case db::OnceStatus::kUnderWay:
            return to->Reply(http::KeyUnderWay());
        }
      });
}

/// The key that the request names, if it does.
inline std::optional<db::OnceKey> OnceKeyOf(const http::ExchangePtr& exchange,
                                            std::string_view operation) {
  auto key = http::FindIdempotencyKey(exchange->request(), operation);
  if (!key) return std::nullopt;
  return db::OnceKey{std::move(key->name), std::move(key->body_hash)};
}

/// The id in the path. Throws a 400 when it is none.
inline base::Uuid IdOf(const http::ExchangePtr& exchange) {
  if (const auto id = base::Uuid::Parse(exchange->request().path_parameters[0])) return *id;
  throw http::ProblemError(http::InvalidRequest(
      {{"id", "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071"}}));
}

/// Adds one route after the other below a path.
class RouteAdder {
 public:
  RouteAdder(http::Router& router, const RouteParts& parts, std::string path)
      : router_(router), parts_(parts), path_(std::move(path)) {}

  struct Names {
    std::string operation;
    std::string scope;
    std::string span = {};
    std::vector<std::string> acts = {};
  };
  void operator()(http::Method method, const std::string& below, Names names,
                  void (*handle)(const RouteParts&, const http::ExchangePtr&)) {
    router_.Add({.method = method,
                 .pattern = path_ + below,
                 .operation = std::move(names.operation),
                 .scope = std::move(names.scope),
                 .handler =
                     [parts = parts_, handle](const http::ExchangePtr& exchange) {
                       Begin(exchange->span());
                       handle(parts, exchange);
                     },
                 .encoded_slash = true,
                 .span = std::move(names.span),
                 .acts = std::move(names.acts)});
  }

 private:
  http::Router& router_;
  const RouteParts& parts_;
  const std::string path_;
};

}  // namespace tenure::messages
