// push: what a tenant says where something is to be sent to; entries of the operator's list; a file of
// keys, and what is sealed with it.
//
// What must hold:
//  1. A url that is let through names a host that the list names, in one spelling: written again it is the
//     same target.
//  2. A host that is let through and that the system's reader of numbers would take for an address is
//     that very address, and a public one.
//  3. What is wrong can be printed, and does not quote the url.
//  4. What was not sealed with a key that we have does not open.
//  5. A subscription that is let through is within its bounds, its url and headers among them; a refusal is an answer
//     that can be read.
//  6. A pause that an endpoint asks for is between nothing and a day, whatever it says and whenever.

#include <arpa/inet.h>

#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "http/retry_after.hpp"
#include "push/cloud_event.hpp"
#include "push/put_body.hpp"
#include "push/signature.hpp"
#include "push/subscription.hpp"
#include "push/target.hpp"
#include "push/vault.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

void CheckUrl(std::string_view url) {
  const std::vector<push::AllowedHost> everything{{"*", false}};
  if (const auto problem = push::TargetProblem(everything, url)) {
    TENURE_CHECK(!problem->empty() && base::IsStorableText(*problem),
                 "a refusal cannot be printed");
    return;
  }
  const auto target = std::get<push::Target>(push::ParseTarget(url));
  const bool is_v6 = target.address && !target.address->is_v4;
  const std::string again = is_v6 ? fmt::format("https://[{}]:{}", target.host, target.port)
                                  : fmt::format("https://{}:{}", target.host, target.port);
  const auto same = push::ParseTarget(again);
  TENURE_CHECK(std::get<push::Target>(same).host == target.host, "a host has a second spelling");
  in_addr number{};
  if (inet_aton(target.host.c_str(), &number) == 0) return;
  TENURE_CHECK(target.address && target.address->is_v4, "a number is taken for a name");
  TENURE_CHECK(std::memcmp(target.address->bytes.data(), &number, sizeof number) == 0,
               "a number is another address to the system");
  TENURE_CHECK(!push::AddressProblem(*target.address),
               "an address is let through that is not public");
}

void CheckHost(std::string_view text) {
  const auto host = push::AllowedHost::Parse(text);
  if (!host) return;
  TENURE_CHECK(push::AllowedHost::Parse(host->ToString()) == host,
               "an entry does not survive being printed");
}

void CheckKeys(std::string_view text) {
  static const push::Vault ours =
      push::Vault::Parse("k:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=");
  TENURE_CHECK(!ours.Open(text, "context"), "something opens that nobody sealed");
  TENURE_CHECK(push::OpenSecrets(ours, base::Uuid(), text, 0).empty(), "a secret from nowhere");
  try {
    const push::Vault vault = push::Vault::Parse(text);
    TENURE_CHECK(vault.Open(vault.Seal(text, "context"), "context") == text,
                 "a seal does not open");
  } catch (const base::UserError& error) {
    TENURE_CHECK(base::IsStorableText(error.what()), "a refusal cannot be printed");
  }
}

/// Whatever stands in a message ends in headers that are headers.
void CheckEvent(std::string_view text) {
  const std::string type = push::TypeOf(text);
  const push::Event event{.id = "1",
                          .tenant = text,
                          .topic = text,
                          .type = type,
                          .time_ms = 0,
                          .trace_parent = {},
                          .kind = messages::PayloadKind::kBytes,
                          .payload = text};
  for (const auto& [name, value] : push::Encode(event, push::Format::kBinary).headers)
    TENURE_CHECK(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos,
                 "a header has a line of its own");
  static_cast<void>(push::HeaderProblem(text, text));
  if (const auto key = push::ParseSigningSecret(text))
    TENURE_CHECK(key->size() >= push::kMinSecretBytes, "a secret is too short");
}

void CheckPut(std::string_view json) {
  static const std::vector<push::AllowedHost> everything{{"*", false}};
  const PaddedBody body(json);
  std::optional<push::PutCommand> put;
  try {
    put = push::ReadPutBody(body.view(), {"t", "s"}, everything);
  } catch (const http::ProblemError& error) {
    // 422: it can be read and not meant.
    return CheckRefusal(error, error.problem().status == 422 ? 422 : 400);
  }
  TENURE_CHECK(!push::TargetProblem(everything, put->url), "a url that may not be is let through");
  TENURE_CHECK(!put->topic.empty() && base::IsStorableText(put->topic),
               "a topic that cannot be stored is let through");
  TENURE_CHECK(put->max_in_flight >= 1 && put->max_in_flight <= push::kMostInFlight,
               "more in flight than may be");
  TENURE_CHECK(put->timeout_ms >= push::kLeastTimeoutMs && put->timeout_ms <= push::kMostTimeoutMs,
               "a time-out beyond its bounds is let through");
  if (put->secret)
    TENURE_CHECK(push::ParseSigningSecret(*put->secret), "a secret that is none is let through");
  if (!put->headers) return;
  TENURE_CHECK(put->headers->size() <= push::kMaxHeaders, "more headers than may be");
  for (const auto& [name, value] : *put->headers)
    TENURE_CHECK(!push::HeaderProblem(name, value), "a header that is none is let through");
}

void CheckRetryAfter(std::string_view text) {
  constexpr std::int64_t kDayMs = 86'400'000;
  for (const std::int64_t now_ms : {std::int64_t{0}, std::int64_t{1'766'311'200'000}})
    if (const auto wait_ms = http::ParseRetryAfterMs(text, now_ms))
      TENURE_CHECK(*wait_ms >= 0 && *wait_ms <= kDayMs, "a pause beyond its bounds is let through");
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::AsText(data, size);
  tenure::fuzz::CheckUrl(text);
  tenure::fuzz::CheckHost(text);
  tenure::fuzz::CheckKeys(text);
  tenure::fuzz::CheckEvent(text);
  tenure::fuzz::CheckPut(text);
  tenure::fuzz::CheckRetryAfter(text);
  return 0;
}
