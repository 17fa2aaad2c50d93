#include "http/client.hpp"

#include <algorithm>
#include <atomic>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

/// Nothing depends on it: libcurl's own timers and `Cancel` wake the wait.
constexpr int kPollMs = 60'000;

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using Multi = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

Easy NewEasy() {
  Easy easy(curl_easy_init());
  TENURE_CHECK(easy != nullptr, "libcurl has no memory");
  return easy;
}

/// Before any other handle.
Multi NewMulti() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  TENURE_CHECK(ready == CURLE_OK, "libcurl cannot be initialised");
  Multi multi(curl_multi_init());
  TENURE_CHECK(multi != nullptr, "libcurl has no memory");
  return multi;
}

void Check(CURLMcode result) { TENURE_CHECK(result == CURLM_OK, curl_multi_strerror(result)); }

/// A transfer is in the hands of `multi` from its beginning to its end, however it ends. Taking out
/// one that is under way closes its connection.
class Transfer {
 public:
  Transfer(const Multi& multi, const Easy& easy) : multi_(multi.get()), easy_(easy.get()) {
    Check(curl_multi_add_handle(multi_, easy_));
  }
  ~Transfer() { curl_multi_remove_handle(multi_, easy_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

 private:
  CURLM* const multi_;
  CURL* const easy_;
};

template <class Value>
void Set(const Easy& easy, CURLoption option, Value value) {
  const CURLcode result = curl_easy_setopt(easy.get(), option, value);
  TENURE_CHECK(result == CURLE_OK, curl_easy_strerror(result));
}

void Append(HeaderList& list, const std::string& line) {
  curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
  TENURE_CHECK(longer != nullptr, "libcurl has no memory");
  static_cast<void>(list.release());  // it is the head of `longer`, or was null
  list.reset(longer);
}

struct BodyTarget {
  std::string& body;
  const std::size_t max_bytes;
};

/// Returning less than it was given makes libcurl give up.
std::size_t OnBody(char* data, std::size_t, std::size_t size, void* target) {
  const auto& [body, max_bytes] = *static_cast<BodyTarget*>(target);
  if (body.size() + size > max_bytes) return 0;
  body.append(data, size);
  return size;
}

std::size_t OnHeader(char* data, std::size_t, std::size_t size, void* response) {
  auto& headers = static_cast<ClientResponse*>(response)->headers;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) headers.clear();  // "100 Continue" came before
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && line.ends_with("\r\n"))
    headers.emplace_back(line.substr(0, colon),
                         Trim(line.substr(colon + 1, line.size() - colon - 3)));
  return size;
}

const char* Verb(Method method) {
  TENURE_CHECK(method != Method::kOther, "the client sends methods that it knows");
  return ToText(method).data();  // literals: they end with NUL
}

}  // namespace

std::optional<std::string_view> ClientResponse::FindHeader(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (EqualsNoCase(key, name)) return value;
  return std::nullopt;
}

Url SplitUrl(std::string_view url) {
  const std::size_t at = std::min(url.find_first_of("/?", url.find("//") + 2), url.size());
  const std::string_view path = url.substr(at);
  return {std::string(url.substr(0, at)),
          path.starts_with('/') ? std::string(path) : "/" + std::string(path)};
}

class Client::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_(std::move(options)), multi_(NewMulti()), easy_(NewEasy()) {
    Set(easy_, CURLOPT_NOSIGNAL, 1L);
    Set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    Set(easy_, CURLOPT_FOLLOWLOCATION, 0L);
    Set(easy_, CURLOPT_PROXY, "");  // also keeps http_proxy of the environment out
    Set(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(easy_, CURLOPT_WRITEFUNCTION, &OnBody);
    Set(easy_, CURLOPT_HEADERFUNCTION, &OnHeader);
  }

