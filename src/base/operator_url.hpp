#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// What is wrong with an address that an operator gave and that something is sent to (usage, keys,
/// traces); nothing when it is as it must be:
///  - https://…, or http://… of a loopback address: nothing leaves this machine in clear text;
///  - a host, perhaps a port, a path, a query; no user or password, no fragment;
///  - plain characters only: nothing that one reader mends and another takes as it stands.
///
/// The problem is a phrase for the person who wrote the address ("it has a user or a password; …").
/// It does not quote the address, which may hold a secret.
std::optional<std::string> OperatorUrlProblem(std::string_view url);

/// Whether what is sent there crosses a network in clear text: it is http://… of a host that is not
/// this machine.
bool IsClearText(std::string_view url);

}  // namespace tenure::base
