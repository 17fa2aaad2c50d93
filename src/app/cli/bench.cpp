// `tenure bench`: how fast a server answers from here, by the requests that programs make.

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "cli/held_signals.hpp"
#include "cli/progress.hpp"
#include "cli/server.hpp"
#include "cli/text_table.hpp"

namespace tenure::app {
namespace {

using http::Method;

constexpr std::int64_t kMaxClients = 256;
constexpr std::int64_t kMaxForMs = 3'600'000;
constexpr std::int64_t kLookMs = 100;        ///< how often this thread looks whether it is to end
constexpr std::int64_t kPatienceMs = 5'000;  ///< of a request: Ctrl-C waits for it
constexpr std::int64_t kTtlMs = 30'000;
constexpr std::size_t kMostKept = 1'000'000;  ///< times of one client

/// One client: a connection, and names of its own, which every run uses again, so that the store does
/// not grow by them.
class Client {
 public:
  Client(const cli::Server::Address& address, std::size_t number)
      : client_({.base_url = address.url,
                 .timeout_ms = kPatienceMs,
                 .token = address.token,
                 .ca_file = address.ca_file}),
        name_(fmt::format("bench/{}", number)),
        lease_("/api/v1/leases/" + cli::PercentEncoded(name_)) {}

  /// Each is one piece of work as a program has it. Throws base::UserError when it was refused.
  void Look() { Ask(Method::kGet, lease_); }
  void Lease() {
    const std::string term = NewTerm();
    const std::string fence = Acquire(term);
    Release(term, fence);
  }
  void Renew() {
    if (fence_.empty()) fence_ = Acquire(term_ = NewTerm());
    Post(lease_ + "/renew",
         fmt::format(R"({{"term":"{}","fence":{},"ttl_ms":{}}})", term_, fence_, kTtlMs));
  }
  void Message() {
    has_sent_ = true;
    Post("/api/v1/messages", fmt::format(R"({{"topic":"{}","payload":{{"n":1}}}})", name_));
    Take();
  }
  /// Gives back what it still holds, and leaves no message behind.
  void End() {
    if (!fence_.empty()) Release(term_, std::exchange(fence_, ""));
    if (!std::exchange(has_sent_, false)) return;
    while (Take() > 0) continue;
  }

  std::int64_t requests() const { return requests_; }

 private:
  static std::string NewTerm() { return base::Uuid::V7(base::SystemClock().WallMs()).ToString(); }
  std::string Ask(Method method, const std::string& path,
                  const std::optional<std::string>& body = std::nullopt) {
    const http::ClientResponse response = client_.Send(method, path, body);
    ++requests_;
    // A lease that nobody had yet is looked at just as well.
    if (response.status >= 400 && !(method == Method::kGet && response.status == 404))
      throw base::UserError(
          fmt::format("{} {} was answered {}", http::ToText(method), path, response.status));
    return response.body;
  }
  std::string Post(const std::string& path, const std::string& body) {
    return Ask(Method::kPost, path, body);
  }
  std::string Acquire(const std::string& term) {
    const std::string grant =
        Post(lease_ + "/acquire",
             fmt::format(R"({{"term":"{}","ttl_ms":{},"holder":"tenure bench"}})", term, kTtlMs));
    return std::to_string(cli::JsonRow::Parse(grant).Number("fence"));
  }
  /// How many messages of its topic there were, at most one, which is done now.
  std::size_t Take() {
    const std::string claimed =
        Post("/api/v1/messages/claim",
             fmt::format(R"({{"topics":["{}"],"owner":"tenure bench","max":1}})", name_));
    const std::vector<std::string> messages = cli::JsonRow::Parse(claimed).Items("messages");
    for (const std::string& item : messages) {
      const cli::JsonRow message = cli::JsonRow::Parse(item);
      Post("/api/v1/messages/ack", fmt::format(R"({{"claims":[{{"id":"{}","fence":{}}}]}})",
                                               message.Text("id"), message.Number("fence")));
    }
    return messages.size();
  }
  void Release(const std::string& term, const std::string& fence) {
    Post(lease_ + "/release", fmt::format(R"({{"term":"{}","fence":{}}})", term, fence));
  }

