#pragma once

#include <string>

namespace tenure::base {

/// Of this machine; "localhost" when it has none.
std::string HostName();
/// "host:pid": this process, for people.
std::string HostAndPid();
/// "host:pid:random": this process, told apart from one that had its pid before. New in each call.
std::string NewProcessName();

}  // namespace tenure::base
