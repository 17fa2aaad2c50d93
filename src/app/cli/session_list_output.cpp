#include "app/cli/session_list_output.hpp"

#include <utility>
#include <vector>

namespace tenure::app {

ListOutput::Shape SessionListShape(SessionColumns fixed) {
  // What people look for stands first: a narrow terminal breaks the ids at the end.
  std::vector<TextTable::Column> columns{
      {"SESSION", 36}, {"KIND", 10}, {"LEFT", 16}, {"START", 24}, {"END", 24}};
  if (!fixed.user) columns.push_back({"USER", 36});
  if (!fixed.capacity) columns.push_back({"CAPACITY", 36});
  if (!fixed.tenant) columns.push_back({"TENANT", 36});
  return {std::move(columns), "no sessions", "nextCursor"};
}

ListOutput::Page SessionRows(const SessionPage& page, SessionColumns fixed,
                             std::optional<std::int64_t> now_ms) {
  ListOutput::Page out{.rows = {}, .json = page.json};
  for (const SessionView& session : page.items) {
    std::vector<std::string> cells{session.id, session.kind, LeftText(session, now_ms),
                                   session.start, session.end};
    if (!fixed.user) cells.push_back(session.user);
    if (!fixed.capacity) cells.push_back(session.capacity);
    if (!fixed.tenant) cells.push_back(session.tenant);
    out.rows.push_back(std::move(cells));
  }
  return out;
}

}  // namespace tenure::app
