#include <poll.h>

#include <csignal>
#include <limits>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "cli/command.hpp"
#include "cli/held_signals.hpp"
#include "cli/text_table.hpp"
#include "config/kinds.hpp"
#include "http/protection.hpp"
#include "sink/sink.hpp"
#include "usage/capability.hpp"

namespace tenure::usage {
namespace {

using cli::Given;

constexpr int kLookEveryMs = 2'000;
constexpr std::int64_t kShown = 10;  // of the largest users, tenants, capacities
constexpr std::size_t kMaxTokenBytes = 4'096;

constexpr std::string_view kSinkNotes =
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
  cli::TextTable table({{std::string(Plural(group.what)), 36}, {"RECORDS", 9}, {"USAGE"}});
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

std::string Listen(const Given& given) { return given.Or("--listen", "127.0.0.1:9090"); }
std::string Directory(const Given& given) { return given.Or("--data", "./usage-sink-data"); }

std::string SinkToken(const Given& given) {
  if (!given.Has("--token-file")) return {};
  std::string token = base::ReadWholeFile(given.Text("--token-file"), kMaxTokenBytes);
  if (token.ends_with('\n')) token.pop_back();
  if (token.empty()) throw cli::UsageError("--token-file: the file is empty");
  return token;
}

sink::Faults ParsedFaults(const Given& given) {
  try {
    return sink::Faults::Parse(given.Or("--fault", ""));
  } catch (const base::UserError& error) {
    throw cli::UsageError(fmt::format("--fault: {}", error.what()));
  }
}

sink::SinkOptions OptionsOf(const Given& given) {
  const auto address = config::ParseAddress(Listen(given));
  if (!address) throw cli::UsageError("--listen takes HOST:PORT, like 127.0.0.1:9090");
  const bool is_local = address->host == "::1" || http::IsLocalHost(address->host);
  if (!given.Has("--token-file") && !is_local)
    throw cli::UsageError(fmt::format(
        "--listen {}: without --token-file only this machine is served, as on 127.0.0.1:9090",
        Listen(given)));
  return {.host = address->host,
          .port = address->port,
          .directory = Directory(given),
          .token = SinkToken(given),
          .faults = ParsedFaults(given),
          .fault_seed = static_cast<std::uint64_t>(cli::ToNumber(given.Or("--fault-seed", "1")))};
}

/// Waits a while for a signal.
bool StopIsAsked(cli::HeldSignals& signals) {
  pollfd one{.fd = signals.fd(), .events = POLLIN, .revents = 0};
  return poll(&one, 1, kLookEveryMs) > 0 && signals.Take() != 0;
}

/// Prints what there is when it has changed.
void Show(sink::Sink& sink, sink::Summary& shown, cli::Console& console) {
  sink::Summary now = sink.Look(kShown);
  const bool same = now.all.records == shown.all.records && now.duplicates == shown.duplicates &&
                    now.conflicts == shown.conflicts;
  if (same) return;
  shown = std::move(now);
  console.out << SummaryText(shown) << std::flush;
}

int RunSink(const Given& given, cli::Console& console) {
  cli::HeldSignals signals;  // before the server's threads
  std::signal(SIGPIPE, SIG_IGN);
  base::ConfigureLog(base::LogLevel::kWarn, base::LogFormat::kText, "usage-sink");
  const sink::SinkOptions options = OptionsOf(given);
  sink::Sink sink(options);
  sink.Start();
  console.out << fmt::format("The usage sink listens on http://{}/usages\nIts records are in {}\n",
                             config::AddressText({options.host, sink.port()}), Directory(given))
              << std::flush;
  sink::Summary shown = sink.Look(kShown);
  console.out << SummaryText(shown) << std::flush;
  while (!StopIsAsked(signals)) Show(sink, shown, console);
  sink.Stop();
  Show(sink, shown, console);
  console.out << "stopped\n";
  return cli::kExitDone;
}

}  // namespace

cli::Command SinkCommand() {
  using namespace cli;  // the words of its table
  return {.words = "usage-sink",
          .summary = "Receive usage, for trying and testing",
          .notes = std::string(kSinkNotes),
          .flags = {Value("--listen", "HOST:PORT", "Where to listen [127.0.0.1:9090]."),
                    Value("--data", "DIR", "Where the records are kept [./usage-sink-data]."),
                    Value("--token-file", "FILE", "The token that senders must show."),
                    Value("--fault", "FAULTS", "How bad it is, like 500:0.3,drop-after:0.2."),
                    Value("--fault-seed", "N", "Which faults are drawn [1].",
                          Number(0, std::numeric_limits<std::int64_t>::max()))},
          .run = RunSink,
          .part = Part::kRun};
}

}  // namespace tenure::usage
