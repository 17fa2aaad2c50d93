#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "base/time_parse.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(What operators did, newest first: breaks, redrives, pauses, factors, migrations; and who was
refused what belongs to another tenant. It takes the scope `admin`. A tenant or person `-` is
the store's own side: a command that a user of the machine ran there, or nobody known.

Examples:
  tenure audit list --act lease.break
  tenure audit list --person ada --from 2026-01-31T00:00:00Z --all --json
)";

/// The time as the server reads it. Throws UsageError when it is none.
std::string TimeFlag(std::string_view flag, const std::string& text) {
  if (!base::ParseRfc3339Ms(text))
    throw UsageError(fmt::format("{}: {} is not a time such as 2026-01-31T12:00:00Z", flag,
                                 config::Quoted(text)));
  return PercentEncoded(text);
}

class AuditList final : public Command {
 public:
  std::string_view words() const override { return "audit list"; }
  std::string_view summary() const override { return "List what was done, when and by whom"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(
        Flags::Value{"--act", "ACT", "Only this act, such as lease.break.", kOptional, &act_});
    flags.Add(Flags::Value{"--person", "NAME", "Only what this person did.", kOptional, &person_});
    flags.Add(Flags::Value{"--object", "NAME", "Only what was done to it: a lease, a topic.",
                           kOptional, &object_});
    flags.Add(Flags::Value{"--tenant", "TENANT", "Only what this tenant's people did.", kOptional,
                           &tenant_});
    flags.Add(
        Flags::Value{"--from", "TIME", "Not before: 2026-01-31T12:00:00Z.", kOptional, &from_});
    flags.Add(Flags::Value{"--to", "TIME", "Before that time.", kOptional, &to_});
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    ListOutput output(server_.form(),
                      {.columns = {{"TIME", 24},
                                   {"ACT", 15},
                                   {"OBJECT", 16},
                                   {"PERSON", 8},
                                   {"TENANT", 8},
                                   {"DETAIL", 10}},
                       .nothing = "nothing was done",
                       .cursor_field = "next_cursor"},
                      console);
    return pages_.Print(
        server_, "/api/v1/audit", Query(), output, console, [](const Answer& answer) {
          return ReadPage(answer, [](const JsonRow& entry) {
            return std::vector<std::string>{entry.Text("at"),     entry.Text("act"),
                                            entry.Cell("object"), entry.Cell("person"),
                                            entry.Cell("tenant"), entry.Text("detail")};
          });
        });
  }

 private:
  std::string Query() const {
    std::string query;
    const auto add = [&](std::string_view name, const std::optional<std::string>& value) {
      if (value) query += fmt::format("&{}={}", name, PercentEncoded(*value));
    };
    add("act", act_);
    add("person", person_);
    add("object", object_);
    add("tenant", tenant_);
    if (from_) query += "&from=" + TimeFlag("--from", *from_);
    if (to_) query += "&to=" + TimeFlag("--to", *to_);
    return query;
  }

  std::optional<std::string> act_;
  std::optional<std::string> person_;
  std::optional<std::string> object_;
  std::optional<std::string> tenant_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeAuditList() { return std::make_unique<AuditList>(); }

}  // namespace tenure::app
