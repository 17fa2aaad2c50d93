#include "sim/job_book.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tenure::sim {
namespace {

constexpr std::int64_t kLateMs = 10'000;
constexpr std::int64_t kHalfDayMs = 12 * 3'600'000;
constexpr std::int64_t kSixMs = 6 * 3'600'000;
constexpr std::int64_t kForEverMs = std::int64_t{1} << 60;

const std::string& Word(const std::string& number, const std::vector<std::string>& words) {
  return words.at(static_cast<std::size_t>(std::stoll(number)));
}

/// The first time of the schedule at or after `from_ms`, whatever `since` says.
std::optional<std::int64_t> NextNamed(const JobRecord& job, std::int64_t from_ms,
                                      std::int64_t zone_ms) {
  const bool starts = job.starts_ms > 0;
  std::int64_t at_ms = 0;
  if (job.every_ms > 0) {
    const std::int64_t anchor_ms = starts ? job.starts_ms : job.created_ms;
    at_ms = starts ? anchor_ms : anchor_ms + job.every_ms;
    if (from_ms > at_ms)
      at_ms += (from_ms - at_ms + job.every_ms - 1) / job.every_ms * job.every_ms;
  } else {
    from_ms = std::max(from_ms, job.starts_ms);
    at_ms = (from_ms + zone_ms) / kHalfDayMs * kHalfDayMs + kSixMs - zone_ms;
    while (at_ms < from_ms) at_ms += kHalfDayMs;
  }
  if (job.ends_ms > 0 && at_ms >= job.ends_ms) return std::nullopt;
  return at_ms;
}

std::vector<std::int64_t> Named(const JobRecord& job, std::int64_t from_ms, std::int64_t to_ms,
                                std::int64_t zone_ms) {
  std::vector<std::int64_t> times;
  for (auto at = NextNamed(job, from_ms, zone_ms); at && *at < to_ms;
       at = NextNamed(job, *at + 1, zone_ms))
    times.push_back(*at);
  return times;
}

bool HasRun(const RunRecord& run) { return run.kind != "trigger" && run.state != "skipped"; }
bool IsOpen(const RunRecord& run) { return run.state == "live" || run.state == "waiting"; }

}  // namespace

JobPicture ReadJobs(store::Tables& tables) {
  const auto number = [](const std::string& text) { return std::stoll(text); };
  JobPicture picture;
  for (const auto& row : tables.Ask(
           "select " + tables.Id("id") +
           ", name, every_ms, enabled, missed, overlap, missed_window_ms, missed_cap, starts_ms, "
           "ends_ms, jitter_ms, created_ms, since_ms, next_ms, look_ms, paused_ms, "
           "paused_until_ms, revision from jobs")) {
    JobRecord& job = picture.jobs[row[0]];
    job.name = row[1];
    job.every_ms = number(row[2]);
    job.enabled = row[3] == "1";
    job.missed = Word(row[4], {"once", "skip", "all"});
    job.overlap = Word(row[5], {"skip", "allow", "queue_one"});
    std::int64_t JobRecord::*const rest[] = {&JobRecord::window_ms,       &JobRecord::cap,
                                             &JobRecord::starts_ms,       &JobRecord::ends_ms,
                                             &JobRecord::jitter_ms,       &JobRecord::created_ms,
                                             &JobRecord::since_ms,        &JobRecord::next_ms,
                                             &JobRecord::look_ms,         &JobRecord::paused_ms,
                                             &JobRecord::paused_until_ms, &JobRecord::revision};
    for (std::size_t i = 0; i < std::size(rest); ++i) job.*rest[i] = number(row[6 + i]);
  }
  for (const auto& row :
       tables.Ask("select " + tables.Id("id") + ", " + tables.Id("job_id") +
                  ", nominal_ms, kind, state, reason, first_ms, number from job_runs"))
    picture.runs[row[0]] = {row[1],
                            number(row[2]),
                            Word(row[3], {"schedule", "trigger", "backfill"}),
                            Word(row[4], {"live", "waiting", "done", "dead", "skipped"}),
                            Word(row[5], {"", "overlap", "missed"}),
                            number(row[6]),
                            number(row[7])};
  for (const auto& row :
       tables.Ask("select " + tables.Id("id") + ", pos, lease_until_ms from messages"))
    picture.messages[row[0]] = row[2] != "0" ? "claimed" : row[1] != "0" ? "ready" : "waits";
  for (const auto& row :
       tables.Ask("select " + tables.Id("id") + " from dead_letters where redriven_ms = 0"))
    picture.dead.insert(row[0]);
  return picture;
}

