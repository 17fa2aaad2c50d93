#include <simdjson.h>

#include "app/cli/command.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/text_table.hpp"
#include "base/error.hpp"
#include "base/time_text.hpp"

namespace tenure::app {
namespace {

using simdjson::dom::element;

std::string Text(const element& task, std::string_view field) {
  std::string_view text;
  return task[field].get(text) == simdjson::SUCCESS && !text.empty() ? std::string(text) : "-";
}
std::int64_t Number(const element& task, std::string_view field) {
  std::int64_t number = 0;
  return task[field].get(number) == simdjson::SUCCESS ? number : 0;
}

std::string Table(const std::string& body) {
  simdjson::dom::parser parser;
  simdjson::dom::array items;
  if (parser.parse(body)["items"].get(items) != simdjson::SUCCESS)
    throw base::UserError("the server's answer is no list: is it Tenure that answers there?");
  TextTable table({{"TASK"},
                   {"EVERY"},
                   {"NEXT", 24},
                   {"LAST", 24},
                   {"RUNS"},
                   {"FAILURES"},
                   {"RUNS AT"},
                   {"LAST ERROR"}});
  for (const element task : items)
    table.Add({Text(task, "name"),
               base::DurationText(std::max<std::int64_t>(Number(task, "interval_ms"), 0)),
               Text(task, "next_run_at"), Text(task, "last_run_at"),
               std::to_string(Number(task, "runs")), std::to_string(Number(task, "failures")),
               Text(task, "holder"), Text(task, "last_error")});
  return table.Text();
}

class TaskList final : public Command {
 public:
  std::string_view words() const override { return "task list"; }
  std::string_view summary() const override { return "List the reliable tasks and their runs"; }
  std::string notes() const override {
    return "FAILURES counts since the last run that was complete; RUNS AT is who runs it now.\n\n"
           "Example:\n  tenure task list\n";
  }
  void Declare(Flags& flags) override { server_.Declare(flags); }

  int Run(Console& console) override {
    return server_.Show({.path = "/api/v1/tasks"}, console,
                        [](const Answer& answer) { return Table(answer.body); });
  }

 private:
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeTaskList() { return std::make_unique<TaskList>(); }

}  // namespace tenure::app