  ClientResponse Send(Method method, std::string_view path,
                      const std::optional<std::string>& json_body, const Headers& headers,
                      std::optional<std::int64_t> timeout_ms) {
    const std::string url = options_.base_url + std::string(path);
    const HeaderList list = Lines(json_body.has_value(), headers);
    ClientResponse response;
    BodyTarget target{response.body, options_.max_body_bytes};
    Set(easy_, CURLOPT_URL, url.c_str());
    Set(easy_, CURLOPT_HTTPHEADER, list.get());
    Set(easy_, CURLOPT_WRITEDATA, &target);
    Set(easy_, CURLOPT_HEADERDATA, &response);
    // To libcurl 0 is no limit at all; to us it is none left.
    const std::int64_t limit_ms =
        std::max<std::int64_t>(timeout_ms.value_or(options_.timeout_ms), 1);
    Set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(limit_ms));
    ChooseMethod(method, json_body);
    const CURLcode result = Perform();
    if (result != CURLE_OK) Fail(result);
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    return response;
  }

  /// The flag first: a wait that this does not wake has not looked at the flag yet.
  void Cancel() noexcept {
    cancelled_ = true;
    curl_multi_wakeup(multi_.get());
  }

 private:
  /// CURLE_ABORTED_BY_CALLBACK when it was cancelled.
  CURLcode Perform() {
    if (cancelled_) FailCancelled();
    const Transfer transfer(multi_, easy_);
    for (int running = 1; running > 0;) {
      Check(curl_multi_perform(multi_.get(), &running));
      if (running == 0) break;
      if (cancelled_) return CURLE_ABORTED_BY_CALLBACK;
      Check(curl_multi_poll(multi_.get(), nullptr, 0, kPollMs, nullptr));
    }
    int left = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left);
    TENURE_CHECK(message && message->msg == CURLMSG_DONE, "a transfer ends with a message");
    return message->data.result;
  }

  HeaderList Lines(bool has_body, const Headers& headers) const {
    HeaderList list;
    Append(list, "Expect:");  // libcurl would wait for "100 Continue" with large bodies
    if (has_body) Append(list, "Content-Type: application/json");
    if (!options_.token.empty()) Append(list, "Authorization: Bearer " + options_.token);
    for (const auto& [name, value] : headers) Append(list, name + ": " + value);
    return list;
  }

  void ChooseMethod(Method method, const std::optional<std::string>& body) {
    Set(easy_, CURLOPT_HTTPGET, 1L);  // forgets the body of the request before
    if (body) {
      Set(easy_, CURLOPT_POST, 1L);
      Set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size()));
      Set(easy_, CURLOPT_POSTFIELDS, body->c_str());
    }
    Set(easy_, CURLOPT_NOBODY, method == Method::kHead ? 1L : 0L);
    Set(easy_, CURLOPT_CUSTOMREQUEST, Verb(method));
  }

  [[noreturn]] static void FailCancelled() {
    throw base::Fault(base::FaultKind::kStoreUnavailable,
                      "the client was cancelled; the request was not sent");
  }

  [[noreturn]] void Fail(CURLcode result) const {
    long sent_bytes = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &sent_bytes);
    if (result == CURLE_URL_MALFORMAT || result == CURLE_UNSUPPORTED_PROTOCOL)
      throw base::UserError(fmt::format("'{}' is not an address of a server; it looks like {}",
                                        options_.base_url, "http://127.0.0.1:8080"));
    if (sent_bytes == 0 && result == CURLE_ABORTED_BY_CALLBACK) FailCancelled();
    if (sent_bytes == 0)
      throw base::Fault(base::FaultKind::kStoreUnavailable,
                        fmt::format("nothing answers at {}; is `tenure serve` running? ({})",
                                    options_.base_url, curl_easy_strerror(result)));
    throw base::Fault(
        base::FaultKind::kOutcomeUnknown,
        fmt::format("{} took the request, but its answer was lost: it may or may not have "
                    "happened; repeat the same command ({})",
                    options_.base_url, curl_easy_strerror(result)));
  }

  const ClientOptions options_;
  const Multi multi_;  // also keeps the connection between requests
  const Easy easy_;
  std::atomic<bool> cancelled_{false};
};

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

ClientResponse Client::Send(Method method, std::string_view path,
                            const std::optional<std::string>& json_body, const Headers& headers,
                            std::optional<std::int64_t> timeout_ms) {
  return impl_->Send(method, path, json_body, headers, timeout_ms);
}

void Client::Cancel() noexcept { impl_->Cancel(); }

}  // namespace tenure::http
