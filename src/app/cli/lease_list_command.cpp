#include <utility>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/list_output.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Leases come in the order of their names. LEFT is what is left without a renewal.

Examples:
  tenure lease list --state held
  tenure lease list --prefix shard/ --all
  tenure lease list --all --json | jq -r '.items[].name'
)";

class LeaseList final : public Command {
 public:
  std::string_view words() const override { return "lease list"; }
  std::string_view summary() const override { return "List leases, and who holds them"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(
        Flags::Value{"--prefix", "TEXT", "Only names that begin with it.", kOptional, &prefix_});
    flags.Add(Flags::Value{"--holder", "TEXT", "Only those held by it.", kOptional, &holder_});
    flags.Add(Flags::Value{"--state", "free|held|broken", "Only those in this state.", kOptional,
                           &state_});
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string filter = Filter();
    ListOutput output(server_.form(), Shape(), console);
    return pages_.Print(server_, "/api/v1/leases", filter, output, console,
                        [](const Answer& answer) -> PageFlags::Page {
                          LeasePage page = ParseLeasePage(answer);
                          return {Rows(page, answer.server_now_ms), std::move(page.next_cursor)};
                        });
  }

 private:
  static ListOutput::Shape Shape() {
    return {.columns = {{"LEASE", 24},
                        {"STATE", 6},
                        {"LEFT", 8},
                        {"WAITING", 7},
                        {"FENCE", 6},
                        {"SINCE", 24},
                        {"HOLDER", 6}},
            .nothing = "no leases",
            .cursor_field = "next_cursor"};
  }

  static ListOutput::Page Rows(const LeasePage& page, std::optional<std::int64_t> now_ms) {
    ListOutput::Page out{.rows = {}, .json = page.json};
    for (const leases::LeaseView& lease : page.items)
      out.rows.push_back({lease.name, std::string(leases::ToText(lease.state)),
                          LeftText(lease, now_ms), std::to_string(lease.waiters),
                          std::to_string(lease.fence),
                          TimeText(lease.state == leases::LeaseState::kFree ? lease.expires_at_ms
                                                                            : lease.granted_at_ms),
                          lease.holder});
    return out;
  }

  /// The query that all pages share.
  std::string Filter() const {
    std::string query;
    if (state_ && *state_ != "free" && *state_ != "held" && *state_ != "broken")
      throw UsageError(
          fmt::format("--state: {} is not free, held or broken", config::Quoted(*state_)));
    const auto add = [&](std::string_view field, const std::optional<std::string>& text) {
      if (text) query += fmt::format("&{}={}", field, PercentEncoded(*text));
    };
    add("prefix", prefix_);
    add("holder", holder_);
    add("state", state_);
    return query;
  }

  std::optional<std::string> prefix_;
  std::optional<std::string> holder_;
  std::optional<std::string> state_;
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaseList() { return std::make_unique<LeaseList>(); }

}  // namespace tenure::app