void JobBook::Committed(JobPicture after, const JobCommit& commit) {
  for (const auto& [id, before] : picture_.jobs)
    if (const auto found = after.jobs.find(id); found != after.jobs.end())
      CheckJob(id, before, found->second, after, commit);
  for (const auto& [id, job] : after.jobs)
    if (!picture_.jobs.contains(id)) CheckNext(job, DelayOf(id, job), commit);
  CheckRuns(after);
  CheckRemoved(after);
  picture_ = std::move(after);
}

/// All runs of a job are late by one and the same time, at most its jitter.
std::int64_t JobBook::DelayOf(const std::string& id, const JobRecord& job) {
  if (job.jitter_ms == 0) return 0;
  if (job.paused_ms > 0 || job.next_ms == 0) return delays_[id];
  const std::int64_t delay_ms = job.look_ms - job.next_ms;
  const auto [known, is_new] = delays_.try_emplace(id, delay_ms);
  if (delay_ms < 0 || delay_ms > job.jitter_ms || known->second != delay_ms)
    report_(fmt::format("{} fires {} ms late on purpose", job.name, delay_ms));
  return delay_ms;
}

/// What a fire of this commit found; a run that waited for nothing any more was let go before it.
JobBook::Beginning JobBook::BeginningOf(const std::string& id, const JobPicture& after) const {
  Beginning at;
  for (const auto& [run_id, run] : picture_.runs) {
    if (run.job != id) continue;
    if (HasRun(run)) at.had.insert(run.nominal_ms);
    if (!IsOpen(run)) continue;
    const auto now = after.runs.find(run_id);
    const bool waits =
        run.state == "waiting" && now != after.runs.end() && now->second.state == "waiting";
    (waits ? at.waiting : at.live) = true;
  }
  return at;
}

std::multiset<JobBook::Written> JobBook::Wanted(const JobRecord& job, const JobRecord& policies,
                                                Beginning at, std::int64_t pause_end_ms,
                                                std::int64_t delay_ms,
                                                const JobCommit& commit) const {
  std::multiset<Written> wanted;
  if (job.next_ms == 0 || !job.enabled) return wanted;
  std::vector<std::int64_t> missed, fire;
  for (const std::int64_t time_ms : Named(job, std::max(job.next_ms, job.since_ms),
                                          commit.now_ms - delay_ms + 1, commit.zone_ms)) {
    const std::int64_t fires_ms = time_ms + delay_ms;
    (commit.now_ms - fires_ms > kLateMs || fires_ms < pause_end_ms ? missed : fire)
        .push_back(time_ms);
  }
  auto kept = missed.end();
  if (policies.missed == "once" && !missed.empty()) kept = missed.end() - 1;
  if (policies.missed == "all") {
    kept = std::ranges::find_if(missed, [&](std::int64_t time_ms) {
      return time_ms >= commit.now_ms - delay_ms - policies.window_ms;
    });
    kept =
        std::max(kept, missed.end() - std::min<std::ptrdiff_t>(policies.cap, std::ssize(missed)));
  }
  const auto number = std::count_if(
      missed.begin(), kept, [&](std::int64_t time_ms) { return !at.had.contains(time_ms); });
  if (number > 0) wanted.insert({*(kept - 1), "skipped", "missed", missed.front(), number});
  fire.insert(fire.begin(), kept, missed.end());
  for (const std::int64_t time_ms : fire) {
    if (at.had.contains(time_ms)) continue;
    if (policies.overlap == "allow" || !(at.live || at.waiting)) {
      wanted.insert({time_ms, "live", "", 0, 0});
      at.live = true;
    } else if (policies.overlap == "queue_one" && !at.waiting) {
      wanted.insert({time_ms, "waiting", "", 0, 0});
      at.waiting = true;
    } else {
      wanted.insert({time_ms, "skipped", "overlap", time_ms, 1});
    }
  }
  return wanted;
}

