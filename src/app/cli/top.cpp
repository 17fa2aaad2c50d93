// `tenure top`: the server on a whole screen. What is shown and what a key does is cli/top; this is
// its terminal, its clock and its connection.

#include "cli/top.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/error.hpp"
#include "base/mutex.hpp"
#include "cli/contexts.hpp"
#include "cli/held_signals.hpp"
#include "cli/look.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Answer;
using cli::Given;
using cli::JsonRow;
using cli::TopAsk;
using Now = std::optional<std::int64_t>;

constexpr std::int64_t kEveryMs = 2'000;

/// The terminal as `top` needs it: another screen, no cursor, each key at once and unseen. The
/// destructor gives it back as it was.
class WholeScreen {
 public:
  explicit WholeScreen(std::ostream& out) : out_(out) {
    tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    keys.c_cc[VMIN] = 0;
    keys.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    out_ << "\x1b[?1049h\x1b[?25l" << std::flush;
  }
  ~WholeScreen() {
    out_ << "\x1b[0m\x1b[?25h\x1b[?1049l" << std::flush;
    tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  WholeScreen(const WholeScreen&) = delete;
  WholeScreen& operator=(const WholeScreen&) = delete;

 private:
  std::ostream& out_;
  termios before_{};
};

/// The keys in what a terminal sends, in the words of cli::Top.
std::vector<std::string> KeysOf(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kSequences{
      {{"\x1b[A", "up"},
       {"\x1b[B", "down"},
       {"\x1bOA", "up"},
       {"\x1bOB", "down"},
       {"\x1b[5~", "page up"},
       {"\x1b[6~", "page down"},
       {"\x1b[H", ""},
       {"\x1b[F", ""}}};
  std::vector<std::string> keys;
  while (!bytes.empty()) {
    const auto known = std::ranges::find_if(
        kSequences, [&](const auto& each) { return bytes.starts_with(each.first); });
    std::size_t length = 1;
    if (known != kSequences.end()) {
      length = known->first.size();
      if (!known->second.empty()) keys.emplace_back(known->second);
    } else if (bytes.front() == '\n' || bytes.front() == '\r') {
      keys.emplace_back("enter");
    } else if (bytes.front() == '\x7f' || bytes.front() == '\b') {
      keys.emplace_back("backspace");
    } else if (bytes.front() == '\x1b') {
      keys.emplace_back("escape");
    } else {
      while (length < bytes.size() && (static_cast<unsigned char>(bytes[length]) & 0xC0U) == 0x80U)
        ++length;
      if (static_cast<unsigned char>(bytes.front()) >= ' ')
        keys.emplace_back(bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
  return keys;
}

/// What became of a question.
struct Told {
  TopAsk ask{};
  std::optional<Answer> answer{};
  std::string trouble{};  ///< why there is none
};

/// Asks the server on a thread of its own, one question at a time: keys go on while it is slow.
class Asker {
 public:
  explicit Asker(const Given& given)
      : given_(given),
        ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { Work(); }) {}
  ~Asker() {
    {
      const base::Lock lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    thread_.join();
    close(ready_);
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  int fd() const { return ready_; }  ///< readable when something is told
  bool is_busy() const { return is_busy_; }

  /// REQUIRES: it is not busy.
  void Ask(TopAsk ask) {
    is_busy_ = true;
    {
      const base::Lock lock(mutex_);
      question_ = std::move(ask);
    }
    wake_.notify_all();
  }
  std::optional<Told> Take() {
    std::uint64_t count = 0;
    if (read(ready_, &count, sizeof count) != sizeof count) return std::nullopt;
    is_busy_ = false;
    const base::Lock lock(mutex_);
    return std::exchange(told_, std::nullopt);
  }

 private:
  void Work() {
    cli::Server server(given_);
    while (true) {
      TopAsk ask;
      {
        base::Lock lock(mutex_);
        wake_.wait(lock.native(), [this] {
          mutex_.AssertHeld();
          return is_over_ || question_.has_value();
        });
        if (is_over_) return;
        ask = *std::exchange(question_, std::nullopt);
      }
      Told told{.ask = ask};
      try {
        told.answer = server.Ask(ask.method, ask.path, ask.body);
      } catch (const std::exception& error) {
        told.trouble = error.what();
      }
      {
        const base::Lock lock(mutex_);
        told_ = std::move(told);
      }
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = write(ready_, &one, sizeof one);
    }
  }

  const Given given_;
  const int ready_;
  bool is_busy_ = false;  // of the caller's thread
  base::Mutex mutex_;
  std::condition_variable wake_;
  std::optional<TopAsk> question_ TENURE_GUARDED_BY(mutex_);
  std::optional<Told> told_ TENURE_GUARDED_BY(mutex_);
  bool is_over_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last: it uses all others
};

std::string AsYesNo(const JsonRow& row, std::string_view field, Now) {
  return row.Text(field) == "true" ? "yes" : "no";
}
std::string Gap(const JsonRow& row, std::string_view field, Now) { return row.Text(field) + " ms"; }

/// "messages  dead 12  ready 10,000+" for each capability.
std::string Figures(const JsonRow& overview) {
  const JsonRow figures = JsonRow::Parse(overview.Text("figures"));
  const std::string capped = overview.Text("capped");
  std::string lines;
  for (const std::string& part : figures.Names()) {
    const JsonRow own = JsonRow::Parse(figures.Text(part));
    lines += fmt::format("{:<13}", config::Printable(part));
    for (const std::string& name : own.Names()) {
      const bool more = capped.find(fmt::format("\"{}.{}\"", part, name)) != std::string::npos;
      lines += fmt::format(" {} {}{} ", config::Printable(name), config::Printable(own.Text(name)),
                           more ? "+" : "");
    }
    lines += "\n";
  }
  return lines;
}

cli::View OverviewView() {
  return {.title = "overview",
          .path = "/api/v1/overview?range=1h",
          .columns = {{"SEVERITY", 8, "severity"},
                      {"NAME", 20, "name"},
                      {"SINCE", cli::kAgoWidth, "since", cli::Ago},
                      {"ATTENTION", 20, "sentence"}},
          .items = "attention",
          .id = "sentence",
          .head = Figures};
}

cli::View InstancesView() {
  return {.title = "instances",
          .path = "/api/v1/instances",
          .columns = {{"INSTANCE", 24, "instance"},
                      {"VERSION", 7, "version"},
                      {"SEEN", cli::kAgoWidth, "last_seen_at", cli::Ago},
                      {"STARTED", cli::kAgoWidth, "started_at", cli::Ago},
                      {"WORKERS", 7, "workers", AsYesNo},
                      {"REQUESTS/S", 10, "requests_per_second"},
                      {"CLOCK", 6, "clock_gap_ms", Gap}},
          .kind = "instance",
          .id = "instance"};
}

/// The screens in the order of their keys: what is named here first, then what else there is.
std::vector<cli::View> Views() {
  std::vector<cli::View> views;
  for (const cli::Command& command : AllCommands())
    if (command.view) views.push_back(*command.view);
  constexpr std::array<std::string_view, 4> kFirst{"topics", "leases", "seats", "tasks"};
  std::ranges::stable_sort(views, {}, [&](const cli::View& view) {
    return std::ranges::find(kFirst, view.title) - kFirst.begin();
  });
  views.insert(views.begin(), OverviewView());
  views.insert(views.begin() + std::min<std::ptrdiff_t>(5, std::ssize(views)), InstancesView());
  return views;
}

/// One frame, for pipes and --once: every row of the screen that is asked for.
int PrintOnce(cli::Top& top, const Given& given, cli::Console& console) {
  cli::Server server(given);
  const TopAsk ask = *top.Look();
  const Answer answer = server.Ask(ask.method, ask.path);
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(answer.body, console);
    return cli::kExitDone;
  }
  top.Take(ask, answer);
  const bool terminal = console.out_is_terminal;
  for (const std::string& line :
       top.Frame(terminal ? console.screen().columns : std::numeric_limits<std::size_t>::max()))
    console.out << line << "\n";
  return cli::kExitDone;
}

void Draw(const cli::Top& top, cli::Console& console) {
  const cli::Screen screen = console.screen();
  const std::vector<std::string> lines = top.Lines(screen);
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size() && i < screen.rows; ++i) {
    // A line is cut before it is marked: what marks it takes no room.
    std::string line = cli::CutToFit(lines[i], {.columns = screen.columns, .rows = 2});
    if (!line.empty()) line.pop_back();  // its end
    const bool marked = i == 0 || top.selected_line() == i;
    text += fmt::format("\x1b[2K{}{}{}{}", marked ? "\x1b[7m" : "", line, marked ? "\x1b[0m" : "",
                        i + 1 < lines.size() && i + 1 < screen.rows ? "\r\n" : "");
  }
  console.out << text << "\x1b[J" << std::flush;
}

/// Runs until somebody ends it. Returns the exit code.
int Run(cli::Top& top, const Given& given, cli::Console& console) {
  cli::HeldSignals signals({SIGWINCH});  // before the thread
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const itimerspec every{.it_interval = {.tv_sec = kEveryMs / 1'000, .tv_nsec = 0},
                         .it_value = {.tv_sec = 0, .tv_nsec = 1}};
  timerfd_settime(timer, 0, &every, nullptr);
  auto asker = std::make_unique<Asker>(given);
  int exit = cli::kExitDone;
  {
    const WholeScreen whole(console.out);
    while (!top.is_over() && exit == cli::kExitDone) {
      Draw(top, console);
      std::array<pollfd, 4> polled{{{STDIN_FILENO, POLLIN, 0},
                                    {signals.fd(), POLLIN, 0},
                                    {timer, POLLIN, 0},
                                    {asker->fd(), POLLIN, 0}}};
      poll(polled.data(), polled.size(), -1);
      for (int signal = signals.Take(); signal != 0; signal = signals.Take())
        if (signal != SIGWINCH) exit = 128 + signal;
      if (polled[0].revents != 0) {
        std::array<char, 256> bytes{};
        const ssize_t size = read(STDIN_FILENO, bytes.data(), bytes.size());
        if (size <= 0) break;  // the terminal is gone
        for (const std::string& key : KeysOf({bytes.data(), static_cast<std::size_t>(size)}))
          top.Key(key);
      }
      if (const std::optional<Told> told = asker->Take()) {
        if (told->answer)
          top.Take(told->ask, *told->answer);
        else
          top.Away(told->trouble);
      }
      std::uint64_t ticks = 0;
      const bool is_time = read(timer, &ticks, sizeof ticks) == sizeof ticks;
      if (asker->is_busy()) continue;
      std::optional<TopAsk> ask = top.Wanted();
      if (!ask && is_time) ask = top.Look();
      if (ask) asker->Ask(std::move(*ask));
    }
  }
  close(timer);
  // A question that is under way could take as long as the server likes.
  if (asker->is_busy()) {
    console.out.flush();
    _exit(exit);
  }
  return exit;
}

int RunTop(const Given& given, cli::Console& console) {
  const std::vector<cli::View> views = Views();
  Given own = given;
  const cli::Server::Address address = cli::Server(given).address();
  cli::Top top(views, address.context.empty() ? address.url : address.context,
               address.is_protected ? address.context : "");
  if (const std::string* const screen = given.Find("--screen")) {
    const auto found = std::ranges::find(views, *screen, &cli::View::title);
    if (found == views.end())
      throw cli::UsageError(
          fmt::format("--screen: there is no screen {}", config::Quoted(*screen)));
    top.Key(std::to_string(found - views.begin() + 1));
    (void)top.Wanted();
  }
  const bool is_whole = cli::CanDraw(console) && isatty(STDIN_FILENO) == 1 && !given.Has("--json");
  if (given.Has("--once") || !is_whole) return PrintOnce(top, given, console);
  own.Set("--yes", {""});  // it asks by itself
  own.Set("--quiet", {""});
  own.SetConsole(console);
  return Run(top, own, console);
}

constexpr std::string_view kNotes =
    R"(Screens: 1 overview, 2 topics, 3 leases, 4 seats, 5 tasks, 6 instances. It looks every 2 seconds,
one question at a time. Enter says why something is as it is, `a` acts on it and asks for the
reason, `s` sorts, `/` filters, `p` pauses, `?` helps, `q` ends. Without a terminal, or with --once,
it prints one frame.

Examples:
  tenure top
  tenure top --once --screen leases
)";

}  // namespace

cli::Command TopCommand() {
  return {.words = "top",
          .summary = "Show the server on a whole screen, and act on what is held",
          .notes = std::string(kNotes),
          .flags = cli::Flags{cli::Switch("--once", "Print one frame and end."),
                              cli::Value("--screen", "NAME",
                                         "Begin with it: overview, topics, leases, …")} +
                   cli::ServerFlags(),
          .run = RunTop,
          .part = cli::Part::kExplain};
}

}  // namespace tenure::app