  http::Client client_;
  const std::string name_;
  const std::string lease_;
  std::string term_{};
  std::string fence_{};
  bool has_sent_ = false;
  std::int64_t requests_ = 0;
};

struct Work {
  std::string_view name;
  std::string_view does;
  void (Client::*run)();
};
constexpr std::array<Work, 4> kWork{{
    {"lease", "acquire a lease, release it", &Client::Lease},
    {"renew", "renew a lease", &Client::Renew},
    {"look", "look at a lease", &Client::Look},
    {"message", "enqueue, claim, acknowledge", &Client::Message},
}};

/// What one kind of work came to.
struct Result {
  const Work* work = nullptr;
  std::int64_t took_ms = 0;
  std::int64_t requests = 0;
  std::int64_t failed = 0;
  std::vector<std::int64_t> times_us{};  ///< sorted
  std::string failure{};                 ///< the first one

  double PerSecond() const {
    return took_ms == 0 ? 0
                        : 1e3 * static_cast<double>(times_us.size()) / static_cast<double>(took_ms);
  }
  std::int64_t Percentile(std::size_t of_thousand) const {
    if (times_us.empty()) return 0;
    return times_us[std::min(times_us.size() - 1, times_us.size() * of_thousand / 1'000)];
  }
};

/// All clients at once at one kind of work.
class Round {
 public:
  Round(const Work& work, std::vector<std::unique_ptr<Client>>& clients)
      : work_(work), clients_(clients), parts_(clients.size()) {}

  /// Until `for_ms` have passed, or a signal came: that is returned, else 0.
  int Run(std::int64_t for_ms, cli::HeldSignals& signals, cli::Progress& progress) {
    const base::Clock& clock = base::SystemClock();
    const std::int64_t began_ms = clock.BootMs();
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients_.size(); ++i)
      threads.emplace_back([this, i] { Drive(*clients_[i], parts_[i]); });
    int signal = 0;
    while (signal == 0 && clock.BootMs() - began_ms < for_ms) {
      pollfd ended{.fd = signals.fd(), .events = POLLIN, .revents = 0};
      if (poll(&ended, 1, static_cast<int>(kLookMs)) > 0) signal = signals.Take();
      progress.At(done_.load(std::memory_order_relaxed));
    }
    over_ = true;
    threads.clear();
    took_ms_ = clock.BootMs() - began_ms;
    return signal;
  }

  Result Sum() {
    Result sum{.work = &work_, .took_ms = took_ms_};
    for (Part& part : parts_) {
      sum.times_us.insert(sum.times_us.end(), part.times_us.begin(), part.times_us.end());
      sum.failed += part.failed;
      sum.requests += part.requests;
      if (sum.failure.empty()) sum.failure = part.failure;
    }
    std::ranges::sort(sum.times_us);
    return sum;
  }

 private:
  struct Part {  // of one client
    std::vector<std::int64_t> times_us{};
    std::int64_t requests = 0;
    std::int64_t failed = 0;
    std::string failure{};
  };

  void Drive(Client& client, Part& part) {
    const std::int64_t before = client.requests();
    while (!over_ && part.times_us.size() < kMostKept) {
      const std::int64_t began_us = base::MeasureMicros();
      try {
        (client.*work_.run)();
        part.times_us.push_back(base::MeasureMicros() - began_us);
        done_.fetch_add(1, std::memory_order_relaxed);
      } catch (const std::exception& error) {
        ++part.failed;
        if (part.failure.empty()) part.failure = error.what();
        if (part.times_us.empty()) break;  // it never works: no need to try for long
      }
    }
    part.requests = client.requests() - before;
  }

  const Work& work_;
  std::vector<std::unique_ptr<Client>>& clients_;
  std::vector<Part> parts_;
  std::atomic<bool> over_ = false;
  std::atomic<std::int64_t> done_ = 0;
  std::int64_t took_ms_ = 0;
};

std::string Milliseconds(std::int64_t us) {
  return fmt::format("{:.2f} ms", static_cast<double>(us) / 1e3);
}

void Print(const std::vector<Result>& results, cli::Console& console) {
  cli::TextTable table(
      {{"WORK"}, {"PER SECOND"}, {"REQUESTS"}, {"P50"}, {"P99"}, {"LONGEST"}, {"FAILED"}});
  for (const Result& each : results)
    table.Add({std::string(each.work->does), fmt::format("{:.0f}", each.PerSecond()),
               std::to_string(each.requests), Milliseconds(each.Percentile(500)),
               Milliseconds(each.Percentile(990)), Milliseconds(each.Percentile(1'000)),
               std::to_string(each.failed)});
  console.out << table.Text();
}

void PrintAsJson(const std::vector<Result>& results, std::int64_t clients, cli::Console& console) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject().Field("clients", clients).Key("work").BeginArray();
  for (const Result& each : results) {
    json.BeginObject()
        .Field("name", each.work->name)
        .Field("ms", each.took_ms)
        .Field("done", static_cast<std::int64_t>(each.times_us.size()))
        .Field("requests", each.requests)
        .Field("failed", each.failed)
        .Field("p50_us", each.Percentile(500))
        .Field("p99_us", each.Percentile(990))
        .Field("longest_us", each.Percentile(1'000))
        .EndObject();
  }
  json.EndArray().EndObject();
  console.out << out << "\n";
}

int RunBench(const cli::Given& given, cli::Console& console) {
  cli::Server server(given);
  const std::vector<std::string> only = given.All("WORK");
  const std::int64_t for_ms = cli::ToNumber(given.Or("--for", "5000"));
  const std::int64_t count = cli::ToNumber(given.Or("--clients", "16"));
  // The first act, as of every command: it says where, and asks where that is protected.
  if (const cli::Answer first =
          server.Ask(Method::kPost, "/api/v1/leases/renew", R"({"leases":[]})");
      !first.ok())
    return cli::ReportRefusal(first, server.form(), console);
  cli::HeldSignals signals;
  std::vector<std::unique_ptr<Client>> clients;
  for (std::int64_t i = 1; i <= count; ++i)
    clients.push_back(std::make_unique<Client>(server.address(), static_cast<std::size_t>(i)));
  std::vector<Result> results;
  int signal = 0;
  for (const Work& work : kWork) {
    if (signal != 0 || (!only.empty() && std::ranges::find(only, work.name) == only.end()))
      continue;
    cli::Progress progress(console, work.name);
    Round round(work, clients);
    signal = round.Run(for_ms, signals, progress);
    progress.End();
    results.push_back(round.Sum());
    for (auto& client : clients) {
      try {
        client->End();
      } catch (const std::exception& error) {
        console.Note(
            fmt::format("a lease was not released: {}. It ends by itself\n", error.what()));
      }
    }
  }
  given.Has("--json") ? PrintAsJson(results, count, console) : Print(results, console);
  for (const Result& each : results)
    if (each.failed > 0)
      console.Note(fmt::format("{}: {} failed, the first so: {}\n", each.work->name, each.failed,
                               each.failure));
  if (signal != 0) {
    console.Note("it was stopped: what is shown is what was done till then\n");
    return 128 + signal;
  }
  const bool failed =
      std::ranges::any_of(results, [](const Result& each) { return each.times_us.empty(); });
  return failed ? cli::kExitError : cli::kExitDone;
}

std::string KindOfWork(const cli::Flag&, const std::string& text) {
  if (std::ranges::find(kWork, text, &Work::name) == kWork.end())
    throw cli::UsageError(fmt::format("{} is no work: lease, renew, look and message are", text));
  return text;
}

constexpr std::string_view kBenchNotes =
    R"(Does the work of programs against a server, with several clients at once, one kind of work after
the other, and says how much it did and how long each took. It is real work: leases bench/1,
bench/2 and so on, and topics of the same names, which every run uses again. A lease or message
that you need waits behind it meanwhile, so measure where nobody works. WORK is lease, renew,
look or message; all of them unless given. Ctrl-C ends it, and it shows what it has.

Examples:
  tenure bench
  tenure bench message --clients 64 --for 30s --json
)";

}  // namespace

cli::Command BenchCommand() {
  return {.words = "bench",
          .summary = "Measure how fast a server does the work of programs",
          .notes = std::string(kBenchNotes),
          .flags =
              cli::Flags{cli::Arguments("WORK", "Only such work.", KindOfWork),
                         cli::Value("--clients", "N", "So many at once [16].",
                                    cli::Number(1, kMaxClients)),
                         cli::Value("--for", "DURATION", "How long each kind of work is done [5s].",
                                    cli::Duration({1, kMaxForMs}))} +
              cli::ActFlags(),
          .run = RunBench,
          .part = cli::Part::kLookAfter};
}

}  // namespace tenure::app
