#include "app/cli/session_list_output.hpp"

#include <vector>

#include <fmt/format.h>

#include "app/cli/text_table.hpp"
#include "base/json_writer.hpp"
#include "config/printable.hpp"

namespace tenure::app {

SessionListOutput::SessionListOutput(Form form, SessionColumns fixed, Console& console)
    : form_(form), fixed_(fixed), console_(console) {}

void SessionListOutput::Add(const SessionPage& page, std::optional<std::int64_t> now_ms) {
  form_ == Form::kJson ? AddJson(page) : AddRows(page, now_ms);
  count_ += page.items.size();
}

void SessionListOutput::AddRows(const SessionPage& page, std::optional<std::int64_t> now_ms) {
  if (page.items.empty()) return;
  // What people look for stands first: a narrow terminal breaks the ids at the end.
  std::vector<TextTable::Column> columns{
      {"SESSION", 36}, {"KIND", 10}, {"LEFT", 16}, {"START", 24}, {"END", 24}};
  if (!fixed_.user) columns.push_back({"USER", 36});
  if (!fixed_.capacity) columns.push_back({"CAPACITY", 36});
  if (!fixed_.tenant) columns.push_back({"TENANT", 36});
  TextTable table(std::move(columns));
  for (const SessionView& session : page.items) {
    std::vector<std::string> cells{session.id, session.kind, LeftText(session, now_ms),
                                   session.start, session.end};
    if (!fixed_.user) cells.push_back(session.user);
    if (!fixed_.capacity) cells.push_back(session.capacity);
    if (!fixed_.tenant) cells.push_back(session.tenant);
    table.Add(std::move(cells));
  }
  console_.out << table.Text(count_ == 0 ? TextTable::Heading::kShow
                                         : TextTable::Heading::kLeaveOut);
}

void SessionListOutput::AddJson(const SessionPage& page) {
  if (count_ == 0) console_.out << "{\"items\":[";
  bool first = count_ == 0;
  for (const std::string& item : page.json) {
    if (!first) console_.out << ",";
    first = false;
    console_.out << (console_.out_is_terminal ? config::Printable(item) : item);
  }
}

void SessionListOutput::End(const std::optional<std::string>& next_cursor) {
  if (form_ == Form::kJson) {
    std::string cursor;
    base::JsonWriter json(cursor);
    next_cursor ? json.Value(*next_cursor) : json.Null();
    console_.out << "],\"nextCursor\":" << cursor << "}\n";
  } else if (count_ == 0) {
    console_.err << "no sessions\n";
  } else if (next_cursor) {
    console_.err << fmt::format("There are more: add --all, or --cursor {}\n",
                                config::Printable(*next_cursor));
  }
}

}  // namespace tenure::app
