#include <poll.h>

#include <charconv>
#include <csignal>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/held_signals.hpp"
#include "app/cli/text_table.hpp"
#include "app/cli/usage_error.hpp"
#include "base/decimal.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "config/kinds.hpp"
#include "config/printable.hpp"
#include "http/protection.hpp"
#include "sink/sink.hpp"

namespace tenure::app {
namespace {

constexpr int kLookEveryMs = 2'000;
constexpr std::int64_t kShown = 10;  // of the largest users, tenants, capacities
constexpr std::size_t kMaxTokenBytes = 4'096;

constexpr std::string_view kNotes =
    R"(A receiver for trying usage.endpoint and for tests: it applies each record once, for ever, and
prints the totals when they have changed. It serves this machine only, unless --token-file names
a file with the token that senders must show. Stop it with Ctrl-C; the totals stay in the folder.

--fault makes it a bad receiver: how often (0 to 1) it answers with a status, hangs, drops the
connection before or after it applied the records; and which session it always refuses. With the
same --fault-seed the same requests meet the same faults. PUT /faults changes them while it runs.

Examples:
  tenure usage-sink
  tenure serve --set usage.endpoint=http://127.0.0.1:9090/usages
  tenure usage-sink --fault 503:0.2,drop-after:0.1,hang:0.05
  curl '127.0.0.1:9090/totals?by=tenant'
)";

std::string_view Plural(sink::What what) {
  switch (what) {
    case sink::What::kTenant:
      return "TENANTS";
    case sink::What::kCapacity:
      return "CAPACITIES";
    default:
      return "USERS";
  }
}

std::string GroupText(const sink::Summary::Group& group) {
  TextTable table({{std::string(Plural(group.what)), 36}, {"RECORDS", 9}, {"USAGE"}});
  for (const sink::Total& total : group.top)
    table.Add(
        {total.id.ToString(), fmt::to_string(total.records), base::MillionthsText(total.usage)});
  const std::int64_t more = group.count - static_cast<std::int64_t>(group.top.size());
  return table.Text() + (more > 0 ? fmt::format("and {} more\n", more) : "");
}

std::string SummaryText(const sink::Summary& summary) {
  std::string text =
      fmt::format("\nusage {} in {} records of {} sessions; {} duplicates left out\n",
                  base::MillionthsText(summary.all.usage), summary.all.records, summary.sessions,
                  summary.duplicates);
  if (summary.conflicts > 0)
    text += fmt::format("CONFLICTS: {} records came again with other content; none was applied\n",
                        summary.conflicts);
  for (const sink::Summary::Group& group : summary.groups)
    if (group.count > 0) text += GroupText(group);
  return text;
}

class UsageSink final : public Command {
 public:
  std::string_view words() const override { return "usage-sink"; }
  std::string_view summary() const override { return "Receive usage, for trying and testing"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(Flags::Value{"--listen", "HOST:PORT", "Where to listen [127.0.0.1:9090].", kOptional,
                           &listen_});
    flags.Add(Flags::Value{"--data", "DIR", "Where the records are kept [./usage-sink-data].",
                           kOptional, &data_});
    flags.Add(Flags::Value{"--token-file", "FILE", "The token that senders must show.", kOptional,
                           &token_file_});
    flags.Add(Flags::Value{"--fault", "FAULTS", "How bad it is, like 500:0.3,drop-after:0.2.",
                           kOptional, &fault_});
    flags.Add(Flags::Value{"--fault-seed", "N", "Which faults are drawn [1].", kOptional, &seed_});
  }

  int Run(Console& console) override {
    HeldSignals signals;  // before the server's threads
    std::signal(SIGPIPE, SIG_IGN);
    base::ConfigureLog(base::LogLevel::kWarn, base::LogFormat::kText, "usage-sink");
    sink::Sink sink(Options());
    sink.Start();
    console.out << fmt::format(
                       "The usage sink listens on http://{}/usages\nIts records are in {}\n",
                       Place(sink), Directory())
                << std::flush;
    sink::Summary shown = sink.Look(kShown);
    console.out << SummaryText(shown) << std::flush;
    while (!StopIsAsked(signals)) Show(sink, shown, console);
    sink.Stop();
    Show(sink, shown, console);
    console.out << "stopped\n";
    return kExitDone;
  }

 private:
  sink::SinkOptions Options() const {
    const auto address = config::ParseAddress(Listen());
    if (!address) throw UsageError("--listen takes HOST:PORT, like 127.0.0.1:9090");
    const bool is_local = address->host == "::1" || http::IsLocalHost(address->host);
    if (!token_file_ && !is_local)
      throw UsageError(fmt::format(
          "--listen {}: without --token-file only this machine is served, as on 127.0.0.1:9090",
          Listen()));
    return {.host = address->host,
            .port = address->port,
            .directory = Directory(),
            .token = Token(),
            .faults = ParsedFaults(),
            .fault_seed = Seed()};
  }

  std::string Listen() const { return listen_.value_or("127.0.0.1:9090"); }
  std::string Directory() const { return data_.value_or("./usage-sink-data"); }
  std::string Place(const sink::Sink& sink) const {
    return config::AddressText({config::ParseAddress(Listen())->host, sink.port()});
  }

  std::string Token() const {
    if (!token_file_) return {};
    std::string token = base::ReadWholeFile(*token_file_, kMaxTokenBytes);
    if (token.ends_with('\n')) token.pop_back();
    if (token.empty()) throw UsageError("--token-file: the file is empty");
    return token;
  }

  sink::Faults ParsedFaults() const {
    try {
      return sink::Faults::Parse(fault_.value_or(""));
    } catch (const base::UserError& error) {
      throw UsageError(fmt::format("--fault: {}", error.what()));
    }
  }

  std::uint64_t Seed() const {
    const std::string text = seed_.value_or("1");
    std::uint64_t seed = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, seed);
    if (error != std::errc{} || stopped != end)
      throw UsageError(fmt::format("--fault-seed: {} is no number", config::Quoted(text)));
    return seed;
  }

  /// Waits a while for a signal.
  static bool StopIsAsked(HeldSignals& signals) {
    pollfd one{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    return poll(&one, 1, kLookEveryMs) > 0 && signals.Take() != 0;
  }

  /// Prints what there is when it has changed.
  static void Show(sink::Sink& sink, sink::Summary& shown, Console& console) {
    sink::Summary now = sink.Look(kShown);
    const bool same = now.all.records == shown.all.records && now.duplicates == shown.duplicates &&
                      now.conflicts == shown.conflicts;
    if (same) return;
    shown = std::move(now);
    console.out << SummaryText(shown) << std::flush;
  }

  std::optional<std::string> listen_;
  std::optional<std::string> data_;
  std::optional<std::string> token_file_;
  std::optional<std::string> fault_;
  std::optional<std::string> seed_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageSink() { return std::make_unique<UsageSink>(); }

}  // namespace tenure::app
