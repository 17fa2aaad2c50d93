#pragma once

#include <string>

#include "db/once.hpp"
#include "sessions/look.hpp"
#include "sessions/rules.hpp"

namespace tenure::sessions {

/// The bodies of /sessions, camelCase as the document that they come from.

/// What the client of a PUT sees. One place for it, as it is also what is kept for an idempotency
/// key. A foreign session has status 409 and no body here: its problem document is the route's.
db::Answer PutAnswer(const PutReply& reply);
std::string SessionJson(const Session& session, std::int64_t now_ms);
std::string ListJson(const ListReply& reply);

}  // namespace tenure::sessions
