#pragma once

#include <string_view>

#include "http/message.hpp"

namespace tenure::http {

/// Protected mode: nobody has to show a token, so only programs of this machine may ask, and no
/// web page may ask through the browser of somebody who sits at it. Throws ProblemError 403 for
///  - a Host that is not this machine by a name that no DNS server can redirect (DNS rebinding),
///  - an Origin other than the very scheme, host and port that is addressed (a foreign page; "null"
///    too),
///  - a Sec-Fetch-Site other than "same-origin" and "none",
///  - any trace of a proxy: what is behind it is not local.
/// `scheme` is what this server speaks: "http" or "https".
void CheckLocal(const Request& request, std::string_view scheme);

/// "localhost", 127.0.0.0/8 or [::1], with or without a port. Names below localhost are not
/// accepted: some resolvers ask the network for them.
bool IsLocalHost(std::string_view host);

}  // namespace tenure::http
