#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/server.hpp"
#include "cli/text_table.hpp"
#include "http/message.hpp"

namespace tenure::cli {

/// What is shown of a thing's field. `now_ms` is the server's time, when it is known.
using Cell = std::string (*)(const JsonRow& row, std::string_view field,
                             std::optional<std::int64_t> now_ms);
std::string Plain(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms);
/// "-" for nothing.
std::string OrDash(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms);

/// "4m 10s ago" and "in 4m 10s" of a time; "-" for none. The time itself when now is not known.
std::string Ago(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms);
std::string In(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms);
constexpr std::size_t kAgoWidth = 11;

/// A column of a table.
struct Column {
  std::string_view heading;
  std::size_t width = 0;  ///< at least, so that the pages of a long list look alike
  std::string_view field = {};
  Cell cell = Plain;
  std::string_view fixed_by = {};  ///< the flag that gives all rows one value: not shown then
  bool is_spare = false;           ///< left to --json when the columns before it fill the page
};

/// A line of a block, "holder    host:4711". What has no value is left out.
struct Detail {
  std::string_view label;
  std::string_view field;
  Cell cell = Plain;
};

/// How an answer is shown to people.
using Print = std::function<std::string(const Answer& answer, const Given& given)>;

/// `text` with "{ID}" for what was given and "{state}" for a field of the answer.
Print Sentence(std::string_view text);
/// Lines, with labels of that width.
Print Block(std::size_t width, std::vector<Detail> details);
/// What GET /api/v1/why/{kind}/{id} says: the server's sentence, word for word, and what comes next.
Print Explained();
/// All items of an answer that has no pages.
Print Table(std::vector<Column> columns, std::string_view items = "items");

/// How a list becomes a screen of `tenure top`.
struct OfTop {
  std::string_view title = {};   ///< "topics"; empty: it is none
  std::string_view kind = {};    ///< of GET /api/v1/why/{kind}/{id}; empty: there is no why
  std::string_view id = "name";  ///< the field that names a row
};

/// A command that asks a server one thing and prints its answer: for people as `print` has it, for
/// programs (--json) as it came.
struct Question {
  std::string_view words;
  std::string_view summary;
  std::string notes = {};
  Flags flags = {};                          ///< without those of ServerFlags
  http::Method method = http::Method::kGet;  ///< a look; the others are acts
  bool on_record = false;        ///< in the audit: it takes --reason, if it has none of its own
  bool changes_nothing = false;  ///< of a POST: it is a look too
  std::string_view path = {};    ///< "/sessions/{ID}": arguments stand in it by their names
  std::string_view fixed = {};   ///< fields that the body of an act always has
  Print print = {};
  std::vector<Column> columns = {};  ///< in the place of `print`: all `items` as a table
  bool is_table = false;             ///< `print` is a table: its columns can be chosen
  std::string_view nothing = {};     ///< what is said when there is nothing to print
  std::function<void(const Given&)> refuse =
      {};                    ///< throws UsageError for what does not go together
  Elsewhere elsewhere = {};  ///< who may answer in a server's place
  Part part = Part::kAsk;
  OfTop top = {};              ///< of one with `columns`
  std::string_view also = {};  ///< as a command's
};
Command Asking(Question question);

// For commands that ask in their own way.

/// The path with its arguments, encoded.
std::string PathOf(std::string_view path, const Given& given);
/// "&state=held": the fields of the flags that were given.
std::string QueryOf(const Flags& flags, const Given& given);
/// The same as fields of a body.
void WriteFields(base::JsonWriter& json, const Flags& flags, const Given& given);
/// The flags of a table: --columns, --no-headings.
Flags TableFlags();
/// The columns to show: those of --columns, else all but those that a flag fixes, and spare ones only
/// as far as they fit. Throws UsageError for a column that is not there.
std::vector<Column> ShownColumns(const std::vector<Column>& columns, const Given& given,
                                 std::size_t most_wide);
/// The rows of a table; `items` are the things as the server wrote them.
TextTable TableOf(const std::vector<Column>& columns, const std::vector<std::string>& items,
                  std::optional<std::int64_t> now_ms);

/// A command that lists things page by page: one page, or with --all every one. A million things
/// need the memory of one page. For people it is one table, for programs one JSON document
/// {"items": […], "next_cursor": …}; when it is cut off, it does not look complete.
struct List {
  std::string_view words;
  std::string_view summary;
  std::string notes = {};
  Flags flags = {};            ///< without those of the pages and of ServerFlags
  std::string_view path = {};  ///< as a question's
  std::vector<Column> columns = {};
  std::string_view nothing = {};  ///< "no sessions"
  std::string_view cursor_field = "next_cursor";
  Elsewhere elsewhere = {};  ///< who may answer in a server's place
  Part part = Part::kAsk;
  OfTop top = {};
  std::string_view also = {};  ///< as a command's
};
Command Listing(List list);

}  // namespace tenure::cli
