#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cli/command.hpp"

namespace tenure::cli {

/// What a server said. Everything in it is untrusted: it may not be Tenure that answers.
struct Answer {
  int status = 0;
  std::string body;
  std::optional<std::int64_t> server_now_ms = {};  ///< its Date header, to tell how long is left
  std::string retry_after = {};                    ///< of that header; empty when there is none
  bool to_a_look = false;  ///< the question changed nothing, whatever became of it

  bool ok() const { return status >= 200 && status < 300; }
};

/// The form in which a command prints.
enum class Form { kTable, kJson };

/// Says on standard error why the server refused, in sentences that name the fields (or as the
/// server's own JSON), and returns the exit code for it.
int ReportRefusal(const Answer& answer, Form form, Console& console);

/// The server's JSON without its spaces, otherwise as it came: a number keeps its digits, which a
/// floating-point number would not. Throws base::UserError when it is no JSON.
std::string CompactJson(std::string_view body);

/// Prints the server's JSON on standard output; text that is no JSON is refused.
void PrintJson(std::string_view body, Console& console);

/// What a server said is not what Tenure says.
base::UserError NotUnderstood(std::string_view why);

/// A flat look at a JSON object of the server's, for printing: strings as they are, everything else
/// as the server wrote it (without spaces); null and what is missing is empty.
class JsonRow {
 public:
  /// Throws base::UserError when it is no JSON object.
  static JsonRow Parse(std::string_view json);

  std::string Text(std::string_view field) const;
  /// Of its fields, without those that are null.
  std::vector<std::string> Names() const;

  // These throw base::UserError when the field is missing or something else.

  std::int64_t Number(std::string_view field) const;
  bool Bool(std::string_view field) const;
  std::int64_t TimeMs(std::string_view field) const;
  /// The objects of an array, each as its JSON text.
  std::vector<std::string> Items(std::string_view field) const;

 private:
  struct Value {
    std::string text;
    bool is_string = false;
  };
  /// The text of what is no string; empty for a string.
  std::string Literal(std::string_view field) const;

  std::map<std::string, Value, std::less<>> fields_;
};

}  // namespace tenure::cli
