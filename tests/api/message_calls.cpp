#include "api/message_calls.hpp"

namespace tenure::api {

using support::HttpResponse;
using support::Json;

constexpr const char* kClaimPath = "/api/v1/messages/claim";

std::string Topic::SetTimer(std::int64_t delay_ms) const {
  return api_.Call("POST", "/api/v1/timers", Message(R"(,"delay_ms":)" + std::to_string(delay_ms)))
      .Json()["id"]
      .Text();
}

Claimed Topic::Take(const std::string& more) const {
  const Json message = Claim(more).Json()["messages"][0];
  return {message["id"].Text(), message["fence"].Int()};
}

std::string OutcomeOf(const Json& reported) {
  for (const char* outcome : {"done", "stale", "gone"})
    if (reported[outcome].Size() == 1) return outcome;
  return "none: " + reported.Dump();
}

WaitingClaim::WaitingClaim(const Topic& topic, const std::string& more)
    : connection_(topic.api().port(), std::chrono::seconds(90)) {
  connection_.Send(support::FormatRequest(topic.api().port(), "POST", kClaimPath,
                                          topic.ClaimBody(R"(,"wait_ms":60000)" + more)));
}

HttpResponse WaitingClaim::Answer() {
  HttpResponse response = connection_.ReadResponse();
  ExpectDocumented("POST", kClaimPath, response);
  return response;
}

void AwaitWaiting(const Api& api, std::int64_t claims) {
  Eventually(std::to_string(claims) + " claims wait",
             [&] { return Metric(api, "messages_waiting_claims") == claims; });
}

}  // namespace tenure::api
