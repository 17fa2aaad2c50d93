#pragma once

#include <string>

#include "sessions/look.hpp"
#include "sessions/rules.hpp"

namespace tenure::sessions {

/// The bodies of /sessions, camelCase as the document that they come from.
std::string PutJson(const PutReply& reply);
std::string SessionJson(const Session& session, std::int64_t now_ms);
std::string ListJson(const ListReply& reply);

}  // namespace tenure::sessions
