#include "seats/acquire_body.hpp"

#include "base/utf8.hpp"
#include "seats/keys.hpp"

namespace tenure::seats {
namespace {

/// What is cut off is at most so long.
constexpr std::size_t kMaxGivenUserAgentBytes = 64 << 10;

/// The first bytes of a text, without half a character at the end.
std::string CutTo(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

}  // namespace

AcquireBody ReadAcquire(http::JsonFields& fields) {
  AcquireBody body;
  AcquireCommand& command = body.command;
  body.license_key = fields.NonEmptyText("license_key", kMaxKeyBytes);
  command.machine = fields.NonEmptyText("machine_id", kMaxMachineBytes);
  if (base::HasControls(command.machine))
    fields.Refuse("machine_id", "must not have control characters");
  command.user_agent = CutTo(
      fields.OptionalText("user_agent", kMaxGivenUserAgentBytes).value_or(""), kMaxUserAgentBytes);
  // What counts is where the request came from.
  fields.OptionalText("ip_address", kMaxMachineBytes);
  command.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes).value_or("");
  command.former = fields.OptionalUuid("former_session_id");
  body.wait_ms = fields.OptionalInteger("wait_seconds", 0, kMaxWaitMs / 1'000).value_or(0) * 1'000;
  fields.Finish();
  return body;
}

}  // namespace tenure::seats
