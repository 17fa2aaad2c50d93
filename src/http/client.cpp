#include "http/client.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include <fmt/format.h>

#include "base/error.hpp"
#include "http/curl.hpp"
#include "http/text.hpp"
#include "telemetry/trace.hpp"

namespace tenure::http {
namespace {

/// Nothing depends on it: libcurl's own timers and `Cancel` wake the wait.
constexpr int kPollMs = 60'000;

using namespace curl;

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
          path.starts_with('/') ? std::string(path) : fmt::format("/{}", path)};
}

class Client::Impl {
 public:
  explicit Impl(ClientOptions options)
      : options_(std::move(options)), multi_(NewMulti()), easy_(NewEasy(options_.ca_file)) {
    Set(easy_, CURLOPT_ERRORBUFFER, trouble_.data());
    Set(easy_, CURLOPT_WRITEFUNCTION, &OnBody);
    Set(easy_, CURLOPT_HEADERFUNCTION, &OnHeader);
  }

  ClientResponse Send(Method method, std::string_view path,
                      const std::optional<std::string>& json_body, const Headers& headers,
                      std::optional<std::int64_t> timeout_ms) {
    const std::string url = options_.base_url + std::string(path);
    trouble_.front() = '\0';
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
    SetMethod(easy_, method, json_body ? &*json_body : nullptr);
    const CURLcode result = Perform();
    if (result != CURLE_OK) Fail(result);
    response.status = StatusOf(easy_);
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
    const bool typed = std::ranges::any_of(
        headers, [](const auto& one) { return EqualsNoCase(one.first, "Content-Type"); });
    if (has_body && !typed) Append(list, "Content-Type: application/json");
    if (!options_.token.empty()) Append(list, "Authorization: Bearer " + options_.token);
    if (const auto* trace = telemetry::TraceScope::Current())
      Append(list, "traceparent: " + telemetry::FormatTraceParent(*trace));
    for (const auto& [name, value] : headers) Append(list, name + ": " + value);
    return list;
  }

  [[noreturn]] static void FailCancelled() {
    throw base::Fault(base::FaultKind::kStoreUnavailable,
                      "the client was cancelled; the request was not sent");
  }

  /// In libcurl's words, which may quote a certificate.
  std::string Trouble(CURLcode result) const {
    const bool detailed = trouble_.front() != '\0';
    return Printable(detailed ? trouble_.data() : curl_easy_strerror(result), trouble_.size());
  }

  [[noreturn]] void Fail(CURLcode result) const {
    const bool sent = WasSent(easy_);
    if (result == CURLE_SSL_CACERT_BADFILE)
      throw base::Fault(
          base::FaultKind::kStoreUnavailable,
          fmt::format("{} holds no certificates in PEM that can be read", options_.ca_file));
    if (result == CURLE_PEER_FAILED_VERIFICATION)
      throw base::Fault(base::FaultKind::kStoreUnavailable,
                        fmt::format("{} is not to be trusted: {}. If the authority that signed its "
                                    "certificate is yours, say so by a CA file",
                                    options_.base_url, Trouble(result)));
    if (result == CURLE_URL_MALFORMAT || result == CURLE_UNSUPPORTED_PROTOCOL)
      throw base::UserError(fmt::format("'{}' is not an address of a server; it looks like {}",
                                        options_.base_url, "http://127.0.0.1:8080"));
    if (!sent && result == CURLE_SSL_CONNECT_ERROR)
      throw base::Fault(base::FaultKind::kStoreUnavailable,
                        fmt::format("no secure connection to {}: {}. Does it speak TLS, and is the "
                                    "CA file the right one?",
                                    options_.base_url, Trouble(result)));
    if (!sent && result == CURLE_ABORTED_BY_CALLBACK) FailCancelled();
    if (!sent)
      throw base::Fault(base::FaultKind::kStoreUnavailable,
                        fmt::format("nothing answers at {}; {} ({})", options_.base_url,
                                    options_.hint, Trouble(result)));
    throw base::Fault(
        base::FaultKind::kOutcomeUnknown,
        fmt::format("{} took the request, but its answer was lost: it may or may not have "
                    "happened; repeat the same command ({})",
                    options_.base_url, Trouble(result)));
  }

  const ClientOptions options_;
  const Multi multi_;  // also keeps the connection between requests
  const Easy easy_;
  std::array<char, CURL_ERROR_SIZE> trouble_{};  // libcurl's words about the last one
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