void JobBook::CheckJob(const std::string& id, const JobRecord& before, const JobRecord& after,
                       const JobPicture& picture, const JobCommit& commit) {
  const std::int64_t delay_ms = DelayOf(id, before);
  std::multiset<Written> written;
  bool has_others = false;
  for (const auto& [run_id, run] : picture.runs) {
    if (run.job != id || picture_.runs.contains(run_id)) continue;
    if (run.kind == "schedule")
      written.insert({run.nominal_ms, run.state, run.reason, run.first_ms, run.number});
    else
      has_others = true;
  }
  runs_ += std::ssize(written);
  for (const Written& each : written) {
    if (std::get<2>(each) == "overlap") ++left_out_;
    if (std::get<2>(each) == "missed") missed_ += std::get<4>(each);
    if (std::get<1>(each) == "waiting") ++waited_;
  }
  const bool is_looked_at = commit.fires && before.look_ms > 0 && before.look_ms <= commit.now_ms;
  if (!is_looked_at && written.empty() && !has_others && before == after) return;
  if (commit.fires && !is_looked_at)
    return report_(fmt::format("M3: {} was not due, and a fire has touched it", after.name));

  const bool has_ended =
      before.paused_ms > 0 && before.paused_until_ms > 0 && before.paused_until_ms <= commit.now_ms;
  const bool is_resumed = before.paused_ms > 0 && !has_ended && after.paused_ms != before.paused_ms;
  std::vector<std::multiset<Written>> allowed;
  const Beginning at = BeginningOf(id, picture);
  if (before.paused_ms == 0 || has_ended) {
    allowed.push_back(
        Wanted(before, before, at, has_ended ? before.paused_until_ms : 0, delay_ms, commit));
  } else if (is_resumed) {
    // What is said in one batch with it may come before or after.
    allowed.push_back(Wanted(before, before, at, commit.now_ms, delay_ms, commit));
    allowed.push_back(Wanted(before, after, at, commit.now_ms, delay_ms, commit));
    Beginning triggered = at;
    triggered.live |= has_others;
    for (const auto& [run_id, run] : picture.runs)
      if (run.job == id && run.kind == "backfill") triggered.had.insert(run.nominal_ms);
    allowed.push_back(Wanted(before, after, triggered, commit.now_ms, delay_ms, commit));
    // Another schedule, or none, in the pause: its times are forgotten.
    if (after.since_ms != before.since_ms) allowed.emplace_back();
  } else {
    allowed.emplace_back();
  }
  if (std::ranges::find(allowed, written) == allowed.end()) {
    std::string all;
    for (const auto* rows : {&allowed.front(), &written}) {
      all += rows == &written ? "; there are" : "wanted are";
      for (const auto& [nominal, state, reason, first, number] : *rows)
        all += fmt::format(
            " {}{}{}{}", nominal - before.created_ms, state, reason.empty() ? "" : "/" + reason,
            number > 0 ? fmt::format(" {} from {}", number, first - before.created_ms) : "");
    }
    report_(fmt::format("M3: the runs of {} are not those of its policies: {}", after.name, all));
  }
  const bool is_decided = before.next_ms == after.next_ms && before.since_ms == after.since_ms &&
                          before.enabled == after.enabled &&
                          after.next_ms + delay_ms > commit.now_ms;
  if ((after.paused_ms == 0 || before.paused_ms == 0) && !is_decided)
    CheckNext(after, delay_ms, commit);
}

