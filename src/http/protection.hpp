#pragma once

#include <string_view>

#include "http/message.hpp"

namespace tenure::http {

/// Protected mode: nobody has to show a token, so only programs of this machine may ask, and no
/// web page may ask through the browser of somebody who sits at it. Throws ProblemError 403 for
///  - a Host that is not this machine by a name that no DNS server can redirect (DNS rebinding),
///  - an Origin other than the very scheme, host and port that is addressed (a foreign page; "null"
///    too),
///  - a Sec-Fetch-Site other than "same-origin" and "none", unless it is a visit (below),
///  - any trace of a proxy: what is behind it is not local.
/// `scheme` is what this server speaks: "http" or "https".
///
/// Returns whether it is a visit: somebody followed a link of another site to open a page here. Only
/// a route that shows a page without data may answer one; a frame, a script or a fetch is none.
bool CheckLocal(const Request& request, std::string_view scheme);

/// Of a visit to anything but a page.
[[noreturn]] void RefuseVisit();

/// "localhost", 127.0.0.0/8 or [::1], with or without a port. Names below localhost are not
/// accepted: some resolvers ask the network for them.
bool IsLocalHost(std::string_view host);

}  // namespace tenure::http
