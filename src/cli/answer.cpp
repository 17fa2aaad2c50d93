#include "cli/answer.hpp"

#include <charconv>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/time_text.hpp"
#include "cli/command.hpp"
#include "config/printable.hpp"
#include "http/json_value.hpp"

namespace tenure::cli {
namespace {

using simdjson::dom::element;

constexpr std::size_t kMostFields = 20;  // of one refusal; more help nobody

int ExitCodeOf(int status) {
  switch (status) {
    case 404:
      return kExitNotFound;
    case 409:
    case 412:
      return kExitConflict;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return kExitUnavailable;
    default:
      return kExitError;
  }
}

/// The text of a field, printable; empty when there is none.
std::string Text(const element& object, std::string_view field) {
  std::string_view text;
  return object[field].get(text) == simdjson::SUCCESS ? config::Printable(text) : std::string();
}

/// One line for each field that is wrong, except those that the sentence before names already.
std::string FieldLines(const element& problem, const std::string& sentence) {
  simdjson::dom::array errors;
  if (problem["errors"].get(errors) != simdjson::SUCCESS) return {};
  std::string lines;
  std::size_t count = 0;
  for (const element error : errors) {
    if (++count > kMostFields) break;
    const std::string line = fmt::format("{}: {}", Text(error, "field"), Text(error, "message"));
    if (sentence.find(line) == std::string::npos) lines += "\n  " + line;
  }
  return lines;
}

/// Without the sentence that is for acts, wherever it stands.
std::string WithoutActs(std::string detail) {
  constexpr std::string_view kOfActs = "Nothing happened.";
  const std::size_t at = detail.find(kOfActs);
  if (at == std::string::npos) return detail;
  detail.erase(at, kOfActs.size());
  if (at < detail.size())
    detail.erase(at, 1);  // the blank behind it
  else if (at > 0)
    detail.erase(at - 1);  // it was the last: the blank before it
  return detail;
}

/// What is wrong. The detail of a 4xx says it whole. That of a server which cannot answer says what
/// became of the request, so its title goes before it. Of a look nothing needs to be said to have
/// happened or not.
std::string Reason(const Answer& answer, const element& problem) {
  const std::string title = Text(problem, "title");
  const std::string detail =
      answer.to_a_look ? WithoutActs(Text(problem, "detail")) : Text(problem, "detail");
  if (detail.empty())
    return !title.empty() ? title : fmt::format("the server answered {}", answer.status);
  const bool cannot_answer = answer.status >= 500 || answer.status == 429;
  return cannot_answer && !title.empty() ? fmt::format("{}. {}", title, detail) : detail;
}

/// The sentences of a problem document (RFC 9457).
std::string Sentences(const Answer& answer, const element& problem) {
  std::string text = Reason(answer, problem);
  text += FieldLines(problem, text);
  if (answer.status == 401)
    text += "\nGive a token with --token-file FILE or TENURE_TOKEN (docs/security.md).";
  if (!answer.retry_after.empty())
    text += fmt::format("\nTry again in {} s.", config::Printable(answer.retry_after));
  if (const std::string request = Text(problem, "request_id");
      answer.status >= 500 && !request.empty())
    text += fmt::format("\n(request {})", request);
  return text;
}

}  // namespace

int ReportRefusal(const Answer& answer, Form form, Console& console) {
  simdjson::dom::parser parser;
  element problem;
  const bool readable = !http::HasByteOrderMark(answer.body) &&
                        parser.parse(answer.body).get(problem) == simdjson::SUCCESS &&
                        problem.is_object();
  if (!readable)
    console.err << fmt::format("tenure: the server answered {} without saying why\n",
                               answer.status);
  else if (form == Form::kJson)
    console.err << simdjson::minify(problem) << "\n";
  else
    console.err << "tenure: " << Sentences(answer, problem) << "\n";
  return ExitCodeOf(answer.status);
}

std::string CompactJson(std::string_view body) {
  simdjson::dom::parser parser;
  std::string text(body.size(), '\0');
  std::size_t size = 0;
  if (http::HasByteOrderMark(body) ||
      parser.parse(body.data(), body.size()).error() != simdjson::SUCCESS ||
      simdjson::minify(body.data(), body.size(), text.data(), size) != simdjson::SUCCESS)
    throw NotUnderstood("it is no JSON");
  text.resize(size);
  return text;
}

void PrintJson(std::string_view body, Console& console) {
  const std::string text = CompactJson(body);
  // Programs get every byte; on a terminal a direction mark in a name must not fool the reader.
  console.out << (console.out_is_terminal ? config::Printable(text) : text) << "\n";
}

base::UserError NotUnderstood(std::string_view why) {
  return base::UserError(fmt::format(
      "the server's answer is not understood ({}): is it Tenure that answers there?", why));
}

JsonRow JsonRow::Parse(std::string_view json) {
  const std::string compact = CompactJson(json);
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(compact).get(object) != simdjson::SUCCESS)
    throw NotUnderstood("an object is expected");
  const std::vector<std::string_view> texts = http::ValueTexts(compact);
  JsonRow row;
  std::size_t member = 0;
  for (const auto& [name, value] : object) {
    const std::string_view as_written = texts.at(member++);
    std::string_view text;
    if (value.is_null()) continue;
    const bool is_string = value.get(text) == simdjson::SUCCESS;
    row.fields_[std::string(name)] = {std::string(is_string ? text : as_written), is_string};
  }
  return row;
}

std::string JsonRow::Text(std::string_view field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() ? "" : found->second.text;
}

std::vector<std::string> JsonRow::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields_) names.push_back(name);
  return names;
}

std::string JsonRow::Literal(std::string_view field) const {
  const auto found = fields_.find(field);
  return found == fields_.end() || found->second.is_string ? "" : found->second.text;
}

std::int64_t JsonRow::Number(std::string_view field) const {
  const std::string text = Literal(field);
  const char* const end = text.data() + text.size();
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    throw NotUnderstood(fmt::format("{} is no number", field));
  return number;
}

bool JsonRow::Bool(std::string_view field) const {
  const std::string text = Literal(field);
  if (text != "true" && text != "false")
    throw NotUnderstood(fmt::format("{} is neither true nor false", field));
  return text == "true";
}

std::int64_t JsonRow::TimeMs(std::string_view field) const {
  const auto ms = base::ParseUtcMs(Text(field));
  if (!ms) throw NotUnderstood(fmt::format("{} is no time", field));
  return *ms;
}

std::vector<std::string> JsonRow::Items(std::string_view field) const {
  const std::string text = Literal(field);
  if (!text.starts_with('[')) throw NotUnderstood(fmt::format("{} is no list", field));
  const auto items = http::ValueTexts(text);
  return {items.begin(), items.end()};
}

}  // namespace tenure::cli