/// (b)
void JobBook::CheckNext(const JobRecord& job, std::int64_t delay_ms,
                        const JobCommit& commit) const {
  std::optional<std::int64_t> wanted;
  if (job.enabled)
    wanted = NextNamed(job, std::max(job.since_ms, commit.now_ms - delay_ms + 1), commit.zone_ms);
  // One whose first time is the instant of its making.
  if (job.enabled && job.since_ms == commit.now_ms && job.revision == 1)
    wanted = NextNamed(job, commit.now_ms, commit.zone_ms);
  if (wanted.value_or(0) != job.next_ms)
    report_(fmt::format("M3: the next time of {} is {} ms from now and not {}", job.name,
                        job.next_ms == 0 ? 0 : job.next_ms - commit.now_ms,
                        wanted ? *wanted - commit.now_ms : 0));
}

/// (c)
void JobBook::CheckRuns(const JobPicture& after) {
  std::set<std::pair<std::string, std::int64_t>> had;
  std::map<std::string, int> live, waiting;
  for (const auto& [id, run] : after.runs) {
    if (HasRun(run) && !had.emplace(run.job, run.nominal_ms).second)
      report_("M3: a nominal time has two runs");
    const auto message = after.messages.find(id);
    const bool has_message = message != after.messages.end();
    if (IsOpen(run) != has_message)
      report_(
          fmt::format("M3: a run that is {} has {} message", run.state, has_message ? "a" : "no"));
    if (run.state == "waiting" && has_message && message->second != "waits")
      report_("a run that waits can be claimed");
    if (run.state == "live") ++live[run.job];
    if (run.state == "waiting" && ++waiting[run.job] > 1) report_("two runs of a job wait");
    if (after.dead.contains(id) && run.state != "dead") report_("a dead run is not called so");
  }
  for (const auto& [id, message] : after.messages)
    if (!after.runs.contains(id)) report_("M3: a message is of no run");
  for (const auto& [id, before] : picture_.runs) {
    const auto now = after.runs.find(id);
    if (before.state != "waiting" || now == after.runs.end() || now->second.state != "live")
      continue;
    // Of those that were there: others may have been written since.
    for (const auto& [other_id, other] : after.runs)
      if (other_id != id && other.job == before.job && other.state == "live" &&
          picture_.runs.contains(other_id))
        report_("a run that waited is ready beside another one");
  }
}

/// (d)
void JobBook::CheckRemoved(const JobPicture& after) const {
  for (const auto& [id, job] : picture_.jobs) {
    if (after.jobs.contains(id)) continue;
    for (const auto& [run_id, run] : after.runs) {
      if (run.job != id || !IsOpen(run)) continue;
      const auto message = after.messages.find(run_id);
      if (message == after.messages.end() || message->second != "claimed")
        report_("a run is left of a job that was removed, and nobody has it");
    }
  }
}

void JobBook::Backfilled(const std::string& name, std::int64_t from_ms, std::int64_t to_ms) {
  for (const auto& [id, job] : picture_.jobs) {
    if (job.name != name || job.every_ms == 0) continue;
    std::set<std::int64_t> had;
    for (const auto& [run_id, run] : picture_.runs)
      if (run.job == id && HasRun(run)) had.insert(run.nominal_ms);
    for (const std::int64_t time_ms : Named(job, from_ms, to_ms, 0))
      if (!had.contains(time_ms)) report_("a time of a backfill has no run");
  }
}

bool JobBook::has_open() const {
  return std::ranges::any_of(picture_.runs, [](const auto& each) { return IsOpen(each.second); });
}

void JobBook::AtRest(const JobCommit& now) {
  for (const auto& [id, job] : picture_.jobs) {
    if (job.look_ms > 0 && job.look_ms <= now.now_ms)
      report_(fmt::format("M3: {} is due, and nobody fires it", job.name));
    CheckNext(job, DelayOf(id, job), now);
  }
  for (const auto& [id, run] : picture_.runs)
    if (IsOpen(run)) report_(fmt::format("M1: a run is {} for ever", run.state));
}

}  // namespace tenure::sim
