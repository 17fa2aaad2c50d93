// The small readers: decimals, durations, sizes, rates, addresses, times, ids, base64, operators'
// URLs; and what a proxy passes on about its client.
//
// What must hold: what is read and printed again is read as the same. Where a value has only one
// spelling, that one comes back. And whatever a client sends: when a trusted proxy appends an
// address that is not trusted, that is the client's.

#include "base/base64.hpp"
#include "base/decimal.hpp"
#include "base/ip.hpp"
#include "base/operator_url.hpp"
#include "base/rate.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"
#include "config/kinds.hpp"
#include "http/trusted_proxies.hpp"
#include "sink/record.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;

void CheckNumbers(std::string_view text) {
  if (const auto millionths = base::ParseMillionths(text))
    TENURE_CHECK(base::ParseMillionths(base::MillionthsText(*millionths)) == millionths ||
                     *millionths > 1'000'000'000'000'000'000,
                 "a decimal does not survive being printed");
  if (const auto micros = sink::ParseMicros(text))
    TENURE_CHECK(base::MillionthsText(*micros) == text, "usage has a second spelling");
  if (const auto ms = base::ParseDurationMs(text)) {
    TENURE_CHECK(*ms >= 0, "a duration is negative");
    TENURE_CHECK(base::ParseDurationMs(base::DurationText(*ms)) == ms,
                 "a duration does not survive being printed");
  }
  if (const auto bytes = config::ParseByteSize(text))
    TENURE_CHECK(config::ParseByteSize(config::ByteSizeText(*bytes)) == bytes,
                 "a size does not survive being printed");
  if (const auto rate = base::ParseRate(text))
    TENURE_CHECK(base::ParseRate(base::RateText(*rate)) == rate,
                 "a rate does not survive being printed");
}

void CheckTimes(std::string_view text) {
  for (const auto ms :
       {base::ParseUtcMs(text), base::ParseRfc3339Ms(text), base::ParseHttpDateMs(text)})
    if (ms && *ms >= 0 && *ms < kYear10000Ms) {
      TENURE_CHECK(base::ParseUtcMs(base::UtcText(*ms)) == ms,
                   "a time does not survive being printed");
      TENURE_CHECK(base::ParseRfc3339Ms(base::UtcText(*ms)) == ms,
                   "a time does not survive being printed");
    }
}

void CheckTexts(std::string_view text) {
  if (const auto bytes = base::DecodeBase64(text))
    TENURE_CHECK(base::EncodeBase64(*bytes) == text, "bytes have a second spelling");
  TENURE_CHECK(base::DecodeBase64(base::EncodeBase64(text)) == text, "bytes do not survive base64");
  if (const auto id = base::Uuid::Parse(text))
    TENURE_CHECK(base::Uuid::Parse(id->ToString()) == id, "an id does not survive being printed");
  if (const auto address = config::ParseAddress(text))
    TENURE_CHECK(config::ParseAddress(config::AddressText(*address)) == address,
                 "an address does not survive being printed");
  if (const auto problem = base::OperatorUrlProblem(text))
    TENURE_CHECK(!problem->empty() && base::IsStorableText(*problem), "a problem without words");
}

void CheckHosts(std::string_view text) {
  if (const auto address = base::IpAddress::Parse(text))
    TENURE_CHECK(base::IpAddress::Parse(address->ToString()) == address,
                 "a host does not survive being printed");
  if (const auto block = base::IpBlock::Parse(text))
    TENURE_CHECK(base::IpBlock::Parse(block->ToString()) == block,
                 "a block does not survive being printed");
  const auto proxy = *base::IpAddress::Parse("10.0.0.1");
  const auto client = *base::IpAddress::Parse("192.0.2.1");
  for (const auto by : {http::ForwardedBy::kXForwardedFor, http::ForwardedBy::kForwarded}) {
    const bool standard = by == http::ForwardedBy::kForwarded;
    const http::TrustedProxies proxies({*base::IpBlock::Parse("10.0.0.0/8")}, by);
    const std::string value = std::string(text) + (standard ? ", for=192.0.2.1" : ", 192.0.2.1");
    http::Request request;
    request.headers = {{standard ? "Forwarded" : "X-Forwarded-For", text}};
    proxies.ClientOf(proxy, request);
    request.headers.front().value = value;
    TENURE_CHECK(proxies.ClientOf(proxy, request) == client, "a client hides behind its own words");
  }
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::AsText(data, size);
  tenure::fuzz::CheckNumbers(text);
  tenure::fuzz::CheckTimes(text);
  tenure::fuzz::CheckTexts(text);
  tenure::fuzz::CheckHosts(text);
  return 0;
}
