// `tenure doctor`: whether this machine and the server get along, and what to do where they do not.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/operator_url.hpp"
#include "base/time_text.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Answer;
using cli::JsonRow;
using config::Printable;

constexpr std::int64_t kClockToleranceMs = 2'000;  // a Date header has whole seconds
constexpr std::int64_t kTokenEndsSoonMs = 3'600'000;

/// What was looked at. `to_do` is empty where nothing is to be done.
struct Finding {
  std::string_view of;
  std::string sentence;
  std::string to_do = {};
  bool is_bad() const { return !to_do.empty(); }
};
using Findings = std::vector<Finding>;

void LookAtConnection(const cli::Server::Address& address, Findings& findings) {
  if (address.url.starts_with("https://"))
    findings.push_back({"tls", "the server's certificate is trusted"});
  else if (base::IsClearText(address.url))
    findings.push_back({"tls", fmt::format("{} is asked in clear text", address.url),
                        "ask it by https:// (docs/security.md)"});
  else
    findings.push_back({"tls", "the server is on this machine: no TLS is needed"});
}

void LookAtClocks(const Answer& answer, Findings& findings) {
  if (!answer.server_now_ms) return;
  const std::int64_t ahead = base::SystemClock().WallMs() - *answer.server_now_ms;
  const std::int64_t far = ahead < 0 ? -ahead : ahead;
  if (far <= kClockToleranceMs) {
    findings.push_back({"clock", "this machine's clock and the server's agree"});
    return;
  }
  findings.push_back({"clock",
                      fmt::format("this machine's clock is {} {} the server's", base::SpanText(far),
                                  ahead > 0 ? "ahead of" : "behind"),
                      "set it (timedatectl); deadlines are the store's and are not concerned, but "
                      "times in your logs are"});
}

void LookAtVersion(const JsonRow& me, Findings& findings) {
  const std::string version = Printable(me.Text("version"));
  if (version == TENURE_VERSION)
    findings.push_back({"version", fmt::format("server and program are of version {}", version)});
  else
    findings.push_back(
        {"version",
         fmt::format("the server is of version {}, this program of {}", version, TENURE_VERSION),
         "use the program of the server's version: another one may not know all it says"});
}

std::string WordsOf(const JsonRow& row, std::string_view field) {
  std::string text;
  for (std::string item : row.Items(field)) {
    std::erase(item, '"');
    text += (text.empty() ? "" : " ") + Printable(item);
  }
  return text;
}

void LookAtToken(const JsonRow& me, Findings& findings) {
  if (me.Text("mode") == "protected") {
    findings.push_back({"token", "none is asked for: the server serves this machine only"});
    return;
  }
  const std::string whose =
      fmt::format("it is of {}, tenant {}, and may {}", Printable(me.Text("person")),
                  Printable(me.Text("tenant")), WordsOf(me, "scopes"));
  if (me.Items("scopes").empty()) {
    findings.push_back({"token", "it has no scopes: it may read and change nothing",
                        "ask for a token with the scopes that you need (docs/security.md)"});
    return;
  }
  const std::int64_t left =
      me.Text("expires_at").empty() ? kTokenEndsSoonMs : me.TimeMs("expires_at") - me.TimeMs("now");
  if (left < kTokenEndsSoonMs)
    findings.push_back(
        {"token", fmt::format("{}; it ends in {}", whose, base::SpanText(left)), "get a new one"});
  else
    findings.push_back({"token", whose});
}

/// What a warning of the store means, and what helps.
struct Warning {
  std::string_view name;
  std::string_view sentence;
  std::string_view to_do;
};
constexpr Warning kWarnings[] = {
    {"no-synchronous-standby",
     "PostgreSQL has no synchronous standby: a failover may forget what was answered",
     "set synchronous_standby_names, or know the risk (docs/operating.md)"},
    {"frozen", "the store was restored or promoted, and some names are not granted yet",
     "wait until then, or run `tenure admin thaw` where nobody can still hold them"},
    {"clock-step", "the store's clock has jumped within the last hour",
     "see that the machine of the store keeps its time by NTP"},
    {"forgotten-commits",
     "somebody showed a fence that the store never gave: it may have been restored unnoticed",
     "run `tenure admin new-incarnation` if it was (docs/operating.md)"},
};

