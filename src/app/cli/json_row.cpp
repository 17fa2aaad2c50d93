#include "app/cli/json_row.hpp"

#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

[[noreturn]] void NotOurs() {
  throw base::UserError("the server's answer is not what was expected: is it Tenure that answers?");
}

}  // namespace

JsonRow JsonRow::Parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) NotOurs();
  JsonRow row;
  for (const auto& [name, value] : object) {
    std::string_view text;
    if (value.is_null()) continue;
    row.fields_[std::string(name)] = value.get(text) == simdjson::SUCCESS
                                         ? std::string(text)
                                         : std::string(simdjson::minify(value));
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
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::array items;
  if (parser.parse(answer.body).get(document) != simdjson::SUCCESS ||
      document["items"].get(items) != simdjson::SUCCESS)
    NotOurs();
  PageFlags::Page page;
  for (const simdjson::dom::element item : items) {
    page.printed.json.push_back(simdjson::minify(item));
    page.printed.rows.push_back(cells(JsonRow::Parse(page.printed.json.back())));
  }
  std::string_view cursor;
  if (document["next_cursor"].get(cursor) == simdjson::SUCCESS) page.next_cursor = cursor;
  return page;
}

}  // namespace tenure::app
