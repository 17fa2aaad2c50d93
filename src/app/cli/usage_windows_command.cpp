#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Newest first. STATE: closed (not sent, or not yet), emitting, sending, sent. RECORDS is known when
the window has been put together for the receiver; REFUSED are records that the receiver does not
take, whatever is tried.

Examples:
  tenure usage windows
  tenure usage windows --all --json | jq '.items[] | select(.refusedRecords > 0)'
)";

class UsageWindows final : public Command {
 public:
  std::string_view words() const override { return "usage windows"; }
  std::string_view summary() const override {
    return "List usage windows, and what became of them";
  }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    ListOutput output(server_.form(),
                      {.columns = {{"WINDOW", 8},
                                   {"START", 24},
                                   {"END", 24},
                                   {"STATE", 8},
                                   {"RECORDS", 8},
                                   {"UNSENT", 8},
                                   {"REFUSED", 7}},
                       .nothing = "no usage window is closed yet",
                       .cursor_field = "nextCursor"},
                      console);
    return pages_.Print(server_, "/usage/windows", "", output, console, [](const Answer& answer) {
      return ReadPage(answer, [](const JsonRow& window) -> std::vector<std::string> {
        return {window.Text("window"),        window.Text("windowStartUtc"),
                window.Text("windowEndUtc"),  window.Text("state"),
                window.Cell("records"),       window.Cell("unsentRecords"),
                window.Cell("refusedRecords")};
      });
    });
  }

 private:
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageWindows() { return std::make_unique<UsageWindows>(); }

}  // namespace tenure::app
