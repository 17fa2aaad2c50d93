// seats::ReadAcquire and seats::IsKeyText: what a stranger says who wants a seat, and a licence's key.
//
// What must hold:
//  1. What is let through is within its bounds, and can be stored: the machine, the user agent, the metadata.
//  2. A key that is let through is printable ASCII, and its hint does not tell it.
//  3. A refusal is an answer that can be read, and it does not tell the key.

#include <algorithm>
#include <optional>
#include <string>

#include "base/utf8.hpp"
#include "http/json_fields.hpp"
#include "seats/acquire_body.hpp"
#include "seats/keys.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

void CheckKey(std::string_view key) {
  if (!seats::IsKeyText(key)) return;
  TENURE_CHECK(key.size() >= seats::kMinKeyBytes && key.size() <= seats::kMaxKeyBytes,
               "a key beyond its bounds is let through");
  TENURE_CHECK(std::ranges::all_of(key, [](char c) { return c >= ' ' && c <= '~'; }),
               "a key with something else than printable ASCII is let through");
  TENURE_CHECK(seats::HintOfKey(key).size() <= key.size() / 2, "a hint tells the key");
  TENURE_CHECK(seats::HashOfKey(key).size() == 32, "a key has no hash");
}

void CheckAcquire(std::string_view json) {
  const PaddedBody body(json);
  std::optional<seats::AcquireBody> read;
  try {
    http::JsonFields fields(body.view());
    read = seats::ReadAcquire(fields);
  } catch (const http::ProblemError& error) {
    CheckRefusal(error);
    return;
  }
  const seats::AcquireCommand& command = read->command;
  TENURE_CHECK(!command.machine.empty() && command.machine.size() <= seats::kMaxMachineBytes,
               "a machine beyond its bounds is let through");
  TENURE_CHECK(std::ranges::none_of(command.machine, [](char c) { return c >= 0 && c < ' '; }),
               "a machine with control characters is let through");
  TENURE_CHECK(command.user_agent.size() <= seats::kMaxUserAgentBytes, "a user agent is not cut");
  TENURE_CHECK(command.metadata.size() <= seats::kMaxMetadataBytes, "metadata beyond its bound");
  for (const std::string* text : {&command.machine, &command.user_agent, &command.metadata})
    TENURE_CHECK(base::IsStorableText(*text), "a text that cannot be stored is let through");
  TENURE_CHECK(read->wait_ms >= 0 && read->wait_ms <= seats::kMaxWaitMs, "a wait beyond its bound");
  CheckKey(read->license_key);
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::AsText(data, size);
  tenure::fuzz::CheckKey(text);
  tenure::fuzz::CheckAcquire(text);
  return 0;
}
