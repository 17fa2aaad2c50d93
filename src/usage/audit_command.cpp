#include <functional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "base/operator_url.hpp"
#include "base/time_text.hpp"
#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/server.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"
#include "http/client.hpp"
#include "usage/capability.hpp"
#include "usage/recount.hpp"

namespace tenure::usage {
namespace {

using cli::Answer;
using cli::Given;
using cli::JsonRow;

constexpr int kGone = 410;
constexpr std::size_t kShownDifferences = 20;

constexpr std::string_view kAuditNotes =
    R"(Computes every record anew from sessions and factors, by a program of its own, and compares: the
windows follow each other without a gap, each record is what its session's active time makes, and
all records of a session add up to it, to the last millionth. With --sink also what a `tenure
usage-sink` has received (its token: TENURE_SINK_TOKEN). Reads everything: it takes a while.

Exit code 0 when there is no difference, 1 when there is one.

Examples:
  tenure usage audit
  tenure usage audit --sink http://127.0.0.1:9090
)";

base::Uuid IdOf(const JsonRow& row, std::string_view field) {
  const auto id = base::Uuid::Parse(row.Text(field));
  if (!id) throw cli::NotUnderstood(fmt::format("{} is no UUID", field));
  return *id;
}

std::int64_t MicrosOf(const JsonRow& row, std::string_view field) {
  const auto micros = sink::ParseMicros(row.Text(field));
  if (!micros) throw cli::NotUnderstood(fmt::format("{} is no usage", field));
  return *micros;
}

Recount::Window WindowOf(const JsonRow& row) {
  return {.number = row.Number("window"),
          .start_ms = row.TimeMs("windowStartUtc"),
          .end_ms = row.TimeMs("windowEndUtc"),
          .acknowledged = row.Text("state") == "sent"};
}

Recount::MeteredSession SessionOf(const JsonRow& row) {
  return {.id = IdOf(row, "sessionId"),
          .user = IdOf(row, "userObjectId"),
          .tenant = IdOf(row, "tenantObjectId"),
          .capacity = IdOf(row, "capacityId"),
          .kind = static_cast<int>(row.Number("sessionKind")),
          .start_ms = row.TimeMs("sessionStartUtc"),
          .end_ms = row.TimeMs("sessionEndUtc")};
}

/// A server that refuses to be asked: the command ends with what it said.
struct RefusedAnswer {
  Answer answer;
};

using Ask = std::function<Answer(const std::string& path)>;

/// Every page of a list; `path` ends with '?' or '&'. Throws RefusedAnswer.
void EachPage(const Ask& ask, const std::string& path,
              const std::function<void(const JsonRow& page)>& read) {
  std::string cursor;
  while (true) {
    Answer answer = ask(fmt::format("{}limit=1000{}{}", path,
                                    cursor.empty() ? "" : "&cursor=", cli::PercentEncoded(cursor)));
    if (!answer.ok()) throw RefusedAnswer{std::move(answer)};
    const JsonRow page = JsonRow::Parse(answer.body);
    read(page);
    std::string next = page.Text("nextCursor");
    if (next.empty()) return;
    if (next == cursor) throw base::UserError("the server's list does not come to an end");
    cursor = std::move(next);
  }
}

void EachItemOf(const JsonRow& page, const std::function<void(const JsonRow& item)>& read) {
  for (const std::string& item : page.Items("items")) read(JsonRow::Parse(item));
}

void EachItem(const Ask& ask, const std::string& path,
              const std::function<void(const JsonRow& item)>& read) {
  EachPage(ask, path, [&](const JsonRow& page) { EachItemOf(page, read); });
}

/// All records of a window, read as strictly as a receiver reads them.
void EachRecord(const Ask& ask, std::int64_t window,
                const std::function<void(const sink::Record&)>& read) {
  EachPage(ask, fmt::format("/usage/windows/{}/records?", window), [&](const JsonRow& page) {
    const std::string items = page.Text("items");
    if (items == "[]") return;
    try {
      for (const sink::Record& record : sink::ReadRecords(items)) read(record);
    } catch (const http::ProblemError& error) {
      throw base::UserError(fmt::format("the records of window {} are not what was expected: {}",
                                        window, error.what()));
    }
  });
}

/// The way through the API, in the order that recount.hpp asks for.
class Auditor {
 public:
  Auditor(Ask server, Recount& audit) : server_(std::move(server)), audit_(audit) {}

  void ReadServer(bool with_refused) {
    EachItem(server_, "/usage/windows?",
             [&](const JsonRow& row) { audit_.AddWindow(WindowOf(row)); });
    if (audit_.windows().empty()) return;
    if (with_refused)
      EachItem(server_, "/usage/refused?",
               [&](const JsonRow& row) { refused_.insert(row.Text("recordId")); });
    ReadFactors();
    EachItem(server_, "/sessions?", [&](const JsonRow& row) { audit_.AddSession(SessionOf(row)); });
    ReadRecords();
    audit_.Conclude();
  }

  void ReadSink(const Ask& sink) {
    std::int64_t conflicts = 0;
    EachPage(sink, "/totals?by=session&", [&](const JsonRow& page) {
      conflicts = page.Number("conflicts");
      EachItemOf(page, [&](const JsonRow& row) {
        audit_.AddReceived(IdOf(row, "sessionId"), MicrosOf(row, "usage"));
      });
    });
    ReadLaterRecords();
    audit_.ConcludeReceiver(conflicts);
  }

