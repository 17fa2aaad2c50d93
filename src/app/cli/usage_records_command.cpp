#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_kind.hpp"
#include "app/cli/usage_filter.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(The records as the receiver gets them, in the order of their sessions. Exit code 3 when the window
is not closed yet.

Examples:
  tenure usage records 17
  tenure usage records 17 --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 --all --json
)";

class UsageRecords final : public Command {
 public:
  std::string_view words() const override { return "usage records"; }
  std::string_view summary() const override { return "List what sessions used in a window"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"WINDOW", "The window's number.", &window_});
    filter_.Declare(flags);
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string path =
        fmt::format("/usage/windows/{}/records", WindowFlag("WINDOW", window_));
    ListOutput output(server_.form(),
                      {.columns = {{"SESSION", 36},
                                   {"KIND", 10},
                                   {"USAGE", 10},
                                   {"USER", 36},
                                   {"CAPACITY", 36},
                                   {"TENANT", 36}},
                       .nothing = "no records",
                       .cursor_field = "nextCursor"},
                      console);
    return pages_.Print(server_, path, filter_.Query(), output, console, [](const Answer& answer) {
      return ReadPage(answer, [](const JsonRow& record) -> std::vector<std::string> {
        return {record.Text("sessionId"),  SessionKindText(record.Number("sessionKind")),
                record.Text("usage"),      record.Text("userObjectId"),
                record.Text("capacityId"), record.Text("tenantObjectId")};
      });
    });
  }

 private:
  std::string window_;
  UsageFilter filter_;
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageRecords() { return std::make_unique<UsageRecords>(); }

}  // namespace tenure::app
