#include "client/azure/door.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_view.hpp"
#include "base/time_text.hpp"
#include "client/failure.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using Kind = CallFailed::Kind;

constexpr std::size_t kMostAnswerBytes = 16UL << 20;  // a page of a list with the longest names
/// The services refuse a date that is off by 15 minutes.
constexpr std::int64_t kFarOffMs = 5 * 60'000;
constexpr std::string_view kAzureHosts = ".documents.azure.com";

bool IsDenial(const http::ClientResponse& response) {
  return response.status == 401 || response.status == 403 ||
         (response.status == 400 && ErrorCodeOf(response) == "InvalidAuthenticationInfo");
}

/// A failover of a Cosmos DB, which denies nothing: writes go to another region now.
bool IsMovedWrite(const http::ClientResponse& response) {
  return response.status == 403 && response.FindHeader("x-ms-substatus") == "3";
}

Milliseconds PauseAskedBy(const http::ClientResponse& response) {
  if (const auto text = response.FindHeader("x-ms-retry-after-ms")) {
    std::int64_t ms = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ms);
    if (error == std::errc{} && end == text->data() + text->size())
      return Milliseconds(std::clamp<std::int64_t>(ms, 0, 86'400'000));
  }
  return client::RetryAfterOf(response);
}

std::string_view PathBehindHost(std::string_view endpoint) {
  const std::size_t slash = endpoint.find('/', endpoint.find("://") + 3);
  return slash == std::string_view::npos ? std::string_view() : endpoint.substr(slash);
}

}  // namespace

AzureDoor::AzureDoor(const AzureAddress& address, AzureIdentity who,
                     std::shared_ptr<ProviderCounters> counters)
    : address_(address),
      who_(std::move(who)),
      counters_(std::move(counters)),
      path_(PathBehindHost(address.endpoint)),
      account_(MakeTransport(address.endpoint)),
      transport_(account_) {}

std::shared_ptr<Transport> AzureDoor::MakeTransport(const std::string& endpoint) const {
  return std::make_shared<Transport>(http::ClientOptions{.base_url = endpoint,
                                                         .max_body_bytes = kMostAnswerBytes,
                                                         .ca_file = address_.ca_file,
                                                         .hint = "is the account's name right?"});
}

void AzureDoor::MoveTo(const std::string& endpoint) {
  const http::Url url = http::SplitUrl(endpoint);
  const std::string_view host = std::string_view(url.base).substr(0, url.base.rfind(':'));
  const bool is_azure = endpoint.starts_with("https://") &&
                        (host.ends_with(kAzureHosts) || url.base.ends_with(kAzureHosts)) &&
                        url.base.find('@') == std::string::npos;
  if (!is_azure)  // whoever answers there would be shown who we are
    throw CallFailed(Kind::kUnavailable,
                     "the Cosmos DB account names a region that is not one of Azure's");
  const base::Lock lock(mutex_);
  if (region_ == url.base) return;
  region_ = url.base;
  transport_ = MakeTransport(url.base);
}

http::ClientResponse AzureDoor::Send(AzureRequest request, const CasCall& call) {
  const auto transport = [&] {
    const base::Lock lock(mutex_);
    return transport_;
  }();
  return SendVia(*transport, request, call);
}

http::ClientResponse AzureDoor::SendToAccount(AzureRequest request, const CasCall& call) {
  return SendVia(*account_, request, call);
}

http::ClientResponse AzureDoor::SendVia(Transport& transport, const AzureRequest& request,
                                        const CasCall& call) {
  const std::int64_t believed_ms = store_ahead_ms_;
  const std::string token = who_.tokens ? who_.tokens->Get(call) : "";
  http::ClientResponse response = SendOnce(transport, request, token, call);
  if (!IsDenial(response) || IsMovedWrite(response)) return response;
  if (who_.tokens) {  // it may have been revoked, or have ended on the way: once more with another
    if (const auto fresh = who_.tokens->InPlaceOf(token, call))
      response = SendOnce(transport, request, *fresh, call);
  } else if (std::abs(store_ahead_ms_ - believed_ms) > kFarOffMs) {
    // Who dates by a clock that is far off is refused, and knows the right time from the refusal.
    response = SendOnce(transport, request, token, call);
  }
  return response;
}

