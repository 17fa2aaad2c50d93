#include "api/lease_calls.hpp"

namespace tenure::api {

using support::HttpResponse;

std::string Ask::Body() const {
  return R"({"term":")" + term + R"(","ttl_ms":)" + std::to_string(ttl_ms) + R"(,"holder":")" +
         holder + R"(","wait_ms":)" + std::to_string(wait_ms) + "}";
}

HttpResponse Lease::Acquire(const Ask& ask) {
  HttpResponse response = Post("acquire", ask.Body());
  if (response.status == 200) {
    term_ = ask.term;
    fence_ = response.Json()["fence"].Int();
  }
  return response;
}

std::string Lease::Path(const std::string& action) const {
  std::string path = "/api/v1/leases/";
  for (const char c : name_) path += c == '/' ? std::string("%2F") : std::string(1, c);
  return action.empty() ? path : path + "/" + action;
}

std::string Lease::FenceAndTerm() const {
  return R"({"fence":)" + std::to_string(fence_) + R"(,"term":")" + term_ + "\"}";
}

WaitingAcquire::WaitingAcquire(const Api& api, const Lease& lease, const Ask& ask)
    : path_(lease.Path("acquire")), connection_(api.port(), std::chrono::seconds(90)) {
  connection_.Send(support::FormatRequest(api.port(), "POST", path_, ask.Body()));
}

HttpResponse WaitingAcquire::Answer() {
  HttpResponse response = connection_.ReadResponse();
  ExpectDocumented("POST", path_, response);
  return response;
}

void AwaitLine(const Lease& lease, std::int64_t waiters) {
  Eventually(std::to_string(waiters) + " stand in line",
             [&] { return lease.Look()["waiters"].Int() == waiters; });
}

}  // namespace tenure::api
