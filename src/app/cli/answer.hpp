#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/console.hpp"

namespace tenure::app {

/// What a server said. Everything in it is untrusted: it may not be Tenure that answers.
struct Answer {
  int status = 0;
  std::string body;
  std::optional<std::int64_t> server_now_ms = {};  ///< its Date header, to tell how long is left
  std::string retry_after = {};                    ///< of that header; empty when there is none

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

}  // namespace tenure::app
