#pragma once

#include <span>
#include <vector>

#include "couriers/courier.hpp"
#include "http/client.hpp"

namespace tenure::couriers {

// What a Tenure server answered, read into the library's types. It may not be Tenure that answers:
// whatever cannot be read is Unavailable, with an unknown outcome.

std::vector<Enqueued> ReadEnqueued(const http::ClientResponse& response, std::size_t count);
std::vector<Delivery> ReadClaimed(const http::ClientResponse& response);
/// Per report, in their order.
std::vector<Outcome> ReadOutcomes(const http::ClientResponse& response,
                                  std::span<const Report> reports);

}  // namespace tenure::couriers