void LookAtStore(const JsonRow& health, Findings& findings) {
  const JsonRow store = JsonRow::Parse(health.Text("store"));
  const std::string place = Printable(store.Text("place"));
  if (store.Text("status") == "ok")
    findings.push_back({"store", fmt::format("{} answers", place)});
  else
    findings.push_back({"store", fmt::format("{} cannot be reached by the server", place),
                        "see the server's log and docs/operating.md"});
  if (!store.Text("warnings").empty())
    for (std::string name : store.Items("warnings")) {
      std::erase(name, '"');
      const auto known = std::ranges::find(kWarnings, name, &Warning::name);
      if (known == std::end(kWarnings))
        findings.push_back({"store", Printable(name), "see docs/operating.md"});
      else
        findings.push_back({"store", std::string(known->sentence), std::string(known->to_do)});
    }
  for (const char* kind : {"tasks", "background"})
    for (const std::string& item : health.Items(kind)) {
      const JsonRow task = JsonRow::Parse(item);
      if (task.Text("status") != "ok")
        findings.push_back({"tasks", fmt::format("{} fails", Printable(task.Text("name"))),
                            "`tenure task list` has its last error"});
    }
}

std::string JsonOf(const Findings& findings) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const Finding& each : findings) {
    json.BeginObject().Field("of", each.of);
    json.Field("state", each.is_bad() ? "attention" : "ok");
    json.Field("sentence", std::string_view(each.sentence));
    if (each.is_bad()) json.Field("to_do", std::string_view(each.to_do));
    json.EndObject();
  }
  json.EndArray().EndObject();
  return body;
}

int Tell(const Findings& findings, cli::Form form, cli::Console& console) {
  if (form == cli::Form::kJson) console.out << JsonOf(findings) << "\n";
  for (const Finding& each : findings) {
    if (form == cli::Form::kJson) break;
    console.out << fmt::format("{:<9}{:<9}  {}\n", each.of, each.is_bad() ? "attention" : "ok",
                               each.sentence);
    if (each.is_bad()) console.out << fmt::format("{:20}{}\n", "", each.to_do);
  }
  return std::ranges::any_of(findings, &Finding::is_bad) ? cli::kExitAttention : cli::kExitDone;
}

int Doctor(const cli::Given& given, cli::Console& console) {
  cli::Server server(given);
  const cli::Server::Address address = server.address();
  Findings findings;
  // A server that nobody can reach ends the command here, with the exit code for that.
  const Answer me = server.Ask(http::Method::kGet, "/api/v1/me");
  findings.push_back(
      {"server",
       fmt::format("{} answers{}", address.url,
                   address.context.empty() ? "" : fmt::format(" (context {})", address.context))});
  LookAtConnection(address, findings);
  LookAtClocks(me, findings);
  if (me.status == 401) {
    findings.push_back({"token",
                        address.token.empty() ? "the server wants one, and none is shown"
                                              : "the server does not accept the one that is shown",
                        "give one with --token-file, TENURE_TOKEN or a context; `tenure token "
                        "inspect` shows what stands in it"});
    return Tell(findings, server.form(), console);
  }
  if (!me.ok()) return ReportRefusal(me, server.form(), console);
  const JsonRow asker = JsonRow::Parse(me.body);
  LookAtVersion(asker, findings);
  LookAtToken(asker, findings);
  const Answer health = server.Ask(http::Method::kGet, "/health");
  // A server that is not ready says so with 503 and the same document.
  if (health.ok() || health.body.starts_with(R"({"status")"))
    LookAtStore(JsonRow::Parse(health.body), findings);
  else
    findings.push_back({"store", "the server does not tell this token about its health",
                        "a token with the scope ops:read is told"});
  return Tell(findings, server.form(), console);
}

}  // namespace

cli::Command DoctorCommand() {
  return {.words = "doctor",
          .summary = "Say what is wrong between this machine and the server, and what to do",
          .notes =
              "Looks at the connection, clocks, versions, the token and its scopes, the store "
              "and its warnings.\nExit code 7 when something needs attention, 5 when no server "
              "answers.\n\nExample:\n  tenure doctor\n",
          .flags = cli::ServerFlags(),
          .run = Doctor,
          .part = cli::Part::kLookAfter};
}

}  // namespace tenure::app