http::ClientResponse AzureDoor::SendOnce(Transport& transport, AzureRequest request,
                                         const std::string& token, const CasCall& call) {
  const std::string date = Now();
  request.headers.emplace_back("x-ms-date", date);
  request.headers.emplace_back("x-ms-version", address_.cosmos ? "2018-12-31" : "2021-12-02");
  request.headers.emplace_back("Authorization", Authorization(request, date, token));
  const std::int64_t left_ms = call.until_ms - BootClock().NowMs();
  if (left_ms <= 0) throw CallFailed(Kind::kUnavailable, "there was no time left to ask the store");
  try {
    http::ClientResponse response =
        transport.Send(request.method, request.path, request.body, Milliseconds(left_ms), call.stop,
                       request.headers);
    Observe(response);
    return response;
  } catch (const base::Fault& fault) {
    throw CallFailed(Kind::kUnavailable, fault.what(), request.writes && fault.outcome_unknown());
  }
}

std::string AzureDoor::Authorization(const AzureRequest& request, const std::string& date,
                                     const std::string& token) const {
  if (who_.tokens)
    return address_.cosmos ? Encoded("type=aad&ver=1.0&sig=" + token) : "Bearer " + token;
  return address_.cosmos ? MasterKeySignature(request, date, who_.key)
                         : SharedKeySignature(request, address_.account, path_, who_.key);
}

std::string AzureDoor::Now() const {
  const std::time_t now_s = (base::SystemClock().WallMs() + store_ahead_ms_) / 1'000;
  std::tm parts{};
  ::gmtime_r(&now_s, &parts);
  // Not strftime: the names must not depend on the program's locale.
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                     kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

void AzureDoor::Observe(const http::ClientResponse& response) {
  if (const auto date = response.FindHeader("Date"))
    if (const auto store_ms = base::ParseHttpDateMs(*date)) {
      const std::int64_t ahead_ms = *store_ms - base::SystemClock().WallMs();
      // A second of it is what both sides have cut off.
      store_ahead_ms_ = std::abs(ahead_ms) > 2'000 ? ahead_ms : 0;
      counters_->ClockOffset(ahead_ms);
    }
  if (response.status == 429 || response.status == 503) counters_->Throttled();
  if (const auto charge = response.FindHeader("x-ms-request-charge")) {
    const std::string text(*charge);
    counters_->RequestUnits(std::max(std::strtod(text.c_str(), nullptr), 0.0));
  }
}

std::int64_t StampOf(const http::ClientResponse& response, std::string_view header, bool wrote) {
  const auto text = response.FindHeader(header);
  const auto ms = text ? base::ParseHttpDateMs(*text) : std::nullopt;
  if (!ms)
    throw CallFailed(Kind::kUnavailable,
                     fmt::format("the store's answer has no {} that can be read", header), wrote);
  return *ms / 1'000;
}

std::string ErrorCodeOf(const http::ClientResponse& response) {
  std::string code(response.FindHeader("x-ms-error-code").value_or(""));
  if (code.empty())
    if (const auto body = base::JsonView::Parse(response.body))
      if (const auto field = body->Find("code")) code = field->Text().value_or("");
  const bool shown = code.size() <= 64 && std::ranges::all_of(code, [](unsigned char c) {
                       return std::isalnum(c) != 0;
                     });
  return shown ? code : "";
}

void RefuseAzure(const http::ClientResponse& response, bool writes, std::string_view what) {
  const std::string code = ErrorCodeOf(response);
  const std::string says = fmt::format("{}: the store answers {}{}{}", what, response.status,
                                       code.empty() ? "" : " ", code);
  const auto after = PauseAskedBy(response);
  if (IsDenial(response)) {
    std::string why = says;
    const auto date = response.FindHeader("Date");
    const auto store_ms = date ? base::ParseHttpDateMs(*date) : std::nullopt;
    const std::int64_t off_ms = store_ms ? *store_ms - base::SystemClock().WallMs() : 0;
    if (std::abs(off_ms) > kFarOffMs)
      why += fmt::format("; this machine's clock is {} s off", std::abs(off_ms) / 1'000);
    throw CallFailed(Kind::kDenied, why);
  }
  if (response.status == 429) throw CallFailed(Kind::kUnavailable, says, false, after);
  if (code == "BlobImmutableDueToPolicy" || code == "BlobImmutableDueToLegalHold")
    throw CallFailed(Kind::kUnfit, says + ": a container whose blobs never change keeps no leases");
  if (code.starts_with("LeaseIdM") || code.starts_with("LeaseNotPresent"))
    throw CallFailed(Kind::kUnavailable,
                     says + ": somebody holds a lease of the service itself on this record");
  if (response.status >= 300 && response.status < 400)
    throw CallFailed(Kind::kUnavailable, says + ": redirects are not followed");
  const bool unknown = writes && (response.status >= 500 || response.status == 408 ||
                                  response.status == 410 || response.status < 300);
  throw CallFailed(Kind::kUnavailable, says, unknown, after);
}

}  // namespace tenure::client
