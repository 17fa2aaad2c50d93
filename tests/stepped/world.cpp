#include "stepped/world.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::stepped {

World::World(const std::string& url, std::size_t processes, Callbacks callbacks, Odds odds)
    : observer_(PQconnectdb(url.c_str())),
      callbacks_(std::move(callbacks)),
      odds_(odds),
      standing_(processes, Standing::kFinished),
      paused_(processes, 0) {
  TENURE_CHECK(PQstatus(observer_.get()) == CONNECTION_OK, PQerrorMessage(observer_.get()));
  for (std::size_t i = 0; i < processes; ++i) steppers_.push_back(std::make_unique<Stepper>());
}

void World::Run(std::uint64_t seed) {
  trace_.clear();
  paused_.assign(paused_.size(), 0);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < steppers_.size(); ++i) GiveWork(i);
  while (true) {
    std::vector<std::size_t> ready;
    bool blocked = false;
    for (std::size_t i = 0; i < steppers_.size(); ++i) {
      if (standing_[i] == Standing::kReady) ready.push_back(i);
      blocked |= standing_[i] == Standing::kBlocked;
    }
    if (ready.empty()) {
      // Everybody waits for somebody: that is a deadlock, which PostgreSQL breaks after a second.
      if (!blocked) return;
      trace_ += "  deadlock\n";
    } else {
      StepOne(Choose(ready, random), random);
    }
    for (std::size_t i = 0; i < steppers_.size(); ++i)
      if (standing_[i] == Standing::kBlocked) Settle(i);
    callbacks_.between_steps();
  }
}

std::size_t World::Choose(const std::vector<std::size_t>& ready, std::mt19937_64& random) {
  if (odds_.pause_percent == 0) return ready[random() % ready.size()];
  std::vector<std::size_t> awake;
  for (const std::size_t index : ready)
    if (--paused_[index] < 0) awake.push_back(index);
  if (awake.empty()) return ready[random() % ready.size()];
  const std::size_t chosen = awake[random() % awake.size()];
  if (static_cast<int>(random() % 100) >= odds_.pause_percent || awake.size() == 1) return chosen;
  paused_[chosen] = 10 + static_cast<int>(random() % 30);
  trace_ += fmt::format("  {} pauses before {}\n", chosen, steppers_[chosen]->step());
  std::erase(awake, chosen);
  return awake[random() % awake.size()];
}

void World::StepOne(std::size_t index, std::mt19937_64& random) {
  Stepper& stepper = *steppers_[index];
  const std::string step = stepper.step();
  const auto percent = static_cast<int>(random() % 100);
  Stepper::Verdict verdict = Stepper::Verdict::kGo;
  if (percent < odds_.crash_percent)
    verdict = Stepper::Verdict::kCrash;
  else if (step == "committed" && percent < odds_.crash_percent + odds_.lost_reply_percent)
    verdict = Stepper::Verdict::kLoseReply;
  static constexpr const char* kVerdicts[] = {"", " crash", " lost reply"};
  trace_ += fmt::format("  {} {}{}\n", index, step, kVerdicts[static_cast<int>(verdict)]);
  stepper.Resume(verdict);
  Settle(index);
}

void World::GiveWork(std::size_t index) {
  auto work = callbacks_.next_work(index);
  if (!work) {
    standing_[index] = Standing::kFinished;
    return;
  }
  steppers_[index]->Begin(std::move(work));
  Settle(index);
}

void World::Settle(std::size_t index) {
  Stepper& stepper = *steppers_[index];
  while (!stepper.WaitStopped()) {
    if (!IsBlocked(index)) continue;
    standing_[index] = Standing::kBlocked;
    return;
  }
  switch (stepper.state()) {
    case Stepper::State::kAtStep:
      standing_[index] = Standing::kReady;
      return;
    case Stepper::State::kCrashed:
      stepper.Rest();
      callbacks_.restart(index);
      GiveWork(index);
      return;
    default:
      stepper.Rest();
      GiveWork(index);
  }
}

bool World::IsBlocked(std::size_t index) {
  return Number("select (cardinality(pg_blocking_pids($1::int)) > 0)::int",
                {std::to_string(callbacks_.backend_pid(index))}) == 1;
}

std::int64_t World::Number(const std::string& sql, const std::vector<std::string>& params) {
  std::vector<const char*> values;
  for (const std::string& param : params) values.push_back(param.c_str());
  PGresult* result = PQexecParams(observer_.get(), sql.c_str(), static_cast<int>(values.size()),
                                  nullptr, values.data(), nullptr, nullptr, 0);
  TENURE_CHECK(PQntuples(result) == 1, PQerrorMessage(observer_.get()));
  const std::int64_t number = std::stoll(PQgetvalue(result, 0, 0));
  PQclear(result);
  return number;
}

}  // namespace tenure::stepped
