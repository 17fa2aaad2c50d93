#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "base/time_parse.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Topics come in the order of their names. OLDEST is for how long the first of the ready ones has
been ready; ASKED is when a worker last asked for messages of the topic.

Examples:
  tenure message list
  tenure message list --all --json | jq -r '.items[] | select(.dead > 0) | .name'
)";

class MessageList final : public Command {
 public:
  std::string_view words() const override { return "message list"; }
  std::string_view summary() const override { return "List topics, and how full they are"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    ListOutput output(server_.form(),
                      {.columns = {{"TOPIC", 24},
                                   {"READY", 7},
                                   {"CLAIMED", 7},
                                   {"DEAD", 6},
                                   {"OLDEST", 8},
                                   {"ASKED", 24},
                                   {"PAUSED", 6}},
                       .nothing = "no topics",
                       .cursor_field = "next_cursor"},
                      console);
    return pages_.Print(server_, "/api/v1/topics", "", output, console, [](const Answer& answer) {
      return ReadPage(answer, [](const JsonRow& topic) -> std::vector<std::string> {
        const bool paused = topic.Text("paused") == "true";
        return {
            topic.Text("name"),
            topic.Text("ready"),
            topic.Text("claimed"),
            topic.Text("dead"),
            topic.Text("oldest_at").empty() ? "-" : base::SpanText(topic.Number("oldest_age_ms")),
            topic.Cell("asked_at"),
            paused ? topic.Cell("paused_reason") : "-"};
      });
    });
  }

 private:
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageList() { return std::make_unique<MessageList>(); }

}  // namespace tenure::app
