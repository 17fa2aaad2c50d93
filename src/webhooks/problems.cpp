#include "webhooks/problems.hpp"

#include <string_view>

#include "webhooks/fan_out.hpp"

namespace tenure::webhooks {
namespace {

constexpr int kFullAgainSeconds = 30;

}  // namespace

bool IsQueueFull(const base::Fault& fault) {
  return std::string_view(fault.what()).starts_with(kQueueFull);
}

http::Problem QueueFull() {
  return {.status = 503,
          .type = "queue-full",
          .title = "A bot's queue is full",
          .detail = "Nothing was stored, for no bot. Deliver it again when there is room.",
          .retry_after_s = kFullAgainSeconds};
}

}  // namespace tenure::webhooks
