#include "http/outgoing.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "base/operator_url.hpp"
#include "base/time_text.hpp"
#include "http/curl.hpp"
#include "http/multi_loop.hpp"
#include "http/retry_after.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

/// Nothing depends on it: libcurl's own timers, deadlines and `Send` end the wait.
constexpr std::int64_t kWaitMs = 60'000;
/// Of those that do not go first. Each may cost a handshake, and whoever waits for an answer waits for it too.
constexpr int kBegunInARound = 4;

using OwnDoing = OutgoingReply::OwnDoing;

OutgoingReply NotSent(std::string why, OwnDoing own_doing) {
  return {.error = std::move(why), .own_doing = own_doing};
}

constexpr std::size_t kMaxHeaderBytes = 64 << 10;
constexpr std::size_t kMaxTroubleBytes = 200;
constexpr std::uint64_t kMostScope = 0x7fffffff;
constexpr long kBufferBytes = 4 << 10;
constexpr long kUploadBufferBytes = 16 << 10;  // the least that libcurl takes
constexpr const char* kSystemAuthorities = "/etc/ssl/certs";
constexpr const char* kGivenUp = "whoever sent it has given it up";
constexpr const char* kStopping = "the program is stopping";

bool IsToken(std::string_view name) {
  const auto is_token = [](char c) {
    return c > ' ' && c < '\x7f' &&
           std::string_view("\"(),/:;<=>?@[\\]{}").find(c) == std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, is_token);
}

bool IsFieldValue(std::string_view value) {
  const auto is_plain = [](unsigned char c) { return (c >= ' ' && c != 0x7f) || c == '\t'; };
  return std::ranges::all_of(value, is_plain);
}

/// An empty body of a POST is a body too: "Content-Length: 0".
bool HasBody(const OutgoingRequest& request) {
  return !request.body.empty() || request.method == Method::kPost;
}

bool Names(const OutgoingRequest& request, std::string_view name) {
  return std::ranges::any_of(request.headers,
                             [&](const auto& header) { return EqualsNoCase(header.first, name); });
}

/// Why a request cannot be sent at all, if so. Quotes nothing of it: there may be secrets in it.
std::optional<std::string> OutgoingProblem(const OutgoingRequest& request) {
  if (const auto problem = base::OperatorUrlProblem(request.url))
    return "the address is not allowed: " + *problem;
  for (const auto& [name, value] : request.headers)
    if (!IsToken(name) || !IsFieldValue(value))
      return "a header has a character that none may have";
  return std::nullopt;
}

/// One request on its way: its libcurl handle and what has come back so far. The handle points into
/// this object, so it does not move. Used by one thread; between construction and `Finish` the
/// handle is in a multi handle, which the owner sees to.
class OutgoingTransfer {
 public:
  /// REQUIRES: OutgoingProblem(request) found none; 0 < left_ms.
  OutgoingTransfer(OutgoingRequest request, Outgoing::Done done, const OutgoingOptions& options,
                   std::int64_t left_ms)
      : request_(std::move(request)),
        done_(std::move(done)),
        headers_(HeaderLines()),
        connect_to_(ConnectTo()),
        easy_(curl::NewEasy(options.ca_file)) {
    using curl::Set;
    if (options.keep_system_authorities) {
      Set(easy_, CURLOPT_CAPATH, kSystemAuthorities);
      // The system's in one file would be read anew for each connection.
      Set(easy_, CURLOPT_CAINFO, options.ca_file.empty() ? nullptr : options.ca_file.c_str());
    }
    // Thousands may hang at once. (OpenSSL's own buffers stay: with SSL_MODE_RELEASE_BUFFERS as much was in use.)
    Set(easy_, CURLOPT_BUFFERSIZE, kBufferBytes);
    Set(easy_, CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
    if (connect_to_) Set(easy_, CURLOPT_CONNECT_TO, connect_to_.get());
    // libcurl goes through all connections to a host and port when one is begun or closed. The scope, which says
    // something of IPv6 only, is part of what it calls the same: so each group has its own.
    if (request_.group != 0 && !request_.connect_to.starts_with('['))
      Set(easy_, CURLOPT_ADDRESS_SCOPE, static_cast<long>(request_.group % kMostScope));
    Set(easy_, CURLOPT_URL, request_.url.c_str());
    Set(easy_, CURLOPT_USERAGENT, "tenure/" TENURE_VERSION);
    Set(easy_, CURLOPT_HTTPHEADER, headers_.get());
    Set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(left_ms));
    Set(easy_, CURLOPT_ERRORBUFFER, trouble_.data());
    Set(easy_, CURLOPT_WRITEFUNCTION, &OnBody);
    Set(easy_, CURLOPT_WRITEDATA, this);
    Set(easy_, CURLOPT_HEADERFUNCTION, &OnHeader);
    Set(easy_, CURLOPT_HEADERDATA, this);
    SetMethod(easy_, request_.method, HasBody(request_) ? &request_.body : nullptr);
  }
  OutgoingTransfer(const OutgoingTransfer&) = delete;
  OutgoingTransfer& operator=(const OutgoingTransfer&) = delete;

