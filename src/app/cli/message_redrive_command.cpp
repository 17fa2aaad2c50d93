#include "app/cli/command.hpp"
#include "app/cli/dead_letter_flags.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Puts dead letters back into their lines, with their attempts forgotten, until none is left that
fits: all of them without --topic, --reason and --id. Repeating it after a lost answer is harmless.
With --rate they become ready one after the other.

Examples:
  tenure message redrive --topic orders --dry-run
  tenure message redrive --topic orders --rate 50
)";

class MessageRedrive final : public Command {
 public:
  std::string_view words() const override { return "message redrive"; }
  std::string_view summary() const override { return "Put dead letters back into their lines"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    letters_.DeclareWithIds(flags);
    flags.Add(Flags::Value{"--rate", "N", "So many a second.", Flags::Need::kOptional, &rate_});
    flags.Add(Flags::Switch{"--dry-run", "Only say how many.", &dry_run_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const int rate = rate_ ? NumberFlag("--rate", *rate_, {.least = 1, .most = 100'000}) : 0;
    return ChangeDeadLetters(server_, console, "redrive", dry_run_, [&](std::int64_t before) {
      std::string body;
      base::JsonWriter json(body);
      json.BeginObject();
      letters_.Write(json);
      // The next page begins when the one before it has gone.
      if (rate > 0) json.Field("rate", rate).Field("delay_ms", before * 1'000 / rate);
      if (dry_run_) json.Field("dry_run", true);
      json.EndObject();
      return body;
    });
  }

 private:
  DeadLetterFlags letters_;
  std::optional<std::string> rate_;
  bool dry_run_ = false;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageRedrive() { return std::make_unique<MessageRedrive>(); }

}  // namespace tenure::app
