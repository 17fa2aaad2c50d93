#include "app/cli/command.hpp"
#include "app/cli/dead_letter_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Puts dead letters away for good, until none is left that fits. One of --topic, --reason and
--id must say which.

Example:
  tenure message discard --topic orders --reason failed --dry-run
)";

class MessageDiscard final : public Command {
 public:
  std::string_view words() const override { return "message discard"; }
  std::string_view summary() const override { return "Put dead letters away for good"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    letters_.DeclareWithIds(flags);
    flags.Add(Flags::Switch{"--dry-run", "Only say how many.", &dry_run_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    if (!letters_.SayWhich()) throw UsageError("--topic, --reason or --id must say which");
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject();
    letters_.Write(json);
    if (dry_run_) json.Field("dry_run", true);
    json.EndObject();
    return ChangeDeadLetters(server_, console, "discard", dry_run_,
                             [&](std::int64_t) { return body; });
  }

 private:
  DeadLetterFlags letters_;
  bool dry_run_ = false;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageDiscard() { return std::make_unique<MessageDiscard>(); }

}  // namespace tenure::app
