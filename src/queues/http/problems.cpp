#include "queues/http/problems.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "queues/http/json.hpp"

namespace tenure::queues {
namespace {

std::string Quoted(std::string_view text) {
  std::string json;
  base::JsonWriter(json).Value(text);
  return json;
}

http::Problem UnavailableProblem(std::string detail, std::string_view reason) {
  http::Problem problem{.status = 409,
                        .type = "session-unavailable",
                        .title = "The session cannot be taken now",
                        .detail = std::move(detail)};
  problem.extensions.emplace_back("reason", Quoted(reason));
  return problem;
}

}  // namespace

std::string QueueOf(const http::ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  if (name.empty() || name.size() > kMaxNameBytes)
    http::RefuseField("queue", fmt::format("must be 1 to {} bytes in UTF-8", kMaxNameBytes));
  return name;
}

base::Uuid SessionOf(const http::ExchangePtr& exchange) {
  if (const auto id = base::Uuid::Parse(exchange->request().path_parameters[1])) return *id;
  http::RefuseField("id", "must be a UUID, such as 0190c2a0-5f3e-8c4d-8a1b-2c3d4e5f6071");
}

http::Problem UnknownQueue(const http::ExchangePtr& exchange) {
  return http::NotFound(fmt::format(
      "There is no queue {}: no bot of that name was ever configured, or it was dropped.",
      exchange->request().path_parameters[0]));
}

http::Problem UnknownQueueSession() {
  return http::NotFound("There is no such session in this queue.");
}

http::Problem UnorderedQueue(const http::ExchangePtr& exchange) {
  const std::string& name = exchange->request().path_parameters[0];
  http::Problem problem{
      .status = 409, .type = "queue-unordered", .title = "The queue has no sessions"};
  problem.detail = fmt::format(
      "The queue {} keeps no order. It is the topic {}: messages are sent to it and claimed there.",
      name, QueueTopic(name));
  problem.extensions.emplace_back("topic", Quoted(QueueTopic(name)));
  return problem;
}

http::Problem ActiveQueue(const http::ExchangePtr& exchange) {
  return {.status = 409,
          .type = "queue-active",
          .title = "The queue is in use",
          .detail = fmt::format("The bot {} is configured. Take it out of its file and apply that "
                                "(tenure queue apply); then its queue can be dropped.",
                                exchange->request().path_parameters[0])};
}

http::Problem DrainingQueue(const http::ExchangePtr& exchange) {
  return {.status = 409,
          .type = "queue-draining",
          .title = "The queue takes no more messages",
          .detail = fmt::format("The bot {} was removed: its queue hands out what is left.",
                                exchange->request().path_parameters[0])};
}

http::Problem FullQueue(const http::ExchangePtr& exchange) {
  return {.status = 503,
          .type = "queue-full",
          .title = "The queue is full",
          .detail = fmt::format("The queue {} has as many bytes as its configuration allows. "
                                "Nothing was taken.",
                                exchange->request().path_parameters[0]),
          .retry_after_s = 10};
}

http::Problem SessionUnavailable(const NotToBeHad& why) {
  http::Problem problem = UnavailableProblem(
      fmt::format("The session cannot be accepted: {}.", ToText(why.reason)), ToText(why.reason));
  if (why.reason == NotToBeHad::Reason::kHeld)
    problem.detail = fmt::format("The session is held by {} until {}.", why.consumer,
                                 base::UtcText(why.until_ms));
  if (!why.consumer.empty()) problem.extensions.emplace_back("consumer", Quoted(why.consumer));
  if (why.until_ms > 0) {
    std::string until;
    base::JsonWriter(until).Time(why.until_ms);
    problem.extensions.emplace_back("until", std::move(until));
  }
  return problem;
}

http::Problem SessionUnavailable(const SessionRow& row) {
  if (row.state == State::kHeld)
    return SessionUnavailable(
        NotToBeHad{NotToBeHad::Reason::kHeld, row.consumer, row.lease_until_ms});
  return UnavailableProblem(fmt::format("The session is {}; its head is message {}, and {} wait.",
                                        ToText(row.state), row.head, row.depth()),
                            ToText(row.state));
}

http::Problem OrderLost(std::string_view why) {
  return {.status = 409,
          .type = "order-lost",
          .title = "The message cannot go back to its place",
          .detail = fmt::format("Nothing was changed: {}. It can be appended.", why)};
}

http::Problem SessionLost(const ReportOutcome& outcome) {
  http::Problem problem{.status = 409,
                        .type = "session-lost",
                        .title = "The hold on the session is over",
                        .detail = fmt::format("The latest fence of the session is {}; it is {}.",
                                              outcome.row.fence, ToText(outcome.row.state))};
  problem.extensions.emplace_back("fence", std::to_string(outcome.row.fence));
  return problem;
}

}  // namespace tenure::queues
