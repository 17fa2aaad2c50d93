#include "http/multi_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tenure::http {
namespace {

/// In a round. Those that are left are the first of the next one.
constexpr int kEventsOfARound = 64;

int CheckedDescriptor(int descriptor) {
  TENURE_CHECK(descriptor >= 0, "the system has no descriptor left for epoll");
  return descriptor;
}

}  // namespace

MultiLoop::MultiLoop(std::size_t kept_connections, const base::Clock& clock)
    : clock_(clock),
      epoll_(CheckedDescriptor(epoll_create1(EPOLL_CLOEXEC))),
      wakeup_(CheckedDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))),
      multi_(curl::NewMulti()) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = wakeup_}};
  TENURE_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event) == 0, "epoll takes an eventfd");
  CURLM* const multi = multi_.get();
  curl::Check(curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(kept_connections)));
  curl::Check(curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &OnSocket));
  curl::Check(curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this));
  curl::Check(curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &OnTimer));
  curl::Check(curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this));
}

MultiLoop::~MultiLoop() {
  // Kept connections are closed, and told of no more.
  curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, nullptr);
  curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, nullptr);
  ::close(wakeup_);
  ::close(epoll_);
}

void MultiLoop::RunOnce(std::int64_t most_ms) {
  std::int64_t wait_ms = most_ms;
  if (timer_boot_ms_) wait_ms = std::min(wait_ms, *timer_boot_ms_ - clock_.BootMs());
  std::array<epoll_event, kEventsOfARound> events{};
  const int count = epoll_wait(epoll_, events.data(), kEventsOfARound,
                               static_cast<int>(std::max<std::int64_t>(wait_ms, 0)));
  TENURE_CHECK(count >= 0 || errno == EINTR, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.fd == wakeup_) {
      eventfd_t ignored = 0;
      eventfd_read(wakeup_, &ignored);
      continue;
    }
    int mask = 0;
    if (event.events & EPOLLIN) mask |= CURL_CSELECT_IN;
    if (event.events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
    if (event.events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
    Go(event.data.fd, mask);
  }
  if (!timer_boot_ms_ || *timer_boot_ms_ > clock_.BootMs()) return;
  timer_boot_ms_.reset();  // libcurl sets it anew where it needs it
  Go(CURL_SOCKET_TIMEOUT, 0);
}

void MultiLoop::Go(curl_socket_t socket, int events) {
  int running = 0;
  curl::Check(curl_multi_socket_action(multi_.get(), socket, events, &running));
}

void MultiLoop::Wake() { eventfd_write(wakeup_, 1); }

std::optional<MultiLoop::Ended> MultiLoop::TakeEnded() {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left))
    if (message->msg == CURLMSG_DONE) return Ended{message->easy_handle, message->data.result};
  return std::nullopt;
}

int MultiLoop::OnSocket(CURL*, curl_socket_t socket, int what, void* self, void*) {
  static_cast<const MultiLoop*>(self)->Watch(socket, what);
  return 0;
}

void MultiLoop::Watch(curl_socket_t socket, int what) const {
  if (what == CURL_POLL_REMOVE) {
    // One that is closed already has gone from the epoll by itself.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
    return;
  }
  epoll_event event{.events = 0, .data = {.fd = socket}};
  if (what & CURL_POLL_IN) event.events |= EPOLLIN;
  if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) == 0) return;
  TENURE_CHECK(errno == ENOENT && epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0,
               "epoll takes a socket");
}

int MultiLoop::OnTimer(CURLM*, long wait_ms, void* self) {
  auto& loop = *static_cast<MultiLoop*>(self);
  if (wait_ms < 0)
    loop.timer_boot_ms_.reset();
  else
    loop.timer_boot_ms_ = loop.clock_.BootMs() + wait_ms;
  return 0;
}

}  // namespace tenure::http
