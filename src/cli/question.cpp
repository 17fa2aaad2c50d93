#include "cli/question.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "cli/server.hpp"
#include "cli/text_table.hpp"
#include "cli/view.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

/// Replaces each "{NAME}" of `text`.
std::string Fill(std::string_view text,
                 const std::function<std::string(std::string_view name)>& value) {
  std::string filled;
  while (true) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = text.find('}', open);
    filled += value(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

std::optional<std::string> BodyOf(const Question& question, const Given& given) {
  using enum http::Method;
  if (question.method == kGet || question.method == kDelete) return std::nullopt;
  std::string fields;
  base::JsonWriter json(fields);
  json.BeginObject();
  WriteFields(json, question.flags, given);
  json.EndObject();
  if (question.fixed.empty()) return fields;
  return fmt::format("{{{}{}{}", question.fixed, fields == "{}" ? "" : ",", fields.substr(1));
}

constexpr std::string_view kReason = "--reason";

/// The reason of an act: its body has no place for it, or is the whole of what is to be.
bool HasItInTheQuery(http::Method method) {
  return method == http::Method::kDelete || method == http::Method::kPut;
}

Flag ReasonFlag(http::Method method) {
  Flag flag = Value(kReason, "TEXT", "Why; it stands in the audit.");
  return HasItInTheQuery(method) ? flag : std::move(flag).As("reason");
}

int Run(const Question& question, const Given& given, Console& console) {
  if (question.refuse) question.refuse(given);
  std::string path = PathOf(question.path, given);
  if (!BodyOf(question, given)) {
    std::string query = QueryOf(question.flags, given);
    if (!query.empty()) query.front() = '?';
    path += query;
  }
  if (question.on_record && HasItInTheQuery(question.method) && given.Has(kReason))
    path += fmt::format("?reason={}", PercentEncoded(given.Text(kReason)));
  Server server(given, question.elsewhere);
  const std::optional<std::string> body = BodyOf(question, given);
  const Answer answer = question.changes_nothing ? server.Look(path, body.value_or(""))
                                                 : server.Ask(question.method, path, body);
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == Form::kTable) {
    const std::string text = question.print(answer, given);
    console.out << text;
    if (text.empty()) console.Note(fmt::format("{}\n", question.nothing));
  } else if (answer.status != 204) {
    PrintJson(answer.body, console);
  }
  return kExitDone;
}

constexpr std::size_t kMostColumns = 100;

Flags PageFlags() {
  return {Value("--limit", "N", "How many at a time, 1 to 1000 [100, 1000 with --all].",
                Number(1, 1'000)),
          Value("--cursor", "TEXT", "Go on where another list ended."),
          Switch("--all", "All of them, page after page.")};
}

/// A heading as it may be written in a flag: "LAST ERROR" is last-error.
std::string FlagSpelling(std::string_view heading) {
  std::string text(heading);
  for (char& c : text)
    c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Column NamedColumn(const std::vector<Column>& columns, std::string_view name) {
  const std::string wanted = FlagSpelling(name);
  std::string all;
  for (const Column& column : columns) {
    const std::string spelling = FlagSpelling(column.heading);
    if (spelling == wanted) return column;
    all += (all.empty() ? "" : ", ") + spelling;
  }
  throw UsageError(
      fmt::format("--columns: there is no column {}; there are {}", config::Quoted(name), all));
}

TextTable::Heading HeadingOf(const Given& given) {
  return given.Has("--no-headings") ? TextTable::Heading::kLeaveOut : TextTable::Heading::kShow;
}

/// How wide a table may be: as wide as the terminal.
std::size_t MostColumns(const Console& console) {
  return console.out_is_terminal ? console.screen().columns : kMostColumns;
}

/// Prints the pages one after the other. Life: Add each (at least one), then End once.
class Printer {
 public:
  Printer(const List& list, const Given& given, Form form, Console& console)
      : list_(list),
        columns_(ShownColumns(list.columns, given, MostColumns(console))),
        heading_(HeadingOf(given)),
        form_(form),
        console_(console) {}

  void Add(const std::vector<std::string>& items, std::optional<std::int64_t> now_ms) {
    form_ == Form::kJson ? AddJson(items) : AddRows(items, now_ms);
    count_ += items.size();
  }

  /// `next_cursor`: where the list goes on, when not all of it was asked for; else empty.
  void End(const std::string& next_cursor) {
    if (form_ == Form::kJson) {
      std::string cursor;
      base::JsonWriter json(cursor);
      next_cursor.empty() ? json.Null() : json.Value(std::string_view(next_cursor));
      console_.out << fmt::format("],\"{}\":{}}}\n", list_.cursor_field, cursor);
    } else if (count_ == 0) {
      console_.Note(fmt::format("{}\n", list_.nothing));
    } else if (!next_cursor.empty()) {
      console_.Note(fmt::format("There are more: add --all, or --cursor {}\n",
                                config::Printable(next_cursor)));
    }
  }

 private:
  void AddRows(const std::vector<std::string>& items, std::optional<std::int64_t> now_ms) {
    if (items.empty()) return;
    const TextTable table = TableOf(columns_, items, now_ms);
    console_.out << table.Text(count_ == 0 ? heading_ : TextTable::Heading::kLeaveOut);
  }

  void AddJson(const std::vector<std::string>& items) {
    if (!std::exchange(begun_, true)) console_.out << "{\"items\":[";
    bool first = count_ == 0;
    for (const std::string& item : items) {
      if (!std::exchange(first, false)) console_.out << ",";
      console_.out << (console_.out_is_terminal ? config::Printable(item) : item);
    }
  }

  const List& list_;
  const std::vector<Column> columns_;
  const TextTable::Heading heading_;
  const Form form_;
  Console& console_;
  std::size_t count_ = 0;
  bool begun_ = false;  // the JSON document
};

int Run(const List& list, const Given& given, Console& console) {
  const bool all = given.Has("--all");
  const std::string start =
      fmt::format("{}?limit={}{}", PathOf(list.path, given),
                  given.Or("--limit", all ? "1000" : "100"), QueryOf(list.flags, given));
  Server server(given, list.elsewhere);
  Printer printer(list, given, server.form(), console);
  std::string cursor = given.Or("--cursor", "");
  while (true) {
    const Answer answer = server.Ask(
        http::Method::kGet, cursor.empty() ? start : start + "&cursor=" + PercentEncoded(cursor));
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    const JsonRow page = JsonRow::Parse(answer.body);
    const std::vector<std::string> items = page.Items("items");
    printer.Add(items, answer.server_now_ms);
    std::string next = page.Text(list.cursor_field);
    if (!all || next.empty()) {
      printer.End(next);
      return kExitDone;
    }
    if (items.empty() || next == cursor)
      throw base::UserError("the server's list does not come to an end");
    cursor = std::move(next);
  }
}

}  // namespace

std::string Plain(const JsonRow& row, std::string_view field, std::optional<std::int64_t>) {
  return row.Text(field);
}

std::string OrDash(const JsonRow& row, std::string_view field, std::optional<std::int64_t>) {
  const std::string text = row.Text(field);
  return text.empty() ? "-" : text;
}

std::string Ago(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms) {
  if (!now_ms || row.Text(field).empty()) return OrDash(row, field, now_ms);
  return base::SpanText(std::max<std::int64_t>(*now_ms - row.TimeMs(field), 0)) + " ago";
}

std::string In(const JsonRow& row, std::string_view field, std::optional<std::int64_t> now_ms) {
  if (!now_ms || row.Text(field).empty()) return OrDash(row, field, now_ms);
  return "in " + base::SpanText(std::max<std::int64_t>(row.TimeMs(field) - *now_ms, 0));
}

Print Sentence(std::string_view text) {
  return [text](const Answer& answer, const Given& given) {
    std::optional<JsonRow> row;
    return Fill(text,
                [&](std::string_view name) {
                  if (given.Has(name)) return config::Printable(given.Text(name));
                  if (!row) row = JsonRow::Parse(answer.body);
                  return config::Printable(OrDash(*row, name, {}));
                }) +
           "\n";
  };
}

Print Block(std::size_t width, std::vector<Detail> details) {
  return [width, details = std::move(details)](const Answer& answer, const Given&) {
    const JsonRow row = JsonRow::Parse(answer.body);
    std::string text;
    for (const auto& [label, field, cell] : details)
      if (const std::string value = cell(row, field, answer.server_now_ms); !value.empty())
        text += fmt::format("{:<{}}{}\n", label, width, config::Printable(value));
    return text;
  };
}

TextTable TableOf(const std::vector<Column>& columns, const std::vector<std::string>& items,
                  std::optional<std::int64_t> now_ms) {
  std::vector<TextTable::Column> headings;
  for (const Column& column : columns)
    headings.push_back({std::string(column.heading), column.width});
  TextTable table(std::move(headings));
  for (const std::string& item : items) {
    const JsonRow row = JsonRow::Parse(item);
    std::vector<std::string> cells;
    for (const Column& column : columns) cells.push_back(column.cell(row, column.field, now_ms));
    table.Add(std::move(cells));
  }
  return table;
}

Print Explained() {
  return [](const Answer& answer, const Given&) {
    const JsonRow why = JsonRow::Parse(answer.body);
    std::string text = config::Printable(why.Text("sentence")) + "\n";
    const std::string next = JsonRow::Parse(why.Text("next")).Text("text");
    if (!next.empty()) text += config::Printable(next) + "\n";
    return text;
  };
}

Print Table(std::vector<Column> columns, std::string_view items) {
  return [columns = std::move(columns), items](const Answer& answer, const Given& given) {
    return TableOf(ShownColumns(columns, given, kMostColumns),
                   JsonRow::Parse(answer.body).Items(items), answer.server_now_ms)
        .Text(HeadingOf(given));
  };
}

Flags TableFlags() {
  return {Value("--columns", "NAMES", "Only these columns, in this order: name,state."),
          Switch("--no-headings", "The rows only.")};
}

std::vector<Column> ShownColumns(const std::vector<Column>& columns, const Given& given,
                                 std::size_t most_wide) {
  std::vector<Column> shown;
  if (const std::string* const names = given.Find("--columns")) {
    std::string_view left = *names;
    while (true) {
      const std::size_t comma = left.find(',');
      shown.push_back(NamedColumn(columns, left.substr(0, comma)));
      if (comma == std::string_view::npos) return shown;
      left.remove_prefix(comma + 1);
    }
  }
  std::size_t taken = 0;
  for (const Column& column : columns) {
    const bool fits = taken + column.width <= most_wide;
    if (given.Has(column.fixed_by) || (column.is_spare && !fits)) continue;
    taken += column.width + 2;
    shown.push_back(column);
  }
  return shown;
}

namespace {

std::shared_ptr<const View> ViewOf(const OfTop& top, const std::string& path,
                                   const std::vector<Column>& columns) {
  if (top.title.empty()) return nullptr;
  return std::make_shared<View>(View{.title = std::string(top.title),
                                     .path = path,
                                     .columns = columns,
                                     .kind = std::string(top.kind),
                                     .id = std::string(top.id)});
}

}  // namespace

Command Asking(Question question) {
  if (!question.columns.empty()) {
    question.print = Table(question.columns);
    question.is_table = true;
  }
  const bool is_look = question.method == http::Method::kGet;
  if (question.on_record &&
      std::ranges::find(question.flags, kReason, &Flag::name) == question.flags.end())
    question.flags.push_back(ReasonFlag(question.method));
  Flags flags = question.flags;
  if (question.is_table) flags = std::move(flags) + TableFlags();
  if (is_look) flags.push_back(WatchFlag());
  Command command{.words = question.words,
                  .summary = question.summary,
                  .notes = std::move(question.notes),
                  .flags = std::move(flags) +
                           (is_look || question.changes_nothing ? ServerFlags() : ActFlags()),
                  .run = {},
                  .part = question.part,
                  .view = ViewOf(question.top, std::string(question.path), question.columns),
                  .also = question.also};
  command.run = [question = std::move(question)](const Given& given, Console& console) {
    return Run(question, given, console);
  };
  return command;
}

std::string PathOf(std::string_view path, const Given& given) {
  return Fill(path, [&](std::string_view name) { return PercentEncoded(given.Text(name)); });
}

std::string QueryOf(const Flags& flags, const Given& given) {
  std::string query;
  for (const Flag& flag : flags)
    if (!flag.field.empty() && given.Has(flag.name))
      query += fmt::format("&{}={}", flag.field, PercentEncoded(given.Text(flag.name)));
  return query;
}

void WriteFields(base::JsonWriter& json, const Flags& flags, const Given& given) {
  for (const Flag& flag : flags) {
    if (flag.field.empty() || !given.Has(flag.name)) continue;
    const std::string& text = given.Text(flag.name);
    json.Key(flag.field);
    if (flag.kind == Flag::Kind::kSwitch)
      json.Value(true);
    else if (flag.is_json)
      json.Raw(text);
    else
      json.Value(std::string_view(text));
  }
}

Command Listing(List list) {
  Command command{
      .words = list.words,
      .summary = list.summary,
      .notes = std::move(list.notes),
      .flags = list.flags + PageFlags() + TableFlags() + Flags{WatchFlag()} + ServerFlags(),
      .run = {},
      .part = list.part,
      .view = ViewOf(list.top, std::string(list.path) + "?limit=500", list.columns),
      .also = list.also};
  command.run = [list = std::move(list)](const Given& given, Console& console) {
    return Run(list, given, console);
  };
  return command;
}

}  // namespace tenure::cli
