// `tenure find` and `tenure why THING`: what an id or a name is, and why it is as it is.

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Answer;
using cli::Given;
using cli::JsonRow;

constexpr std::size_t kMostTextBytes = 200;

std::string SearchText(const cli::Flag& flag, const std::string& text) {
  if (!text.empty() && text.size() <= kMostTextBytes) return text;
  throw cli::UsageError(fmt::format("{} has 1 to {} bytes", flag.name, kMostTextBytes));
}

std::vector<cli::Column> FoundColumns() {
  return {{"KIND", 12, "kind"}, {"STATE", 9, "state"}, {"ID", 36, "id"}, {"TITLE", 0, "title"}};
}

std::string SearchPath(const std::string& text) {
  return "/api/v1/search?q=" + cli::PercentEncoded(text);
}

int Find(const Given& given, cli::Console& console) {
  const std::string& text = given.Text("TEXT");
  cli::Server server(given);
  const Answer answer = server.Ask(http::Method::kGet, SearchPath(text));
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  const bool is_empty = JsonRow::Parse(answer.body).Items("items").empty();
  if (server.form() == cli::Form::kJson)
    PrintJson(answer.body, console);
  else if (!is_empty)
    console.out << cli::Table(FoundColumns())(answer, given);
  if (!is_empty) return cli::kExitDone;
  console.Note(
      fmt::format("nothing is called {}, of what the token may read\n", config::Quoted(text)));
  return cli::kExitNotFound;
}

int Explain(cli::Server& server, const std::string& kind, const std::string& id, const Given& given,
            cli::Console& console) {
  const Answer why = server.Ask(http::Method::kGet,
                                fmt::format("/api/v1/why/{}/{}", kind, cli::PercentEncoded(id)));
  if (!why.ok()) return ReportRefusal(why, server.form(), console);
  if (server.form() == cli::Form::kJson)
    PrintJson(why.body, console);
  else
    console.out << cli::Explained()(why, given);
  return cli::kExitDone;
}

/// Of things that begin with the text, one that is called exactly so is meant.
int WhyThing(const Given& given, cli::Console& console) {
  const std::string& text = given.Text("THING");
  cli::Server server(given);
  const Answer found = server.Ask(http::Method::kGet, SearchPath(text));
  if (!found.ok()) return ReportRefusal(found, server.form(), console);
  std::vector<std::string> exact;
  for (const std::string& item : JsonRow::Parse(found.body).Items("items"))
    if (JsonRow::Parse(item).Text("id") == text) exact.push_back(item);
  if (exact.size() == 1) {
    const JsonRow thing = JsonRow::Parse(exact.front());
    return Explain(server, thing.Text("kind"), thing.Text("id"), given, console);
  }
  if (exact.empty()) {
    console.err << fmt::format(
        "tenure: nothing has the id or the name {}; `tenure find {}` looks "
        "for what begins so\n",
        config::Quoted(text), config::Printable(text));
    return cli::kExitNotFound;
  }
  console.err << fmt::format("tenure: {} is several things; say which:\n", config::Quoted(text));
  for (const std::string& item : exact)
    console.err << fmt::format("  tenure why {} {}\n",
                               config::Printable(JsonRow::Parse(item).Text("kind")),
                               config::Printable(text));
  return cli::kExitUsage;
}

constexpr std::string_view kFindNotes =
    R"(Looks for exact ids of every kind, for names, topics and tasks that begin with the text (two
characters at least), and for user, capacity and correlation ids. At most ten of a kind. Exit code 3
when nothing is found.

Example:
  tenure find 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81
)";

constexpr std::string_view kWhyNotes =
    R"(Finds out what kind of thing has this id or name, and says why it is as it is. When several have
it they are listed, with exit code 2; exit code 3 when none has.

Example:
  tenure why 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81
)";

}  // namespace

cli::Commands FindCommands() {
  using namespace cli;  // the words of its table
  return {{.words = "find",
           .summary = "Find anything by its id, or by how its name begins",
           .notes = std::string(kFindNotes),
           .flags = Flags{Argument("TEXT", "What to look for.", SearchText)} + TableFlags() +
                    ServerFlags(),
           .run = Find,
           .part = Part::kExplain},
          {.words = "why",
           .summary = "Say why something is as it is, by its id or name alone",
           .notes = std::string(kWhyNotes),
           .flags =
               Flags{Argument("THING", "Its id or name.", SearchText), WatchFlag()} + ServerFlags(),
           .run = WhyThing,
           .part = Part::kExplain},
          Asking({.words = "why instance",
                  .summary = "Say whether a process of the server is there, since when",
                  .notes = "Exit code 3 when none of the last hour has this id.\n\nExample:\n"
                           "  tenure why instance web-1:811:4f0a\n",
                  .flags = {Argument("ID", "The process, as `tenure top` names it.")},
                  .path = "/api/v1/why/instance/{ID}",
                  .print = Explained(),
                  .part = Part::kExplain})};
}

}  // namespace tenure::app
