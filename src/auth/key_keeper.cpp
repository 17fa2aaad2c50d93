#include "auth/key_keeper.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "auth/key_text.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"

namespace tenure::auth {
namespace {

constexpr std::int64_t kRequestTimeoutMs = 10'000;

}  // namespace

KeyKeeper::KeyKeeper(Local local, std::string jwks_url, const base::Clock& clock, Probe& probe)
    : jwks_url_(std::move(jwks_url)), clock_(clock), probe_(probe), local_(std::move(local)) {
  if (!jwks_url_.empty()) {
    http::Url url = http::SplitUrl(jwks_url_);
    path_ = std::move(url.path);
    client_.emplace(http::ClientOptions{.base_url = std::move(url.base),
                                        .timeout_ms = kRequestTimeoutMs,
                                        .max_body_bytes = kMaxKeyTextBytes});
  }
  from_files_ = Read(local_);
  files_read_boot_ms_ = clock_.BootMs();
  Publish();
}

KeyKeeper::~KeyKeeper() { Stop(); }

void KeyKeeper::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void KeyKeeper::Stop() {
  if (!thread_.joinable()) return;
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (client_) client_->Cancel();
  thread_.join();
}

std::shared_ptr<const KeySet> KeyKeeper::keys() const {
  const base::Lock lock(mutex_);
  return published_;
}

bool KeyKeeper::IsBlind() const {
  const base::Lock lock(mutex_);
  return blind_;
}

/// Only the first since the last fetch wakes the thread: strangers cannot keep it busy.
void KeyKeeper::Miss() {
  const base::Lock lock(mutex_);
  if (!client_ || missed_) return;
  missed_ = true;
  woken_ = true;
  changed_.notify_all();
}

void KeyKeeper::Use(Local local) {
  const base::Lock lock(mutex_);
  wanted_ = std::move(local);
  woken_ = true;
  changed_.notify_all();
}

/// The clock decides what is due; the wait only has to end in time.
void KeyKeeper::Loop() {
  pthread_setname_np(pthread_self(), "auth-keys");
  base::Lock lock(mutex_);
  while (!stopping_) {
    woken_ = false;
    lock.unlock();
    Step();
    const std::int64_t pause_ms = std::max<std::int64_t>(NextDueBootMs() - clock_.BootMs(), 1);
    lock.lock();
    changed_.wait_for(lock.native(), std::chrono::milliseconds(pause_ms), [&] {
      mutex_.AssertHeld();
      return stopping_ || woken_;
    });
  }
}

void KeyKeeper::Step() {
  std::optional<Local> wanted;
  {
    const base::Lock lock(mutex_);
    wanted = std::exchange(wanted_, std::nullopt);
  }
  if (wanted)
    RefreshLocal(*std::move(wanted));
  else if (clock_.BootMs() - files_read_boot_ms_ >= kFilesMs)
    RefreshLocal(local_);
  if (client_ && FetchIsDue()) Fetch();
}

bool KeyKeeper::IsMissed() const {
  const base::Lock lock(mutex_);
  return missed_;
}

bool KeyKeeper::FetchIsDue() const {
  if (!asked_boot_ms_) return true;
  const std::int64_t since_ms = clock_.BootMs() - *asked_boot_ms_;
  const bool failing = answered_boot_ms_ != asked_boot_ms_;
  return since_ms >= kRefreshMs || (since_ms >= kPauseMs && (failing || IsMissed()));
}

std::int64_t KeyKeeper::NextDueBootMs() const {
  const std::int64_t files_ms = files_read_boot_ms_ + kFilesMs;
  if (!client_ || !asked_boot_ms_) return files_ms;
  const bool soon = answered_boot_ms_ != asked_boot_ms_ || IsMissed();
  return std::min(files_ms, *asked_boot_ms_ + (soon ? kPauseMs : kRefreshMs));
}

/// A token could not say which of two keys without a name is its own.
void KeyKeeper::CheckNames(const std::vector<Key>& keys) {
  for (auto one = keys.begin(); one != keys.end(); ++one)
    if (one->kid().empty() && std::any_of(std::next(one), keys.end(), [&](const Key& other) {
          return other.kid().empty() && other.algorithm() == one->algorithm();
        }))
      throw base::UserError(fmt::format(
          "auth.keys: two keys for {} have no name; give each as a JWK with 'kid', which "
          "tokens then carry",
          ToText(one->algorithm())));
}

KeyKeeper::Source KeyKeeper::Read(const Local& local) {
  Source read;
  if (!local.secret.empty()) {
    read.text = local.secret.Reveal();
    try {
      read.keys.push_back(Key::OfSecret({}, read.text));
    } catch (const base::UserError& error) {
      throw base::UserError(fmt::format("auth.secret: {}", error.what()));
    }
  }
  for (const std::string& file : local.files) {
    try {
      const std::string text = base::ReadWholeFile(file, kMaxKeyTextBytes);
      for (Key& key : ParseKeyFile(text)) read.keys.push_back(std::move(key));
      read.text += fmt::format("\n{}\n{}", file, text);
    } catch (const base::UserError& error) {
      throw base::UserError(fmt::format("auth.keys: {}: {}", file, error.what()));
    }
  }
  CheckNames(read.keys);
  return read;
}

void KeyKeeper::RefreshLocal(Local local) {
  files_read_boot_ms_ = clock_.BootMs();
  try {
    Source read = Read(local);
    local_ = std::move(local);
    file_trouble_.clear();
    if (read.text == from_files_.text) return;
    from_files_ = std::move(read);
    Publish();
    base::LogInfo("auth.keys_changed", "the keys of this machine have changed",
                  {{"keys", from_files_.keys.size()}});
  } catch (const base::UserError& error) {
    if (file_trouble_ == error.what()) return;
    file_trouble_ = error.what();
    base::LogError("auth.keys_refused", "the keys stay as they are: some cannot be used",
                   {{"detail", file_trouble_}});
  }
}

KeyKeeper::Source KeyKeeper::Ask() {
  http::ClientResponse response = client_->Send(http::Method::kGet, path_);
  if (response.status != 200) throw base::UserError(fmt::format("it answers {}", response.status));
  Source read;
  read.keys = ParsePublishedKeys(response.body);
  read.text = std::move(response.body);
  return read;
}

void KeyKeeper::Fetch() {
  asked_boot_ms_ = clock_.BootMs();
  {
    const base::Lock lock(mutex_);
    missed_ = false;
  }
  try {
    Source read = Ask();
    probe_.Fetched();
    const bool first = !answered_boot_ms_;
    answered_boot_ms_ = asked_boot_ms_;
    if (!std::exchange(fetch_trouble_, {}).empty() || first)
      base::LogInfo("auth.jwks_fetched", "the issuer's keys are known",
                    {{"keys", read.keys.size()}});
    if (read.text == from_url_.text && !first) return;
    from_url_ = std::move(read);
    Publish();
  } catch (const base::Fault&) {
    FetchFailed("it does not answer in time, or its answer is too long");
  } catch (const base::UserError& error) {
    FetchFailed(error.what());
  }
}

void KeyKeeper::FetchFailed(const std::string& why) {
  probe_.FetchFailed();
  if (fetch_trouble_ != why)
    base::LogWarn("auth.jwks_failed", "the issuer's keys cannot be fetched; the last ones stay",
                  {{"url", jwks_url_}, {"detail", why}});
  fetch_trouble_ = why;
  const bool too_old = answered_boot_ms_ && clock_.BootMs() - *answered_boot_ms_ >= kKeepMs;
  if (!too_old) return;
  from_url_ = {};
  answered_boot_ms_.reset();
  Publish();
  base::LogError("auth.jwks_given_up", "the issuer's keys are too old to be trusted");
}

/// A new set, with a new generation: whatever was verified before is verified again.
void KeyKeeper::Publish() {
  auto set = std::make_shared<KeySet>();
  set->keys = from_files_.keys;
  set->keys.insert(set->keys.end(), from_url_.keys.begin(), from_url_.keys.end());
  probe_.KeysCounted(set->keys.size());
  const base::Lock lock(mutex_);
  set->generation = published_ ? published_->generation + 1 : 1;
  published_ = std::move(set);
  blind_ = client_ && !answered_boot_ms_;
}

}  // namespace tenure::auth
