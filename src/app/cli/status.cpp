// `tenure status`: how the server is, and which of the caller's own topics its figures are of.

#include <optional>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Answer;
using cli::JsonRow;
using config::Printable;

/// Topics that are looked at; whoever has more is told.
constexpr int kMostPages = 20;
constexpr int kPageRows = 500;

/// The names of those that are not "ok".
std::string Failed(const JsonRow& health, std::string_view field) {
  std::string names;
  for (const std::string& item : health.Items(field)) {
    const JsonRow each = JsonRow::Parse(item);
    if (each.Text("status") != "ok")
      names += (names.empty() ? "" : ", ") + Printable(each.Text("name"));
  }
  return names;
}

/// The texts of a list such as warnings, in one line.
std::string Joined(const std::string& list) {
  std::string text;
  for (const char c : list)
    if (c == ',')
      text += ", ";
    else if (c != '[' && c != ']' && c != '"')
      text += c;
  return Printable(text);
}

void AddLine(std::string& text, std::string_view label, const std::string& value) {
  if (!value.empty()) text += fmt::format("{:<10}{}\n", label, value);
}

std::string HealthLines(const JsonRow& health) {
  const JsonRow store = JsonRow::Parse(health.Text("store"));
  std::string text;
  AddLine(text, "server",
          fmt::format("{}, version {}", Printable(health.Text("status")),
                      Printable(health.Text("version"))));
  AddLine(text, "store",
          fmt::format("{}, {}", Printable(store.Text("status")), Printable(store.Text("place"))));
  AddLine(text, "warnings", Joined(store.Text("warnings")));
  AddLine(text, "frozen", Printable(store.Text("frozen_until")));
  AddLine(text, "failing", Failed(health, "tasks"));
  AddLine(text, "failing", Failed(health, "background"));
  return text;
}

/// Of the caller's own topics: that of the oldest message and that with the most dead letters.
struct Worst {
  std::string oldest{};
  std::int64_t oldest_ms = 0;
  std::string dead{};
  std::int64_t most_dead = 0;
  bool is_all = true;

  void Look(const JsonRow& topic) {
    if (!topic.Text("oldest_at").empty() &&
        (oldest.empty() || topic.Number("oldest_age_ms") > oldest_ms)) {
      oldest = topic.Text("name");
      oldest_ms = topic.Number("oldest_age_ms");
    }
    if (topic.Number("dead") > most_dead) {
      dead = topic.Text("name");
      most_dead = topic.Number("dead");
    }
  }
};

/// Empty: the caller may not see topics.
std::optional<Worst> LookAtTopics(cli::Server& server) {
  Worst worst;
  std::string cursor;
  for (int page = 0; page < kMostPages; ++page) {
    const Answer answer =
        server.Ask(http::Method::kGet,
                   fmt::format("/api/v1/topics?limit={}{}", kPageRows,
                               cursor.empty() ? "" : "&cursor=" + cli::PercentEncoded(cursor)));
    if (!answer.ok()) return std::nullopt;
    const JsonRow list = JsonRow::Parse(answer.body);
    for (const std::string& item : list.Items("items")) worst.Look(JsonRow::Parse(item));
    cursor = list.Text("next_cursor");
    if (cursor.empty()) return worst;
  }
  worst.is_all = false;
  return worst;
}

std::string TopicLines(const Worst& worst) {
  std::string text;
  if (!worst.oldest.empty())
    AddLine(text, "oldest",
            fmt::format("a message of topic {} has been ready for {}: `tenure why topic {}`",
                        Printable(worst.oldest), base::SpanText(worst.oldest_ms),
                        Printable(worst.oldest)));
  if (!worst.dead.empty())
    AddLine(text, "dead",
            fmt::format("{} of topic {}: `tenure message dead --topic {}`", worst.most_dead,
                        Printable(worst.dead), Printable(worst.dead)));
  if (!worst.is_all)
    AddLine(text, "", fmt::format("of the first {} topics", kMostPages * kPageRows));
  return text;
}

/// Whether something needs a person.
bool NeedsAttention(const JsonRow& health) {
  const JsonRow store = JsonRow::Parse(health.Text("store"));
  const std::string warnings = store.Text("warnings");
  return (!warnings.empty() && warnings != "[]") || !Failed(health, "tasks").empty() ||
         !Failed(health, "background").empty();
}

/// For probes: nothing but an exit code, and why not.
int Ready(cli::Server& server, cli::Console& console) {
  const Answer ready = server.Ask(http::Method::kGet, "/readyz");
  if (ready.ok()) return cli::kExitDone;
  console.Note(fmt::format("tenure: not ready ({})\n", ready.status));
  return cli::kExitUnavailable;
}

int Status(const cli::Given& given, cli::Console& console) {
  cli::Server server(given);
  if (given.Has("--ready")) return Ready(server, console);
  const Answer health = server.Ask(http::Method::kGet, "/health");
  // A server that is not ready says so with 503 and the same document.
  const bool told = health.ok() || health.body.starts_with(R"({"status")");
  if (!told) return ReportRefusal(health, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(health.body, console);
  } else {
    console.out << HealthLines(JsonRow::Parse(health.body));
    if (const auto worst = health.ok() ? LookAtTopics(server) : std::nullopt)
      console.out << TopicLines(*worst);
  }
  if (!health.ok()) return cli::kExitUnavailable;
  return NeedsAttention(JsonRow::Parse(health.body)) ? cli::kExitAttention : cli::kExitDone;
}

}  // namespace

cli::Command StatusCommand() {
  return {.words = "status",
          .summary = "Say how the server is, and what waits longest",
          .notes =
              "The health of the server and its store, and of your own topics that with the "
              "oldest ready message\nand that with the most dead letters. It needs the scope "
              "ops:read, and messages:read for topics.\nExit code 7 when the store warns or a "
              "task fails, 5 when the server is not ready. With --json the\nserver's /health. "
              "`--ready` needs no scope and prints nothing: for probes.\n\nExamples:\n"
              "  tenure status\n  tenure status --ready\n",
          .flags = cli::Flags{cli::Switch("--ready", "Only exit with 0 or 5."), cli::WatchFlag()} +
                   cli::ServerFlags(),
          .run = Status,
          .part = cli::Part::kLookAfter};
}

}  // namespace tenure::app
