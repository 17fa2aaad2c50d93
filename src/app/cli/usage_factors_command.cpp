#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_kind.hpp"
#include "app/cli/text_table.hpp"
#include "app/cli/usage_error.hpp"
#include "base/decimal.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

std::string FactorsText(const Answer& answer) {
  TextTable table({{"KIND", 10}, {"FACTOR", 10}, {"FROM"}});
  const PageFlags::Page page = ReadPage(answer, [](const JsonRow& factor) {
    return std::vector<std::string>{SessionKindText(factor.Number("sessionKind")),
                                    factor.Text("factor"), factor.Text("fromUtc")};
  });
  for (const auto& cells : page.printed.rows) table.Add(cells);
  return table.Text();
}

class UsageFactors final : public Command {
 public:
  std::string_view words() const override { return "usage factors"; }
  std::string_view summary() const override { return "Show what each kind of session costs"; }
  std::string notes() const override {
    return "Each factor holds from its time on, until the next one of the same kind.\n\n"
           "Example:\n  tenure usage factors\n";
  }
  void Declare(Flags& flags) override { server_.Declare(flags); }
  int Run(Console& console) override {
    return server_.Show({.path = "/usage/factors"}, console, FactorsText);
  }

 private:
  ServerFlags server_;
};

class UsageFactorsSet final : public Command {
 public:
  std::string_view words() const override { return "usage factors set"; }
  std::string_view summary() const override { return "Change a factor, from the next window on"; }
  std::string notes() const override {
    return "Windows that are closed never change; the new factor holds from the end of the current "
           "one on.\n\nExample:\n  tenure usage factors set standard 2.5\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"KIND", "1 Basic, 2 Standard, 3 Premium.", &kind_});
    flags.Add(Flags::Argument{"FACTOR", "A decimal with at most six places.", &factor_});
    server_.Declare(flags);
  }
  int Run(Console& console) override {
    const auto kind = ParseSessionKind(kind_);
    if (!kind)
      throw UsageError(fmt::format("KIND: {} is not 1, 2, 3, basic, standard or premium",
                                   config::Quoted(kind_)));
    const auto factor = base::ParseMillionths(factor_);
    if (!factor)
      throw UsageError(fmt::format("FACTOR: {} is not a decimal with at most six places",
                                   config::Quoted(factor_)));
    const std::string body =
        fmt::format(R"({{"sessionKind":{},"factor":"{}"}})", *kind, base::MillionthsText(*factor));
    return server_.Show(
        {.method = http::Method::kPost, .path = "/usage/factors", .json_body = body}, console,
        [](const Answer& answer) {
          const JsonRow row = JsonRow::Parse(answer.body);
          return config::Printable(fmt::format("{} costs {} from {} on",
                                               SessionKindText(row.Number("sessionKind")),
                                               row.Text("factor"), row.Text("fromUtc"))) +
                 "\n";
        });
  }

 private:
  std::string kind_;
  std::string factor_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageFactors() { return std::make_unique<UsageFactors>(); }
std::unique_ptr<Command> MakeUsageFactorsSet() { return std::make_unique<UsageFactorsSet>(); }

}  // namespace tenure::app
