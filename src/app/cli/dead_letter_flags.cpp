#include "app/cli/dead_letter_flags.hpp"

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {

void DeadLetterFlags::Declare(Flags& flags) {
  using enum Flags::Need;
  flags.Add(Flags::Value{"--topic", "TOPIC", "Only those of this topic.", kOptional, &topic_});
  flags.Add(Flags::Value{"--reason", "failed|attempts|crashes", "Only those that died of it.",
                         kOptional, &reason_});
}

void DeadLetterFlags::DeclareWithIds(Flags& flags) {
  Declare(flags);
  flags.Add(Flags::List{"--id", "UUID", "This one; as often as you like.", &ids_});
}

std::string DeadLetterFlags::Query() const {
  if (reason_ && *reason_ != "failed" && *reason_ != "attempts" && *reason_ != "crashes")
    throw UsageError(
        fmt::format("--reason: {} is not failed, attempts or crashes", config::Quoted(*reason_)));
  std::string query;
  if (topic_) query += "&topic=" + PercentEncoded(*topic_);
  if (reason_) query += "&reason=" + *reason_;
  return query;
}

void DeadLetterFlags::Write(base::JsonWriter& json) const {
  Query();  // for its checks
  if (!ids_.empty() && (topic_ || reason_))
    throw UsageError("--id goes without --topic and --reason");
  if (topic_) json.Field("topic", std::string_view(*topic_));
  if (reason_) json.Field("reason", std::string_view(*reason_));
  if (ids_.empty()) return;
  json.Key("ids").BeginArray();
  for (const std::string& id : ids_) json.Value(UuidFlag("--id", id));
  json.EndArray();
}

int ChangeDeadLetters(ServerFlags& server, Console& console, const std::string& action,
                      bool dry_run, const std::function<std::string(std::int64_t)>& body) {
  std::int64_t total = 0;
  while (true) {
    const Answer answer =
        server.Ask(http::Method::kPost, "/api/v1/dead-letters/" + action, body(total));
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    const JsonRow page = JsonRow::Parse(answer.body);
    total += page.Number("found");
    const bool more = page.Text("has_more") == "true" && page.Number("found") > 0;
    if (server.form() == Form::kJson) PrintJson(answer.body, console);
    if (!dry_run && more) {
      console.err << fmt::format("{} so far\n", total);
      continue;
    }
    if (server.form() == Form::kTable)
      console.out << fmt::format("{} {}{}\n", total, total == 1 ? "dead letter" : "dead letters",
                                 dry_run
                                     ? (more ? " or more would be changed" : " would be changed")
                                     : (action == "redrive" ? " redriven" : " discarded"));
    return kExitDone;
  }
}

}  // namespace tenure::app
