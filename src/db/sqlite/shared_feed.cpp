#include "db/sqlite/shared_feed.hpp"

#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace tenure::db::sqlite {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

}  // namespace

SharedFeed::SharedFeed(std::string path, FeedEvents events)
    : path_(std::move(path)), events_(std::move(events)) {}

SharedFeed::~SharedFeed() { Stop(); }

void SharedFeed::Start() {
  TENURE_CHECK(!thread_.joinable(), "a feed is started once");
  thread_ = std::thread([this] { Loop(); });
}

void SharedFeed::Stop() {
  if (!thread_.joinable()) return;
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  thread_.join();
}

void SharedFeed::SetInterested(bool interested) {
  const base::Lock lock(mutex_);
  if (interested_ == interested) return;
  interested_ = interested;
  changed_.notify_one();
}

bool SharedFeed::WaitForNextLook() {
  base::Lock lock(mutex_);
  if (interested_)
    changed_.wait_for(lock.native(), kBetweenLooks, [&] {
      mutex_.AssertHeld();
      return stopping_;
    });
  if (!interested_) {
    // What is committed from here on is not looked at.
    listening_ = false;
    seen_.reset();
    changed_.wait(lock.native(), [&] {
      mutex_.AssertHeld();
      return stopping_ || interested_;
    });
  }
  return !stopping_;
}

void SharedFeed::Loop() {
  while (WaitForNextLook()) {
    const auto version = ReadVersion();
    const bool news = version && version != seen_;
    seen_ = version;
    listening_ = version.has_value();
    if (news) events_.on_gap();
  }
  listening_ = false;
}

std::optional<std::int64_t> SharedFeed::ReadVersion() {
  try {
    // The versions of two connections have nothing to do with each other.
    if (database_ && HasMoved(*database_)) {
      statement_.reset();
      database_.reset();
      seen_.reset();
    }
    if (!database_) {
      database_ = OpenDatabase(path_, Access::kRead, Sharing::kShared);
      std::string_view text = "PRAGMA data_version";
      statement_ = Prepare(*database_, text);
    }
    if (sqlite3_step(statement_.get()) != SQLITE_ROW) ThrowError(*database_, "data_version");
    const std::int64_t version = sqlite3_column_int64(statement_.get(), 0);
    sqlite3_reset(statement_.get());
    return version;
  } catch (const base::Fault& fault) {
    if (listening_) base::LogWarn("store.feed", fault.what());
    statement_.reset();
    database_.reset();
    return std::nullopt;
  }
}

}  // namespace tenure::db::sqlite
