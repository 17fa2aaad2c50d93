#include "app/cli/json_row.hpp"

#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "config/printable.hpp"
#include "http/json_text.hpp"

namespace tenure::app {
namespace {

[[noreturn]] void NotOurs() {
  throw base::UserError("the server's answer is not what was expected: is it Tenure that answers?");
}

}  // namespace

JsonRow JsonRow::Parse(std::string_view json) {
  const std::string compact = CompactJson(json);
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(compact).get(object) != simdjson::SUCCESS) NotOurs();
  const std::vector<std::string_view> texts = http::MemberTexts(compact);
  JsonRow row;
  std::size_t member = 0;
  for (const auto& [name, value] : object) {
    const std::string_view as_written = texts.at(member++);
    std::string_view text;
    if (value.is_null()) continue;
    row.fields_[std::string(name)] =
        value.get(text) == simdjson::SUCCESS ? std::string(text) : std::string(as_written);
  }
  return row;
}

std::string JsonRow::Text(std::string_view field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() ? "" : found->second;
}

std::int64_t JsonRow::Number(std::string_view field) const {
  const std::string text = Text(field);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string JsonRow::Cell(std::string_view field) const {
  const std::string text = Text(field);
  return text.empty() ? "-" : text;
}

std::string JsonRow::Lines(
    std::initializer_list<std::pair<std::string_view, std::string_view>> fields) const {
  std::string lines;
  for (const auto& [name, field] : fields)
    if (const std::string text = Text(field); !text.empty())
      lines += fmt::format("{:<14}{}\n", name, config::Printable(text));
  return lines;
}

PageFlags::Page ReadPage(const Answer& answer,
                         const std::function<std::vector<std::string>(const JsonRow&)>& cells) {
  const JsonRow document = JsonRow::Parse(answer.body);
  const std::string items = document.Text("items");
  if (!items.starts_with('[')) NotOurs();
  PageFlags::Page page;
  for (const std::string_view item : http::ElementTexts(items)) {
    page.printed.json.emplace_back(item);
    page.printed.rows.push_back(cells(JsonRow::Parse(item)));
  }
  for (const std::string_view name : {"next_cursor", "nextCursor"})
    if (std::string cursor = document.Text(name); !cursor.empty())
      page.next_cursor = std::move(cursor);
  return page;
}

}  // namespace tenure::app
