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

#include <arpa/inet.h>

#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "push/cloud_event.hpp"
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

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::AsText(data, size);
  tenure::fuzz::CheckUrl(text);
  tenure::fuzz::CheckHost(text);
  tenure::fuzz::CheckKeys(text);
  tenure::fuzz::CheckEvent(text);
  return 0;
}
