#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenure::webhooks::rules {

/// What GitHub signs a body with. Never shown, compared or logged.
using Secrets = std::span<const std::string>;

/// The header X-Hub-Signature-256 as it is sent: "sha256=" and 64 hex digits.
std::string SignatureOf(std::string_view body, const std::string& secret);

/// Whether one of the `secrets` signed `body`. `given` are all values of X-Hub-Signature-256: none,
/// several and one that is malformed are wrong, and look like a wrong one.
///
/// Every secret is tried whatever the others say, and compared in constant time: how long it takes
/// tells nothing about any of them.
bool IsSigned(std::string_view body, std::span<const std::string_view> given, Secrets secrets);

}  // namespace tenure::webhooks::rules
