// `tenure demo`: a living example on an empty server of this machine, for the first ten minutes.

#include <poll.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/operator_url.hpp"
#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "cli/held_signals.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Answer;
using cli::JsonRow;
using http::Method;

constexpr std::int64_t kRoundMs = 1'000;
constexpr std::int64_t kLeaseMs = 30'000;

std::string NewId() { return base::Uuid::V7(base::SystemClock().WallMs()).ToString(); }

/// What must have nothing in it before.
constexpr std::array<std::string_view, 4> kLists{"/api/v1/leases", "/api/v1/topics",
                                                 "/api/v1/licenses", "/sessions"};

/// The example: what it made, and so keeps alive.
class Demo {
 public:
  explicit Demo(cli::Server& server) : server_(server) {}

  /// Everything that is there from the beginning, some of it in trouble.
  void Fill() {
    FillSessions();
    FillLeases();
    FillMessages();
    FillInbox();
    FillSeats();
    FillJobs();
  }

  /// One round of its life: holds are kept, some work comes and most of it is done.
  void Live(int round) {
    std::string leases;
    for (const Held& lease : leases_)
      leases += fmt::format(R"({}{{"name":"{}","fence":{},"term":"{}"}})",
                            leases.empty() ? "" : ",", lease.name, lease.fence, lease.term);
    Post("/api/v1/leases/renew", fmt::format(R"({{"leases":[{}]}})", leases));
    std::string seats;
    for (const std::string& id : seats_)
      seats += fmt::format(R"({}"{}")", seats.empty() ? "" : ",", id);
    Post("/api/v1/licenses/heartbeats", fmt::format(R"({{"session_ids":[{}]}})", seats));
    for (const char* topic : {"mail", "invoices"})
      Enqueue(topic, fmt::format(R"({{"number":{}}})", 1'000 + round));
    if (round % 3 == 0) Enqueue("orders", fmt::format(R"({{"order":{}}})", 7'000 + round));
    Settle("mail", "mailer-1", 3, "ack");
    if (round % 5 == 0) Settle("invoices", "biller-1", 1, "abandon");
  }

  std::size_t made() const { return made_; }

 private:
  struct Held {
    std::string name{};
    std::int64_t fence = 0;
    std::string term{};
  };

  /// The answer's body. Throws what a person should know when it is refused.
  std::string Do(Method method, const std::string& path, const std::string& body) {
    const Answer answer = server_.Ask(method, path, body);
    if (!answer.ok())
      throw base::UserError(fmt::format("{} {} was answered {}: {}", http::ToText(method), path,
                                        answer.status, config::Printable(answer.body)));
    ++made_;
    return answer.body;
  }
  std::string Post(const std::string& path, const std::string& body) {
    return Do(Method::kPost, path, body);
  }

  void FillSessions() {
    const std::string tenant = NewId();
    const std::array<std::string, 2> capacities{NewId(), NewId()};
    std::string last;
    for (int user = 0; user < 6; ++user) {
      const std::string id = NewId();
      for (int kind = user % 3 + 1; kind <= (user == 0 ? 3 : user % 3 + 1); ++kind)
        last = Do(Method::kPut, "/sessions",
                  fmt::format(R"({{"userObjectId":"{}","tenantObjectId":"{}","capacityId":"{}",)"
                              R"("sessionKind":{}}})",
                              id, tenant, capacities[static_cast<std::size_t>(user) % 2], kind));
    }
    const Answer ended =
        server_.Ask(Method::kDelete, "/sessions/" + JsonRow::Parse(last).Text("sessionId"));
    made_ += ended.ok() ? 1 : 0;
  }

  void FillLeases() {
    for (const auto& [name, holder, ttl_ms] :
         {std::tuple("nightly-report", "web-1:811", kLeaseMs),
          std::tuple("db/migrate", "web-2:790", kLeaseMs),
          std::tuple("shard/1", "web-1:811", kLeaseMs),
          std::tuple("shard/2", "web-2:790", kLeaseMs), std::tuple("leader", "web-2:790", kLeaseMs),
          std::tuple("import", "batch-7:55", kLeaseMs), std::tuple("gone", "laptop:9", 1'000L)}) {
      const std::string term = NewId();
      const JsonRow grant = JsonRow::Parse(
          Post(fmt::format("/api/v1/leases/{}/acquire", cli::PercentEncoded(name)),
               fmt::format(R"({{"term":"{}","ttl_ms":{},"holder":"{}"}})", term, ttl_ms, holder)));
      if (std::string_view(name) == "import") {
        Post("/api/v1/leases/import/break",
             fmt::format(R"({{"reason":"batch-7 is gone","fence":{}}})", grant.Number("fence")));
      } else if (std::string_view(name) != "gone") {
        leases_.push_back({name, grant.Number("fence"), term});
      }
    }
  }

  void Enqueue(std::string_view topic, std::string_view payload, std::string_view more = "") {
    Post("/api/v1/messages",
         fmt::format(R"({{"topic":"{}","payload":{}{}}})", topic, payload, more));
  }

  /// Claims up to `most` and says what became of them: ack, fail, abandon.
  void Settle(std::string_view topic, std::string_view owner, int most, std::string_view what,
              std::string_view error = "") {
    const std::string claimed =
        Post("/api/v1/messages/claim",
             fmt::format(R"({{"topics":["{}"],"owner":"{}","max":{}}})", topic, owner, most));
    std::string claims;
    for (const std::string& item : JsonRow::Parse(claimed).Items("messages")) {
      const JsonRow message = JsonRow::Parse(item);
      claims += fmt::format(R"({}{{"id":"{}","fence":{}{}}})", claims.empty() ? "" : ",",
                            message.Text("id"), message.Number("fence"),
                            error.empty() ? "" : fmt::format(R"(,"error":"{}")", error));
    }
    if (!claims.empty())
      Post(fmt::format("/api/v1/messages/{}", what), fmt::format(R"({{"claims":[{}]}})", claims));
  }

  void FillMessages() {
    for (int i = 0; i < 8; ++i) Enqueue("welcome", fmt::format(R"({{"customer":{}}})", i));
    Settle("welcome", "mailer-1", 5, "fail", "550 mailbox unavailable");
    Settle("welcome", "mailer-2", 1, "fail", "template welcome is missing");
    for (int i = 0; i < 12; ++i) Enqueue("orders", fmt::format(R"({{"order":{}}})", i));
    for (int i = 0; i < 4; ++i) Enqueue("mail", fmt::format(R"({{"number":{}}})", i));
    for (int i = 0; i < 3; ++i) Enqueue("invoices", fmt::format(R"({{"number":{}}})", i));
    Enqueue("reminders", R"({"invoice":7})", R"(,"delay_ms":86400000)");
    Do(Method::kPatch, "/api/v1/topics/orders",
       R"({"paused":true,"reason":"the supplier is down"})");
  }

  void FillInbox() {
    const auto begin = [this](std::string_view id) {
      const JsonRow begun = JsonRow::Parse(Post(
          "/api/v1/inbox/begin", fmt::format(R"({{"source":"stripe","message_id":"{}"}})", id)));
      return begun.Number("fence");
    };
    Post("/api/v1/inbox/complete",
         fmt::format(R"({{"source":"stripe","message_id":"evt_1","fence":{}}})", begin("evt_1")));
    Post("/api/v1/inbox/fail",
         fmt::format(
             R"({{"source":"stripe","message_id":"evt_2","fence":{},"error":"no such order"}})",
             begin("evt_2")));
    begin("evt_3");
  }

  void FillSeats() {
    const JsonRow license =
        JsonRow::Parse(Post("/api/v1/licenses", R"({"seats":3,"name":"Editor","ttl_seconds":60})"));
    const std::string key = license.Text("license_key");
    for (int machine = 1; machine <= 4; ++machine) {
      const Answer seat = server_.Ask(
          Method::kPost, "/api/v1/licenses/acquire",
          fmt::format(R"({{"license_key":"{}","machine_id":"laptop-{}"}})", key, machine));
      if (!seat.ok()) continue;  // the fourth of three is refused, as it should be
      ++made_;
      seats_.push_back(JsonRow::Parse(seat.body).Text("session_id"));
    }
  }

  void FillJobs() {
    Do(Method::kPut, "/api/v1/jobs/nightly",
       R"({"topic":"reports","cron":"30 2 * * *","time_zone":"Europe/Berlin"})");
    Do(Method::kPut, "/api/v1/jobs/poll", R"({"topic":"polls","every":"10s"})");
  }

  cli::Server& server_;
  std::vector<Held> leases_;
  std::vector<std::string> seats_;
  std::size_t made_ = 0;
};

/// The first list that is not empty; nothing when all are.
std::optional<std::string> NotEmpty(cli::Server& server) {
  for (const std::string_view path : kLists) {
    const Answer answer = server.Ask(Method::kGet, fmt::format("{}?limit=1", path));
    if (!answer.ok())
      throw base::UserError(
          fmt::format("{} was answered {}: `tenure doctor` says why", path, answer.status));
    if (!JsonRow::Parse(answer.body).Items("items").empty()) return std::string(path);
  }
  return std::nullopt;
}

int RunDemo(const cli::Given& given, cli::Console& console) {
  cli::Server server(given);
  const cli::Server::Address address = server.address();
  const std::string without_tls = "http" + address.url.substr(address.url.find("://"));
  if (base::IsClearText(without_tls))
    throw cli::UsageError(
        fmt::format("{} is another machine: the example is for a server of this one", address.url));
  if (const auto path = NotEmpty(server)) {
    console.err << fmt::format(
        "tenure: {} has rows already, and the example is for an empty server: `tenure serve --data "
        "$(mktemp -d) --listen 127.0.0.1:8081` makes one. Nothing happened\n",
        *path);
    return cli::kExitConflict;
  }
  Demo demo(server);
  demo.Fill();
  cli::HeldSignals signals;
  console.out << fmt::format(
                     "{} requests made an example; look at {}/ui/, `tenure top`, `tenure "
                     "topic list`, `tenure why lease import`\n",
                     demo.made(), address.url)
              << std::flush;
  const std::int64_t rounds = cli::ToNumber(given.Or("--for", "120000")) / kRoundMs;
  if (rounds > 0)
    console.Note(fmt::format("It lives for {}; Ctrl-C ends it earlier. What it made stays.\n",
                             base::SpanText(rounds * kRoundMs)));
  for (std::int64_t round = 0; round < rounds; ++round) {
    pollfd ended{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    if (poll(&ended, 1, static_cast<int>(kRoundMs)) > 0) return 128 + signals.Take();
    demo.Live(static_cast<int>(round));
  }
  return cli::kExitDone;
}

constexpr std::string_view kDemoNotes =
    R"(Fills an empty server of this machine with leases, messages, dead letters, a paused topic, an inbox,
seats, jobs and sessions, some of them in trouble, and keeps them alive for two minutes. Exit code 4
when the server has rows already: nothing happens then.

Examples:
  tenure demo
  tenure demo --for 10m
)";

}  // namespace

cli::Command DemoCommand() {
  constexpr std::int64_t kDayMs = 86'400'000;
  return {.words = "demo",
          .summary = "Fill an empty server with a living example",
          .notes = std::string(kDemoNotes),
          .flags = cli::Flags{cli::Value("--for", "DURATION", "How long it lives [2m].",
                                         cli::Duration({0, kDayMs}))} +
                   cli::ActFlags(),
          .run = RunDemo,
          .part = cli::Part::kRun};
}

}  // namespace tenure::app
