#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/dead_letter_flags.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Messages that were given up, oldest first. `tenure message show ID` shows one whole,
`tenure message redrive` puts them back, `tenure message discard` puts them away for good.

Example:
  tenure message dead --topic orders --reason attempts
)";

class MessageDead final : public Command {
 public:
  std::string_view words() const override { return "message dead"; }
  std::string_view summary() const override { return "List dead letters"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    letters_.Declare(flags);
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    ListOutput output(server_.form(),
                      {.columns = {{"MESSAGE", 36},
                                   {"TOPIC", 16},
                                   {"REASON", 8},
                                   {"ATTEMPTS", 8},
                                   {"CRASHES", 7},
                                   {"DIED", 24},
                                   {"LAST ERROR", 10}},
                       .nothing = "no dead letters",
                       .cursor_field = "next_cursor"},
                      console);
    return pages_.Print(
        server_, "/api/v1/dead-letters", letters_.Query(), output, console,
        [](const Answer& answer) {
          return ReadPage(answer, [](const JsonRow& letter) -> std::vector<std::string> {
            return {letter.Text("id"),        letter.Text("topic"),   letter.Text("reason"),
                    letter.Text("attempts"),  letter.Text("crashes"), letter.Text("died_at"),
                    letter.Cell("last_error")};
          });
        });
  }

 private:
  DeadLetterFlags letters_;
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageDead() { return std::make_unique<MessageDead>(); }

}  // namespace tenure::app
