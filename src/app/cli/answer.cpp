#include "app/cli/answer.hpp"

#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "app/cli/exit_code.hpp"
#include "base/error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
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

/// The sentences of a problem document (RFC 9457).
std::string Sentences(const Answer& answer, const element& problem) {
  std::string text = Text(problem, "detail");
  if (text.empty()) text = Text(problem, "title");
  if (text.empty()) text = fmt::format("the server answered {}", answer.status);
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
  const bool readable =
      parser.parse(answer.body).get(problem) == simdjson::SUCCESS && problem.is_object();
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
  if (parser.parse(body.data(), body.size()).error() != simdjson::SUCCESS ||
      simdjson::minify(body.data(), body.size(), text.data(), size) != simdjson::SUCCESS)
    throw base::UserError("the server's answer is no JSON: is it Tenure that answers there?");
  text.resize(size);
  return text;
}

void PrintJson(std::string_view body, Console& console) {
  const std::string text = CompactJson(body);
  // Programs get every byte; on a terminal a direction mark in a name must not fool the reader.
  console.out << (console.out_is_terminal ? config::Printable(text) : text) << "\n";
}

}  // namespace tenure::app
