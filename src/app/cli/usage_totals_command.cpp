#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_filter.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Over all closed windows, or from one to another. Exact: the sum of what was sent, to the last
millionth. One unit is 30 days of a session with the factor 1.

Examples:
  tenure usage totals
  tenure usage totals --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 --from 1 --to 1440
)";

class UsageTotals final : public Command {
 public:
  std::string_view words() const override { return "usage totals"; }
  std::string_view summary() const override { return "Add up what was used"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    using enum Flags::Need;
    filter_.Declare(flags);
    flags.Add(
        Flags::Value{"--from", "WINDOW", "From this window on [the first].", kOptional, &from_});
    flags.Add(Flags::Value{"--to", "WINDOW", "Up to this window [the last].", kOptional, &to_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    std::string query = filter_.Query();
    if (from_) query += fmt::format("&fromWindow={}", WindowFlag("--from", *from_));
    if (to_) query += fmt::format("&toWindow={}", WindowFlag("--to", *to_));
    if (!query.empty()) query.front() = '?';
    return server_.Show({.path = "/usage/totals" + query}, console, [](const Answer& answer) {
      const JsonRow totals = JsonRow::Parse(answer.body);
      const bool whole = totals.Text("complete") != "false";
      return totals.Lines({{"usage", "usage"},
                           {"sessions", "sessions"},
                           {"from window", "fromWindow"},
                           {"since", "fromUtc"},
                           {"to window", "toWindow"},
                           {"until", "toUtc"}}) +
             (whole ? "" : "incomplete: old sessions of these windows were removed\n");
    });
  }

 private:
  UsageFilter filter_;
  std::optional<std::string> from_;
  std::optional<std::string> to_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageTotals() { return std::make_unique<UsageTotals>(); }

}  // namespace tenure::app
