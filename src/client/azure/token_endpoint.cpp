#include "client/azure/token_endpoint.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/ip.hpp"
#include "base/json_view.hpp"
#include "base/time_text.hpp"
#include "client/http/transport.hpp"
#include "client/url_parameters.hpp"
#include "http/retry_after.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using base::JsonView;

constexpr std::size_t kMostTokenAnswer = 64UL * 1024;

[[noreturn]] void FailToken(std::string_view mode, std::string_view why,
                            std::chrono::milliseconds retry_after = {}) {
  throw leases::ProviderUnavailable(fmt::format("no token ({}): {}", mode, why),
                                    {.retry_after = retry_after});
}

/// A number, or a text of digits: the endpoints do not agree.
std::optional<std::int64_t> WholeIn(const JsonView& object, std::string_view name) {
  const auto field = object.Find(name);
  if (!field) return std::nullopt;
  const std::string text = field->Text().value_or(std::string(field->text()));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The issuer's own words for a refusal: its error, and the number that its description begins with.
/// The rest of the description may repeat what was sent.
std::string RefusalCode(const http::ClientResponse& response) {
  const auto body = JsonView::Parse(response.body);
  const auto text = [&](const char* name) {
    const auto field = body ? body->Find(name) : std::nullopt;
    return field ? field->Text().value_or("") : "";
  };
  std::string code = text("error");
  const bool plain = code.size() <= 64 && std::ranges::all_of(code, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_';
                     });
  if (!plain) code.clear();
  const std::string description = text("error_description");
  if (description.starts_with("AADSTS")) {
    std::size_t end = 6;
    while (end < std::min<std::size_t>(description.size(), 16) &&
           std::isdigit(static_cast<unsigned char>(description[end])) != 0)
      ++end;
    code += (code.empty() ? "" : " ") + description.substr(0, end);
  }
  return code;
}

}  // namespace

http::ClientResponse AskForToken(const TokenRequest& request, std::chrono::milliseconds timeout) {
  const http::Url url = http::SplitUrl(request.url);
  http::Client client({.base_url = url.base,
                       .timeout_ms = timeout.count(),
                       .max_body_bytes = kMostTokenAnswer,
                       .ca_file = request.ca_file,
                       .hint = "is it the right endpoint for tokens?"});
  http::Client::Headers headers = request.headers;
  std::optional<std::string> body;
  if (request.method == http::Method::kPost) {
    headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    body = request.form;
  }
  try {
    return client.Send(request.method, url.path, body, headers);
  } catch (const base::Fault& fault) {
    FailToken(request.mode, fault.what());
  } catch (const base::UserError& error) {
    FailToken(request.mode, error.what());
  }
}

leases::AccessToken ReadToken(const http::ClientResponse& response, std::string_view mode,
                              bool until_counts) {
  if (response.status >= 300 && response.status < 400)
    FailToken(mode, "the endpoint redirects, which is not followed");
  if (response.status == 400 || response.status == 401 || response.status == 403) {
    const std::string code = RefusalCode(response);
    throw leases::AccessDenied(fmt::format("no token ({}): the endpoint answers {}{}{}", mode,
                                           response.status, code.empty() ? "" : " ", code),
                               {});
  }
  if (response.status != 200) {
    const auto after = response.FindHeader("Retry-After");
    const auto ms =
        after ? http::ParseRetryAfterMs(*after, base::SystemClock().WallMs()) : std::nullopt;
    FailToken(mode, fmt::format("the endpoint answers {}", response.status),
              std::chrono::milliseconds(ms.value_or(0)));
  }
  const auto body = JsonView::Parse(response.body);
  if (!body || body->kind() != JsonView::Kind::kObject)
    FailToken(mode, "the endpoint answers no JSON object");
  const auto token = body->Find("access_token");
  auto text = token ? token->Text() : std::nullopt;
  // It goes into a header.
  const bool plain = text && !text->empty() && std::ranges::all_of(*text, [](unsigned char c) {
                       return c > ' ' && c < 0x7f;
                     });
  if (!plain) FailToken(mode, "the endpoint's answer has no access_token");
  auto life_s = WholeIn(*body, "expires_in");
  if (!life_s && until_counts) {
    const auto until_s = WholeIn(*body, "expires_on");
    const auto date = response.FindHeader("Date");
    const auto now_ms = date ? base::ParseHttpDateMs(*date) : std::nullopt;
    if (until_s && now_ms) life_s = *until_s - *now_ms / 1'000;
  }
  if (!life_s || *life_s <= 0 || *life_s > 1'000'000'000)
    FailToken(mode, "the endpoint's token has no expires_in");
  return {.text = *std::move(text), .lifetime = std::chrono::seconds(*life_s)};
}

std::string FormBody(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::string body;
  for (const auto& [name, value] : fields)
    body += fmt::format("{}{}={}", body.empty() ? "" : "&", name, Encoded(value));
  return body;
}

void CheckIdentityEndpoint(const std::string& url, const std::string& what) {
  const bool http = url.starts_with("http://");
  if ((!http && !url.starts_with("https://")) || url.find_first_of("@# ") != std::string::npos)
    throw std::invalid_argument(fmt::format("{} is no address of an endpoint", what));
  if (!http) return;
  std::string host = http::SplitUrl(url).base.substr(7);
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  static const auto link_local = base::IpBlock::Parse("169.254.0.0/16");
  const auto address = base::IpAddress::Parse(host);
  if (IsLoopbackHost(host) || (address && link_local->Contains(*address))) return;
  throw std::invalid_argument(
      fmt::format("{} is plain http to another machine: tokens would cross the network", what));
}

}  // namespace tenure::client
