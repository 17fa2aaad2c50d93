#include "db/postgres/listener.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace tenure::db::postgres {
namespace {

using base::Fault;
using base::FaultKind;

/// For all hosts of the URL together; one that does not answer is given up by tcp_user_timeout.
constexpr std::int64_t kConnectMs = 40'000;
constexpr std::int64_t kLeastPauseMs = 100;
constexpr std::int64_t kMostPauseMs = 5'000;

std::int64_t NowMs() { return base::SystemClock().BootMs(); }

}  // namespace

Listener::Listener(ConnectionOptions direct, std::string channel, FeedEvents events,
                   ListenerPatience patience)
    : options_(std::move(direct)),
      channel_(std::move(channel)),
      events_(std::move(events)),
      patience_(patience) {}

Listener::~Listener() { Stop(); }

void Listener::Start() {
  TENURE_CHECK(stop_ < 0, "a listener is started once");
  stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TENURE_CHECK(stop_ >= 0, "no descriptors left for the listener");
  thread_ = std::thread([this] { Loop(); });
}

void Listener::Stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_, 1);  // never read: from now on every Sleep ends at once
  thread_.join();
  close(stop_);
}

void Listener::Loop() {
  try {
    while (true) {
      try {
        Connect();
        Listen();
      } catch (const Fault& fault) {
        // Once per outage: the attempts that follow are no news.
        if (pause_ms_ == 0) base::LogWarn("store.feed", fault.what());
      }
      listening_ = false;
      connection_.reset();
      BackOff();
    }
  } catch (const Stopped&) {
    listening_ = false;
    connection_.reset();
  }
}

void Listener::Connect() {
  const std::int64_t deadline = NowMs() + kConnectMs;
  connection_ = BeginConnect(options_);
  // A server that says farewell while nobody asked anything is a notice to libpq, which prints it.
  PQsetNoticeProcessor(
      connection_.get(), [](void*, const char*) {}, nullptr);
  for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;
       next = PQconnectPoll(connection_.get())) {
    if (next == PGRES_POLLING_FAILED) Lost("cannot connect");
    if (!Sleep(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline))
      Lost("PostgreSQL does not answer");
  }
  PQsetnonblocking(connection_.get(), 1);
}

void Listener::Listen() {
  Execute(fmt::format("listen \"{}\"", channel_));
  if (pause_ms_ > 0) base::LogInfo("store.feed", "PostgreSQL's notifications arrive again");
  pause_ms_ = 0;
  // Before on_gap: a waiter that is woken by it and asks again may rely on what comes after.
  listening_ = true;
  events_.on_gap();
  while (true) {
    Deliver();
    if (Sleep(POLLIN, NowMs() + patience_.silence_ms))
      Consume();
    else
      Execute("select 1");
  }
}

void Listener::Deliver() {
  struct Free {
    void operator()(PGnotify* notification) const { PQfreemem(notification); }
  };
  while (const auto notification = std::unique_ptr<PGnotify, Free>(PQnotifies(connection_.get())))
    events_.on_payload(notification->extra);
}

void Listener::Execute(const std::string& command) {
  const std::int64_t deadline = NowMs() + patience_.answer_ms;
  if (PQsendQuery(connection_.get(), command.c_str()) != 1) Lost("cannot ask");
  for (int left = 0; (left = PQflush(connection_.get())) != 0;) {
    if (left < 0) Lost("cannot ask");
    if (!Sleep(POLLOUT, deadline)) Lost("PostgreSQL does not answer");
  }
  while (true) {
    while (PQisBusy(connection_.get())) {
      if (!Sleep(POLLIN, deadline)) Lost("PostgreSQL does not answer");
      Consume();
    }
    const ResultPtr result(PQgetResult(connection_.get()));
    if (!result) return;
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) Lost("refused");
  }
}

void Listener::Consume() {
  if (PQconsumeInput(connection_.get()) != 1) Lost("the connection was lost");
}

bool Listener::Sleep(short events, std::int64_t until_boot_ms) {
  std::array<pollfd, 2> ready{pollfd{stop_, POLLIN, 0},
                              pollfd{events ? PQsocket(connection_.get()) : -1, events, 0}};
  while (true) {
    const std::int64_t left_ms = std::max<std::int64_t>(0, until_boot_ms - NowMs());
    const int count = poll(ready.data(), ready.size(), static_cast<int>(left_ms));
    if (ready[0].revents != 0) throw Stopped();
    if (count > 0) return true;
    if (count == 0 && NowMs() >= until_boot_ms) return false;
  }
}

void Listener::BackOff() {
  pause_ms_ = std::clamp(pause_ms_ * 2, kLeastPauseMs, kMostPauseMs);
  std::uniform_int_distribution<std::int64_t> between(pause_ms_ / 2, pause_ms_);
  Sleep(0, NowMs() + between(jitter_));
}

void Listener::Lost(const std::string& what) {
  throw Fault(FaultKind::kStoreUnavailable,
              fmt::format("PostgreSQL's notifications do not arrive: {}: {}", what,
                          ConnectTrouble(connection_.get())));
}

}  // namespace tenure::db::postgres
