#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/cli/answer.hpp"
#include "app/cli/console.hpp"
#include "app/cli/flags.hpp"
#include "app/cli/list_output.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {

/// The flags of a command that lists things page by page (--limit, --cursor, --all), and the way
/// from page to page.
class PageFlags {
 public:
  void Declare(Flags& flags);

  /// One page, taken out of an answer.
  struct Page {
    ListOutput::Page printed;
    std::optional<std::string> next_cursor;
  };
  using Read = std::function<Page(const Answer&)>;

  /// Asks for the list at `path` with the query `filter` ("&state=held", may be empty), and prints
  /// one page, or all. Returns the exit code. REQUIRES: the flags are parsed.
  int Print(ServerFlags& server, const std::string& path, const std::string& filter,
            ListOutput& output, Console& console, const Read& read) const;

 private:
  std::optional<std::string> limit_;
  std::optional<std::string> cursor_;
  bool all_ = false;
};

}  // namespace tenure::app