 private:
  void ReadFactors() {
    Answer answer = server_("/usage/factors");  // a few, in one page
    if (!answer.ok()) throw RefusedAnswer{std::move(answer)};
    EachItemOf(JsonRow::Parse(answer.body), [&](const JsonRow& row) {
      audit_.AddFactor({.kind = static_cast<int>(row.Number("sessionKind")),
                        .from_ms = row.TimeMs("fromUtc"),
                        .millionths = MicrosOf(row, "factor")});
    });
  }

  /// Newest first, until those whose sessions were removed after their retention.
  void ReadRecords() {
    const std::vector<Recount::Window> windows = audit_.windows();
    for (const Recount::Window& window : windows) {
      try {
        EachRecord(server_, window.number, [&](const sink::Record& record) {
          const bool sure = window.acknowledged && !refused_.contains(sink::RecordId(record));
          audit_.AddRecord(record, sure ? Recount::Delivered::kYes : Recount::Delivered::kPerhaps);
        });
      } catch (const RefusedAnswer& refused) {
        if (refused.answer.status != kGone) throw;
        return audit_.ForgetUpTo(window.number);
      }
    }
  }

  /// Of windows that were closed while we read: the receiver may have had them when it was asked.
  void ReadLaterRecords() {
    const std::int64_t last = audit_.last().number;
    std::vector<std::int64_t> later;
    EachItem(server_, "/usage/windows?", [&](const JsonRow& row) {
      if (row.Number("window") > last) later.push_back(row.Number("window"));
    });
    for (const std::int64_t window : later)
      EachRecord(server_, window,
                 [&](const sink::Record& record) { audit_.AddLaterRecord(record); });
  }

  const Ask server_;
  Recount& audit_;
  std::unordered_set<std::string> refused_;  // what the receiver does not take
};

std::string ResultText(const Recount& audit, bool with_sink) {
  std::string text =
      fmt::format("windows       {} to {}, {} to {}\n", audit.first().number, audit.last().number,
                  base::UtcText(audit.first().start_ms), base::UtcText(audit.last().end_ms));
  text += fmt::format("sessions      {}\nrecords       {}\nusage         {}\n", audit.sessions(),
                      audit.records(), base::MillionthsText(audit.micros()));
  if (with_sink)
    text += fmt::format("received      {}\n", base::MillionthsText(audit.received_micros()));
  text += fmt::format("differences   {}\n", audit.difference_count());
  std::size_t shown = 0;
  for (const std::string& difference : audit.differences())
    if (shown++ < kShownDifferences) text += fmt::format("  {}\n", config::Printable(difference));
  const std::int64_t more = audit.difference_count() - static_cast<std::int64_t>(kShownDifferences);
  if (more > 0) text += fmt::format("  and {} more\n", more);
  return text;
}

std::string ResultJson(const Recount& audit, bool with_sink) {
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject()
      .Field("fromWindow", audit.first().number)
      .Field("toWindow", audit.last().number)
      .Field("sessions", audit.sessions())
      .Field("records", audit.records());
  json.Key("usage").Raw(base::MillionthsText(audit.micros()));
  if (with_sink) json.Key("received").Raw(base::MillionthsText(audit.received_micros()));
  json.Field("differenceCount", audit.difference_count()).Key("differences").BeginArray();
  for (const std::string& difference : audit.differences()) json.Value(difference);
  json.EndArray().EndObject();
  return text + "\n";
}

http::ClientOptions SinkOptions(const Given& given, const cli::Server& server) {
  std::string url = given.Text("--sink");
  if (url.ends_with('/')) url.pop_back();
  if (const auto problem = base::OperatorUrlProblem(url))
    throw cli::UsageError(fmt::format("--sink: {}", *problem));
  http::ClientOptions options;
  options.base_url = std::move(url);
  options.token =
      config::FindVariable(config::CurrentEnvironment(), "TENURE_SINK_TOKEN").value_or("");
  options.ca_file = server.address().ca_file;
  return options;
}

int RunAudit(const Given& given, cli::Console& console) {
  cli::Server server(given);
  std::optional<http::Client> sink;
  if (given.Has("--sink")) sink.emplace(SinkOptions(given, server));
  Recount audit;
  cli::Progress progress(console, "records");
  Auditor auditor(
      [&](const std::string& path) {
        progress.At(audit.records());
        return server.Ask(http::Method::kGet, path);
      },
      audit);
  try {
    auditor.ReadServer(sink.has_value());
    if (audit.windows().empty()) {
      console.Note("no usage window is closed yet, or none has its sessions still\n");
      return cli::kExitDone;
    }
    if (sink)
      auditor.ReadSink([&](const std::string& path) -> Answer {
        http::ClientResponse response = sink->Send(http::Method::kGet, path);
        return {.status = response.status, .body = std::move(response.body), .to_a_look = true};
      });
  } catch (const RefusedAnswer& refused) {
    return ReportRefusal(refused.answer, server.form(), console);
  }
  progress.End();
  console.out << (server.form() == cli::Form::kJson ? ResultJson(audit, sink.has_value())
                                                    : ResultText(audit, sink.has_value()));
  return audit.difference_count() == 0 ? cli::kExitDone : cli::kExitError;
}

}  // namespace

cli::Command AuditCommand() {
  return {.words = "usage audit",
          .summary = "Recompute all usage, and compare",
          .notes = std::string(kAuditNotes),
          .flags = cli::Flags{cli::Value("--sink", "URL",
                                         "Compare with what this usage-sink received.")} +
                   cli::ServerFlags(),
          .run = RunAudit};
}

}  // namespace tenure::usage
