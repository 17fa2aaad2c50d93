#include "seats/capability.hpp"

#include <functional>
#include <future>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/log.hpp"
#include "explain/explanation.hpp"
#include "seats/keys.hpp"
#include "seats/redis/redis_path.hpp"
#include "seats/redis/redis_routes.hpp"
#include "seats/routes.hpp"
#include "seats/seats.hpp"
#include "seats_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::seats {
namespace {

using server::TaskRun;

constexpr std::int64_t kSweepIntervalMs = 60'000;
constexpr std::int64_t kDenialIntervalMs = 60'000;
constexpr std::int64_t kLevelIntervalMs = 5'000;
/// A licence with more to do than that is left to the next run.
constexpr int kMaxRounds = 1'000;

RateSettings RatesOf(const config::RateLimitSettings& settings) {
  if (!settings.enabled) return {};
  return {settings.seats_acquire, settings.seats_heartbeat, settings.seats_bulk,
          settings.seats_misses};
}

RedisRules RulesOf(const config::SeatRedisSettings& settings) {
  return {.authority_ms = settings.authority_ms,
          .horizon_ms = settings.horizon_ms,
          .margin_ms = settings.margin_ms,
          .tolerance_ms = settings.clock_tolerance_ms};
}

/// What of these settings fits together only here.
void Check(const config::Settings& settings, config::Problems& problems) {
  const config::SeatRedisSettings& redis = settings.seats.redis;
  if (redis.url.empty()) return;
  const auto refuse = [&](const char* name, std::string why) {
    problems.push_back({name, std::move(why)});
  };
  try {
    client::ParseRedisUrl(redis.url, {});
  } catch (const std::invalid_argument& error) {
    refuse("seats.redis.url", error.what());
  }
  if (settings.store.url.empty())
    refuse("seats.redis.url",
           "the embedded store has one process, which gains nothing by a Redis: leave it empty, or "
           "give store.url");
  if (redis.horizon_ms < 4 * settings.seats.ttl_ms)
    refuse("seats.redis.horizon", "must be at least four times seats.ttl");
  if (redis.margin_ms < 2 * redis.clock_tolerance_ms)
    refuse("seats.redis.margin", "must be at least twice seats.redis.clock_tolerance");
}

struct Process {
  explicit Process(const server::Parts& parts)
      : options{.ttl_ms = parts.settings.seats.ttl_ms,
                .key_prefix = parts.settings.seats.key_prefix,
                .contact_support = parts.settings.seats.contact_support},
        guards(RatesOf(parts.settings.rate_limits), parts.clock, parts.metrics),
        seats(parts.store, parts.wake, parts.process,
              {.offer_ms = parts.settings.seats.offer_ms,
               .ticket_ms = parts.settings.seats.ticket_ttl_ms,
               .line_max = parts.settings.seats.line_max},
              parts.clock, parts.metrics) {
    const config::SeatRedisSettings& redis = parts.settings.seats.redis;
    if (redis.url.empty()) return;
    path.emplace(seats, client::ParseRedisUrl(redis.url, {}),
                 RedisPath::Options{.round = {.rules = RulesOf(redis),
                                              .timeout_ms = redis.timeout_ms,
                                              .batch = static_cast<std::size_t>(redis.batch),
                                              .process = parts.process}},
                 parts.clock, parts.metrics);
    seats.GoBy(*path);
  }
  RedisRound* round() { return path ? &path->round() : nullptr; }

  const RouteOptions options;
  RateGuards guards;
  Seats seats;
  std::optional<RedisPath> path;  ///< nothing: the store alone
};

/// Settles licences, all of them at once so that they share transactions; returns those that have more
/// to do.
std::vector<base::Uuid> SweepThese(Seats& seats, const TaskRun& run,
                                   const std::vector<base::Uuid>& licenses) {
  using Answer = db::Result<SweepOutcome>;
  std::vector<std::future<Answer>> answers;
  for (const base::Uuid& license : licenses) {
    const auto promise = std::make_shared<std::promise<Answer>>();
    answers.push_back(promise->get_future());
    seats.Settle<SweepOutcome>(SweepCommand{license}, run.caller,
                               [promise](Answer answer) { promise->set_value(std::move(answer)); });
  }
  std::vector<base::Uuid> more;
  std::optional<base::Fault> fault;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer answer = answers[i].get();
    if (!answer.ok())
      fault = answer.fault();
    else if (answer.value().more)
      more.push_back(licenses[i]);
  }
  if (fault) throw *fault;
  return more;
}

