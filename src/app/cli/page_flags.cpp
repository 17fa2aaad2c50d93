#include "app/cli/page_flags.hpp"

#include <utility>

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "base/error.hpp"

namespace tenure::app {
namespace {

constexpr int kMostPerPage = 1'000;  // what the server allows
constexpr int kUsualPage = 100;

}  // namespace

void PageFlags::Declare(Flags& flags) {
  using enum Flags::Need;
  flags.Add(Flags::Value{"--limit", "N", "How many at a time, 1 to 1000 [100, 1000 with --all].",
                         kOptional, &limit_});
  flags.Add(
      Flags::Value{"--cursor", "TEXT", "Go on where another list ended.", kOptional, &cursor_});
  flags.Add(Flags::Switch{"--all", "All of them, page after page.", &all_});
}

int PageFlags::Print(ServerFlags& server, const std::string& path, const std::string& filter,
                     ListOutput& output, Console& console, const Read& read) const {
  const int limit = limit_ ? NumberFlag("--limit", *limit_, {.least = 1, .most = kMostPerPage})
                    : all_ ? kMostPerPage
                           : kUsualPage;
  std::optional<std::string> cursor = cursor_;
  while (true) {
    const Answer answer =
        server.Ask(http::Method::kGet,
                   fmt::format("{}?limit={}{}{}", path, limit, filter,
                               cursor ? fmt::format("&cursor={}", PercentEncoded(*cursor)) : ""));
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    Page page = read(answer);
    output.Add(page.printed);
    if (!all_ || !page.next_cursor) {
      output.End(page.next_cursor);
      return kExitDone;
    }
    if (page.printed.json.empty() || page.next_cursor == cursor)
      throw base::UserError("the server's list does not come to an end");
    cursor = std::move(page.next_cursor);
  }
}

}  // namespace tenure::app