  CURL* handle() const { return easy_.get(); }
  std::uint64_t group() const { return request_.group; }

  /// What came of it, now that libcurl says that it is over. `wall_ms` is for a Retry-After with a
  /// date from a server that does not say what time it has itself.
  OutgoingReply Finish(CURLcode result, std::int64_t wall_ms) {
    const bool is_decided = request_.status_decides && head_ended_;
    if (result != CURLE_OK && !reply_.truncated && !is_decided)
      return GiveUp(Trouble(result), OwnDoing::kNone);
    // To libcurl a header that ends with the connection is a whole answer.
    if (!head_ended_) return GiveUp("the answer broke off", OwnDoing::kNone);
    reply_.status = curl::StatusOf(easy_);
    reply_.retry_after_ms = ParseRetryAfterMs(retry_after_, date_ms_.value_or(wall_ms));
    return std::move(reply_);
  }
  /// The same for one that is given up.
  OutgoingReply GiveUp(std::string why, OwnDoing own_doing) const {
    return {
        .error = std::move(why), .maybe_received = curl::WasSent(easy_), .own_doing = own_doing};
  }

  Outgoing::Done& done() { return done_; }

 private:
  /// Returning less than it was given makes libcurl give up.
  static std::size_t OnBody(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<OutgoingTransfer*>(self);
    std::string& body = transfer.reply_.body;
    const std::size_t room = transfer.request_.answer_max - body.size();
    body.append(data, std::min(size, room));
    transfer.reply_.truncated = size > room;
    return transfer.reply_.truncated ? 0 : size;
  }
  static std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* self) {
    auto& transfer = *static_cast<OutgoingTransfer*>(self);
    transfer.header_bytes_ += size;
    if (transfer.header_bytes_ > kMaxHeaderBytes) return 0;
    transfer.TakeHeader({data, size});
    return size;
  }
  void TakeHeader(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // "100 Continue" may have come before
      head_ended_ = false;
      retry_after_.clear();
      date_ms_.reset();
    }
    if (line == "\r\n" || line == "\n") head_ended_ = true;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !line.ends_with("\r\n")) return;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trim(line.substr(colon + 1, line.size() - colon - 3));
    if (EqualsNoCase(name, "Retry-After")) retry_after_ = value;
    if (EqualsNoCase(name, "Date")) date_ms_ = base::ParseHttpDateMs(value);
  }
  curl::HeaderList HeaderLines() const {
    curl::HeaderList list;
    Append(list, "Expect:");  // libcurl would wait for "100 Continue" with large bodies
    if (HasBody(request_) && !Names(request_, "Content-Type"))
      Append(list, "Content-Type: application/json");
    for (const auto& [name, value] : request_.headers)
      // A name alone would take a header out; the semicolon is libcurl's word for an empty one.
      Append(list, value.empty() ? name + ";" : name + ": " + value);
    return list;
  }
  /// "::HOST:PORT" holds for whatever the url names.
  curl::HeaderList ConnectTo() const {
    curl::HeaderList list;
    if (!request_.connect_to.empty()) Append(list, "::" + request_.connect_to);
    return list;
  }
  std::string Trouble(CURLcode result) const {
    if (header_bytes_ > kMaxHeaderBytes) return "the header of the answer is too long";
    const std::string_view detail(trouble_.data());
    return Printable(detail.empty() ? curl_easy_strerror(result) : detail, kMaxTroubleBytes);
  }

  const OutgoingRequest request_;
  Outgoing::Done done_;
  const curl::HeaderList headers_;
  const curl::HeaderList connect_to_;
  std::array<char, CURL_ERROR_SIZE> trouble_{};
  OutgoingReply reply_{};
  std::size_t header_bytes_ = 0;
  bool head_ended_ = false;
  std::string retry_after_{};
  std::optional<std::int64_t> date_ms_{};  // the server's own clock
  const curl::Easy easy_;                  // last: it points to the others
};

}  // namespace

