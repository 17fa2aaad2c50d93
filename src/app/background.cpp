#include "app/background.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace tenure::app {

Background::~Background() { Stop(); }

void Background::Add(std::string name, std::int64_t interval_ms, Job job) {
  Entry entry;
  entry.report.name = std::move(name);
  entry.interval_ms = interval_ms;
  entry.job = std::move(job);
  entries_.push_back(std::move(entry));
}

void Background::Start() {
  const std::int64_t now_ms = base::SystemClock().BootMs();
  for (Entry& entry : entries_) entry.due_boot_ms = now_ms + entry.interval_ms;
  thread_ = std::thread([this] { Loop(); });
}

void Background::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::Loop() {
  if (entries_.empty()) return;
  while (!stopping_) {
    auto next = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.due_boot_ms < b.due_boot_ms; });
    const std::int64_t wait_ms = next->due_boot_ms - base::SystemClock().BootMs();
    if (wait_ms > 0) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return stopping_.load(); });
      continue;
    }
    Run(*next);
    next->due_boot_ms = base::SystemClock().BootMs() + next->interval_ms;
  }
}

void Background::Run(Entry& entry) {
  std::string error;
  try {
    entry.job(stopping_);
  } catch (const base::Fault& fault) {
    error = fault.what();
    base::LogWarn("background.failed", "a background job failed; it runs again after its interval",
                  {{"job", entry.report.name}, {"detail", error}});
  }
  const std::lock_guard lock(mutex_);
  ++entry.report.runs;
  entry.report.last_run_wall_ms = base::SystemClock().WallMs();
  entry.report.last_error = error;
}

std::vector<JobReport> Background::Reports() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobReport> reports;
  for (const Entry& entry : entries_) reports.push_back(entry.report);
  return reports;
}

}  // namespace tenure::app
