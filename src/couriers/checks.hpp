#pragma once

#include <string>
#include <string_view>

#include "couriers/courier.hpp"

/// What no store would take is refused before it is sent: std::invalid_argument that names the
/// field. The same bounds as those of the routes.
namespace tenure::couriers {

void CheckMessage(const Message& message);
void CheckMessages(std::span<const Message> messages);
void CheckWish(const Wish& wish);

/// Whatever an exception said: it must only be storable, and not too long.
std::string StorableError(std::string_view error);

/// The headers, with the trace context among them where there is one: that is where the SQL
/// functions and the routes look for it.
/// REQUIRES: the message was checked.
std::string HeadersWithTrace(const Message& message);

}  // namespace tenure::couriers
