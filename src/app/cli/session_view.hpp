#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::app {

/// A session as a server describes it, field by field as text for people. What the server left out
/// is empty; nothing in it is checked but its type.
struct SessionView {
  std::string id;
  std::string user;
  std::string tenant;
  std::string capacity;
  std::string kind;  ///< "2 Standard"
  std::string start;
  std::string end;
  bool active = false;
  std::string end_reason;
  std::string status;       ///< of PUT: "created", "existing", "upgraded"
  std::string previous_id;  ///< of PUT, after an upgrade
};

/// A page of a list. `json` are the same sessions as the server wrote them.
struct SessionPage {
  std::vector<SessionView> items;
  std::vector<std::string> json;
  std::optional<std::string> next_cursor;
};

/// Both throw base::UserError when the server's answer is not what it should be.
SessionView ParseSession(std::string_view body);
SessionPage ParseSessionPage(std::string_view body);

/// "29d 23h", "ended (expired)", or "active" when the server's time is not known.
std::string LeftText(const SessionView& session, std::optional<std::int64_t> now_ms);

/// One session as a block of lines, "kind      2 Standard".
std::string SessionText(const SessionView& session, std::optional<std::int64_t> now_ms);

}  // namespace tenure::app