void CheckStop(const TaskRun& run) {
  if (run.stop.stop_requested())
    throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
}

/// Gives on the seats of the dead that only a Redis keeps, and writes that they have lapsed.
void SweepRedis(Seats& seats, const TaskRun& run) {
  base::Uuid after;
  while (true) {
    CheckStop(run);
    const KeptReply page = server::Await(seats.FindKeptLicenses, {after});
    std::vector<std::future<GivenOn>> answers;
    for (const base::Uuid& license : page.licenses) {
      const auto promise = std::make_shared<std::promise<GivenOn>>();
      answers.push_back(promise->get_future());
      seats.path()->GiveOn(license, [promise](GivenOn given) { promise->set_value(given); });
    }
    try {
      for (auto& answer : answers) answer.get();
    } catch (const std::future_error&) {  // the path has been stopped
      throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
    }
    if (page.licenses.empty()) break;
    after = page.licenses.back();
  }
}

/// Writes what has lapsed, gives on offers that ran out, deletes rows that are too many, removes dead
/// tickets.
void Sweep(Seats& seats, const TaskRun& run) {
  base::Uuid after;
  while (true) {
    CheckStop(run);
    const DueReply due = server::Await(seats.FindDueLicenses, {after});
    std::vector<base::Uuid> left = due.licenses;
    for (int round = 0; !left.empty() && round < kMaxRounds; ++round) {
      CheckStop(run);
      left = SweepThese(seats, run, left);
    }
    if (due.licenses.empty()) break;
    after = due.licenses.back();
  }
  server::SweepAll(run, seats.ForgetSomeTickets, {},
                   {"seats.tickets", "removed tickets that nobody refreshed", "tickets"});
  if (seats.path()) SweepRedis(seats, run);
  const OldestLook oldest = server::Await(seats.OldestDeadline);
  seats.probe().Swept(oldest.now_ms, oldest.look_ms.value_or(0));
}

/// Writes checkpoints, and removes what lies before those that are older than the retention.
void ForgetLogs(Seats& seats, std::int64_t retention_ms, const TaskRun& run) {
  base::Uuid after;
  std::int64_t forgotten = 0;
  while (true) {
    CheckStop(run);
    const LogEndsReply page = server::Await(seats.FindEndsOfLogs, {after, retention_ms});
    for (const LogEnd& end : page.ends) {
      CheckStop(run);
      const std::int64_t last_ms = end.checkpoint_ms.value_or(end.base_ms);
      if (last_ms < page.now_ms - CheckpointIntervalMs(retention_ms))
        server::Await<SweepOutcome>([&](auto done) {
          seats.Settle<SweepOutcome>(CheckpointCommand{end.license, 0}, run.caller,
                                     std::move(done));
        });
      if (!end.old_checkpoint) continue;
      forgotten += server::RunToTheEnd<db::Swept>(run, [&](auto done) {
        seats.ForgetSomeLog({end.license, *end.old_checkpoint}, run.caller, std::move(done));
      });
    }
    if (page.ends.empty()) break;
    after = page.ends.back().license;
  }
  if (forgotten > 0)
    base::LogInfo("seats.forgotten", "removed entries of licences' logs after their retention",
                  {{"entries", forgotten}});
}

void WriteHealth(base::JsonWriter& json, Seats& seats) {
  json.Key("seats").BeginObject();
  json.Key("last_sweep").TimeOrNull(seats.probe().last_sweep_ms());
  const std::int64_t oldest_ms = seats.probe().oldest_look_ms();
  json.Key("oldest_look").TimeOrNull(oldest_ms == kNever ? 0 : oldest_ms);
  json.EndObject();
}