/// What waits is guarded by the mutex and is anybody's; what is under way is the thread's alone.
/// Each of the two has one door, `Admit`, which moves from the first to the second.
class Outgoing::Impl {
 public:
  Impl(OutgoingOptions options, const base::Clock& clock)
      // A kept connection for each request that can be under way, and no more.
      : options_(std::move(options)), clock_(clock), multi_(options_.in_flight_max, clock) {}
  ~Impl() { Stop(); }

  void Start() {
    thread_ = std::thread([this] { Loop(); });
  }

  void Stop() {
    {
      const base::Lock lock(mutex_);
      stopping_ = true;
    }
    multi_.Wake();
    if (thread_.joinable()) thread_.join();
    CompleteAll();  // nobody else is left who could
  }

  void Send(OutgoingRequest request, Done done) {
    if (auto problem = OutgoingProblem(request))
      return done(NotSent(std::move(*problem), OwnDoing::kNone));
    const std::int64_t deadline_ms =
        clock_.BootMs() + std::max<std::int64_t>(request.timeout_ms, 1);
    Waiting waiting{
        .deadline_ms = deadline_ms, .request = std::move(request), .done = std::move(done)};
    if (auto refused = Enqueue(waiting)) return waiting.done(*std::move(refused));
    // After the queue: a wait that this does not end has not looked at the queue yet.
    multi_.Wake();
  }

  void GiveUp(std::uint64_t group) {
    {
      const base::Lock lock(mutex_);
      given_up_.push_back(group);
    }
    multi_.Wake();
  }

 private:
  struct Waiting {
    std::int64_t deadline_ms = 0;  ///< BootMs
    OutgoingRequest request{};
    Done done{};
  };

  /// Takes it, or says why not and leaves it alone.
  std::optional<OutgoingReply> Enqueue(Waiting& waiting) {
    const std::size_t bytes = waiting.request.body.size();
    const base::Lock lock(mutex_);
    if (stopping_) return NotSent(kStopping, OwnDoing::kGivenUp);
    if (first_.size() + queue_.size() >= options_.queue_items ||
        bytes > options_.queue_bytes - queue_bytes_)
      return NotSent("too many requests wait to be sent", OwnDoing::kTooMany);
    queue_bytes_ += bytes;
    (waiting.request.goes_first ? first_ : queue_).push_back(std::move(waiting));
    return std::nullopt;
  }

  void Loop() {
    while (Admit()) {
      multi_.RunOnce(WaitMs());
      Collect();  // it makes room, so Admit looks before the next wait
    }
  }

  /// Begins what there is room for, and completes what has waited too long. False: stopping.
  bool Admit() {
    std::vector<Waiting> late;
    std::vector<Waiting> next;
    std::vector<Waiting> given_up;
    std::vector<std::uint64_t> groups;
    {
      const base::Lock lock(mutex_);
      if (stopping_) return false;
      groups = std::exchange(given_up_, {});
      if (!groups.empty())
        given_up = TakeOutOf([&](const Waiting& w) {
          return std::ranges::find(groups, w.request.group) != groups.end();
        });
      late = TakeLate();
      const auto has_room = [&] {
        return in_flight_.size() + next.size() < options_.in_flight_max;
      };
      while (!first_.empty() && has_room()) next.push_back(TakeFirst(first_));
      for (int i = 0; i < kBegunInARound && !queue_.empty() && has_room(); ++i)
        next.push_back(TakeFirst(queue_));
      has_more_ = !queue_.empty() && has_room();
    }
    for (Waiting& waiting : given_up) waiting.done(NotSent(kGivenUp, OwnDoing::kGivenUp));
    if (!groups.empty()) CutOff(groups);
    for (Waiting& waiting : late)
      waiting.done(NotSent("the request's time was over before its turn came", OwnDoing::kTooMany));
    for (Waiting& waiting : next) Begin(std::move(waiting));
    return true;
  }

  std::vector<Waiting> TakeLate() TENURE_REQUIRES(mutex_) {
    const std::int64_t now_ms = clock_.BootMs();
    return TakeOutOf([&](const Waiting& w) { return w.deadline_ms <= now_ms; });
  }

  template <class Which>
  std::vector<Waiting> TakeOutOf(const Which& which) TENURE_REQUIRES(mutex_) {
    std::vector<Waiting> taken;
    for (std::deque<Waiting>* const queue : {&first_, &queue_}) {
      const auto first = std::stable_partition(queue->begin(), queue->end(),
                                               [&](const Waiting& w) { return !which(w); });
      std::move(first, queue->end(), std::back_inserter(taken));
      queue->erase(first, queue->end());
    }
    for (const Waiting& waiting : taken) queue_bytes_ -= waiting.request.body.size();
    return taken;
  }

