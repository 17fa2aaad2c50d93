#include "queues/queue_run.hpp"

#include <condition_variable>
#include <functional>
#include <stdexcept>

#include <fmt/format.h>

#include "base/mutex.hpp"
#include "cli/held_signals.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"
#include "queues/handling_process.hpp"
#include "tenure/queues/consumer.hpp"

namespace tenure::queues {
namespace {

using cli::Given;
using config::Printable;

constexpr std::string_view kQueueRunNotes =
    R"(The command runs once for each message, with the payload on its standard input, one message of a
session after another. It finds TENURE_QUEUE, TENURE_SESSION (what is printed of it),
TENURE_SESSION_ID, TENURE_SEQUENCE, TENURE_FENCE, TENURE_ATTEMPT and TENURE_MESSAGE_ID in its
environment, of an event also TENURE_EVENT, a JSON object with what is said of it. Its exit code
says what became of the message:

  0    it is done
  65   it can never be processed
  75   not now: the session is given back, nothing is counted
  else it failed, and comes again after the queue's back-off

When the session is lost, the command gets SIGTERM, and SIGKILL after --grace. SIGTERM and SIGINT
are passed on; then nothing more is begun. Send the fence along with what the command writes where
a second one could do harm (docs/queues.md).

Examples:
  tenure queue run orders -- ./ship
  tenure queue run triage --sessions 8 --lease 1m -- sh -c 'jq .event_type; ./label'
)";

constexpr int kNever = 65;
constexpr int kNotNow = 75;
constexpr std::int64_t kMostSessions = 100;

/// Until so many messages were handled, or somebody has enough.
class Enough {
 public:
  explicit Enough(std::int64_t most) : most_(most) {}
  /// Whether one more may begin.
  bool Begin() {
    const base::Lock lock(mutex_);
    return most_ == 0 || begun_++ < most_;
  }
  void End() {
    const base::Lock lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }
  void Await(const std::stop_token& stop) {
    base::Lock lock(mutex_);
    changed_.wait(lock, stop, [&] {
      mutex_.AssertHeld();
      return most_ > 0 && ended_ >= most_;
    });
  }

 private:
  const std::int64_t most_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::int64_t begun_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t ended_ TENURE_GUARDED_BY(mutex_) = 0;
};

HandlingCommand CommandFor(const Given& given, const Delivery& delivery, const sigset_t& mask) {
  HandlingCommand command;
  command.words = given.All("COMMAND…");
  command.environment = {{"TENURE_QUEUE", given.Text("QUEUE")},
                         {"TENURE_SESSION", delivery.name},
                         {"TENURE_SESSION_ID", delivery.session},
                         {"TENURE_SEQUENCE", std::to_string(delivery.sequence)},
                         {"TENURE_FENCE", std::to_string(delivery.fence)},
                         {"TENURE_ATTEMPT", std::to_string(delivery.attempt)},
                         {"TENURE_MESSAGE_ID", delivery.id}};
  if (!delivery.event.empty()) command.environment.emplace_back("TENURE_EVENT", delivery.event);
  if (!delivery.payload_url.empty())
    command.environment.emplace_back("TENURE_PAYLOAD_URL", delivery.payload_url);
  command.input = delivery.payload;
  if (given.Has("--grace")) command.grace_ms = cli::ToNumber(given.Text("--grace"));
  command.mask = mask;
  return command;
}

void Judge(int exit_code, Context& context) {
  if (exit_code == 0) return;
  if (exit_code == kNever) return context.DeadLetter("the command exited with 65");
  if (exit_code == kNotNow) return context.Release();
  throw std::runtime_error(fmt::format("the command exited with {}", exit_code));
}

/// With the token in it, as the library takes it.
std::string UrlOf(const cli::Server::Address& address) {
  const std::size_t host = address.url.find("://");
  if (address.token.empty() || host == std::string::npos) return address.url;
  return address.url.substr(0, host + 3) + address.token + "@" + address.url.substr(host + 3);
}

int RunOnQueue(const Given& given, cli::Console& console) {
  const cli::Server::Address address = cli::Server(given).address();
  cli::HeldSignals signals;  // before the consumer's threads
  cli::Impatience impatience(signals);
  const auto number = [&](std::string_view flag, std::int64_t otherwise) {
    return given.Has(flag) ? cli::ToNumber(given.Text(flag)) : otherwise;
  };
  Enough enough(number("--count", 0));
  ConsumerOptions options;
  options.sessions = static_cast<int>(number("--sessions", 1));
  options.slice = 1;  // what was fetched and is not begun is only in the way of others
  options.lease = Milliseconds(number("--lease", options.lease.count()));
  options.consumer = given.Or("--consumer", "");
  options.ca_file = address.ca_file;
  options.stop = impatience.token();
  options.on_trouble = [&](const std::string& trouble) {
    console.err << fmt::format("tenure: {}\n", Printable(trouble));
  };
  const auto handle = [&](const Delivery& delivery, Context& context) {
    if (!enough.Begin()) return context.Release();
    const int exit_code = RunHandling(CommandFor(given, delivery, signals.mask_before()),
                                      {context.stop(), impatience.token()});
    enough.End();
    Judge(exit_code, context);
  };
  try {
    Consumer consumer(UrlOf(address), given.Text("QUEUE"), handle, options);
    enough.Await(impatience.token());
    consumer.Stop();
  } catch (const Unavailable& error) {
    console.err << fmt::format("tenure: {}\n", Printable(error.what()));
    return cli::kExitUnavailable;
  } catch (const std::invalid_argument& error) {
    throw cli::UsageError(error.what());
  }
  return cli::kExitDone;
}

}  // namespace

cli::Command QueueRunCommand() {
  using namespace cli;  // the words of its table
  constexpr std::int64_t kDayMs = 86'400'000;
  return {
      .words = "queue run",
      .summary = "Run a command for each message of an ordered queue",
      .notes = std::string(kQueueRunNotes),
      .flags = Flags{Argument("QUEUE", "The queue of a bot."),
                     Value("--sessions", "N", "Sessions at a time [1].", Number(1, kMostSessions)),
                     Value("--lease", "DURATION", "How long holds outlive this process [30s].",
                           Duration({1'000, kDayMs})),
                     Value("--grace", "DURATION", "Between SIGTERM and SIGKILL, at most [5s].",
                           Duration({0, kDayMs})),
                     Value("--consumer", "TEXT", "Who it is, for people [HOST:PID]."),
                     Value("--count", "N", "End after so many messages.", Number(1, 1'000'000'000)),
                     Rest("COMMAND…", "What to run, and its arguments.")} +
               ServerFlags(),
      .run = RunOnQueue};
}

}  // namespace tenure::queues