/// Which licences are full is their organisations' business: only how many are is told.
explain::Glance GlanceOf(const std::vector<Level>& levels) {
  std::int64_t used = 0, total = 0, full = 0;
  for (const Level& level : levels) {
    used += level.used;
    total += level.total;
    if (level.total > 0 && level.used * 10 > level.total * 9) ++full;
  }
  explain::Glance glance{.figures = {{"used", used}, {"total", total}}};
  if (full > 0)
    glance.concerns.push_back(
        {.name = "LicenseSeatsNearlyFull",
         .sentence = fmt::format("{} more than 90 % of the seats in use.",
                                 explain::Counted(full, "One licence has", "licences have")),
         .link = "/licenses",
         .command = "tenure license list"});
  return glance;
}

void FindLicenseOf(Seats& seats, const server::Search& search, base::Caller caller,
                   server::Finder::Done done) {
  if (!search.id) return done(server::FoundList());
  seats.FindLicense(
      {search.tenant, *search.id}, std::move(caller),
      server::Finding(std::move(done), [](const FindLicenseReply& reply) {
        server::FoundList found;
        if (const auto& view = reply.license)
          found.push_back({"license", view->license.id.ToString(), view->license.name,
                           std::string(ToText(view->license.StandingAt(view->now_ms)))});
        return found;
      }));
}

void FindSeat(Seats& seats, const server::Search& search, base::Caller caller,
              server::Finder::Done done) {
  if (!search.id) return done(server::FoundList());
  seats.FindHolding(
      {search.tenant, *search.id}, std::move(caller),
      server::Finding(std::move(done), [id = *search.id](const FindHoldingReply& reply) {
        server::FoundList found;
        if (const auto& holding = reply.holding)
          found.push_back({"seat", id.ToString(), holding->row.machine.value_or(""),
                           std::string(StateOf(*holding))});
        return found;
      }));
}

server::Running Run(const server::Parts& parts, const server::Others&) {
  if (!IsKeyPrefix(parts.settings.seats.key_prefix))
    throw base::UserError("seats.key_prefix must be 1 to 20 of A-Z 0-9");
  const auto process = std::make_shared<Process>(parts);
  Seats& seats = process->seats;
  server::Running running;
  running.object = {process, &seats};
  running.type = typeid(Seats);
  const RedisRules rules = RulesOf(parts.settings.seats.redis);
  running.add_routes = [process, rules](http::Router& router) {
    const RouteParts routes{process->seats, process->guards, process->options};
    AddUseRoutes(router, routes);
    AddOrganizationRoutes(router, routes);
    AddLicenseRoutes(router, routes);
    AddSeatRoutes(router, routes);
    AddWhyRoutes(router, routes);
    AddRedisRoutes(router, {process->seats, process->round(), rules});
  };
  running.tasks = {
      {"seats.sweep", kSweepIntervalMs, [&seats](const TaskRun& run) { Sweep(seats, run); }}};
  if (const std::int64_t retention_ms = parts.settings.audit.retention_ms; retention_ms > 0)
    running.tasks.push_back(
        {"seats.retention", std::min(retention_ms, server::kRetentionIntervalMs),
         [&seats, retention_ms](const TaskRun& run) { ForgetLogs(seats, retention_ms, run); }});
  const auto latest = std::make_shared<explain::Latest>();
  running.finders = {{"licenses:read", std::bind_front(FindLicenseOf, std::ref(seats))},
                     {"licenses:read", std::bind_front(FindSeat, std::ref(seats))}};
  running.glance = [latest] { return latest->Get(); };
  running.jobs = {
      {"gauges.seats", kLevelIntervalMs,
       [&seats, latest, most = std::int64_t{parts.settings.seats.metrics_max}](const auto&) {
         const LevelsReply reply = server::Await(seats.Levels, {most});
         seats.probe().Levels(reply.levels);
         latest->Set(GlanceOf(reply.levels));
       }},
      {"seats.denials", kDenialIntervalMs, [&seats](const auto&) { seats.FlushDenials(); }}};
  running.write_health = [&seats, process](base::JsonWriter& json) {
    WriteHealth(json, seats);
    if (process->path) WriteRedisHealth(json, process->round()->standing());
  };
  running.stop_waiting = [&seats] { seats.StopWaiting(); };
  running.start = [process] {
    if (process->path) process->path->Start();
  };
  running.stop = [&seats, process] {
    seats.FlushDenials();
    if (process->path) process->path->Stop();
  };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "seats",
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::licenses,
          .commands = Commands,
          .run = Run,
          .check = Check};
}

}  // namespace tenure::seats