  void CutOff(const std::vector<std::uint64_t>& groups) {
    std::vector<CURL*> handles;
    for (const auto& [handle, transfer] : in_flight_)
      if (std::ranges::find(groups, transfer->group()) != groups.end()) handles.push_back(handle);
    for (CURL* const handle : handles) {
      const auto transfer = TakeOut(handle);
      transfer->done()(transfer->GiveUp(kGivenUp, OwnDoing::kGivenUp));
    }
  }

  /// REQUIRES: there is one.
  Waiting TakeFirst(std::deque<Waiting>& queue) TENURE_REQUIRES(mutex_) {
    Waiting first = std::move(queue.front());
    queue.pop_front();
    queue_bytes_ -= first.request.body.size();
    return first;
  }

  void Begin(Waiting waiting) {
    if (waiting.request.may_begin && !waiting.request.may_begin())
      return waiting.done(NotSent(kGivenUp, OwnDoing::kGivenUp));
    // Others' `done`s may have taken a moment since its deadline was looked at.
    const std::int64_t left_ms = std::max<std::int64_t>(waiting.deadline_ms - clock_.BootMs(), 1);
    auto transfer = std::make_unique<OutgoingTransfer>(std::move(waiting.request),
                                                       std::move(waiting.done), options_, left_ms);
    multi_.Add(transfer->handle());
    in_flight_.emplace(transfer->handle(), std::move(transfer));
  }

  /// Completes what has ended.
  void Collect() {
    while (const auto ended = multi_.TakeEnded()) {
      const auto transfer = TakeOut(ended->handle);
      transfer->done()(transfer->Finish(ended->result, clock_.WallMs()));
    }
  }

  /// Of one that is under way this closes the connection.
  std::unique_ptr<OutgoingTransfer> TakeOut(CURL* handle) {
    multi_.Remove(handle);
    auto node = in_flight_.extract(handle);
    TENURE_CHECK(!node.empty(), "a transfer ends once");
    return std::move(node.mapped());
  }

  /// Until the first deadline of those that wait; those under way are libcurl's business.
  std::int64_t WaitMs() {
    const base::Lock lock(mutex_);
    if (has_more_) return 0;
    const std::int64_t now_ms = clock_.BootMs();
    std::int64_t wait_ms = kWaitMs;
    for (const std::deque<Waiting>* const queue : {&first_, &queue_})
      for (const Waiting& waiting : *queue)
        wait_ms = std::min(wait_ms, waiting.deadline_ms - now_ms);
    return wait_ms;
  }

  void CompleteAll() {
    while (!in_flight_.empty()) {
      const auto transfer = TakeOut(in_flight_.begin()->first);
      transfer->done()(transfer->GiveUp(kStopping, OwnDoing::kGivenUp));
    }
    std::vector<Waiting> left;
    {
      const base::Lock lock(mutex_);
      left = TakeOutOf([](const Waiting&) { return true; });
    }
    for (Waiting& waiting : left) waiting.done(NotSent(kStopping, OwnDoing::kGivenUp));
  }

  const OutgoingOptions options_;
  const base::Clock& clock_;
  MultiLoop multi_;  // the thread's, except for its wake-up; also keeps the connections
  std::unordered_map<CURL*, std::unique_ptr<OutgoingTransfer>> in_flight_;  // the thread's

  base::Mutex mutex_;
  std::deque<Waiting> first_ TENURE_GUARDED_BY(mutex_);  // those that go first
  std::deque<Waiting> queue_ TENURE_GUARDED_BY(mutex_);  // the others
  std::size_t queue_bytes_ TENURE_GUARDED_BY(mutex_) = 0;
  std::vector<std::uint64_t> given_up_ TENURE_GUARDED_BY(mutex_);  // groups
  bool has_more_ TENURE_GUARDED_BY(mutex_) = false;  // that there is room for in the next round
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

Outgoing::Outgoing(OutgoingOptions options, const base::Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
Outgoing::~Outgoing() = default;

void Outgoing::Start() { impl_->Start(); }
void Outgoing::Stop() { impl_->Stop(); }
void Outgoing::Send(OutgoingRequest request, Done done) {
  impl_->Send(std::move(request), std::move(done));
}
void Outgoing::GiveUp(std::uint64_t group) { impl_->GiveUp(group); }

}  // namespace tenure::http
