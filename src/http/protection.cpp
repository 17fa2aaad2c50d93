#include "http/protection.hpp"

#include <charconv>

#include "http/text.hpp"

namespace tenure::http {
namespace {

[[noreturn]] void RefuseForeign(std::string_view detail) {
  throw ProblemError({.status = 403,
                      .type = "protected-mode",
                      .title = "Without authentication only local clients are served",
                      .detail = std::string(detail)});
}

bool IsNumber(std::string_view text, int most) {
  int value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && stopped == text.data() + text.size();
  return all && text.front() != '-' && value <= most;
}

/// Four decimal numbers, the first of them 127.
bool IsLoopbackV4(std::string_view text) {
  if (!text.starts_with("127.")) return false;
  int parts = 1;
  for (std::size_t dot = 3; dot != std::string_view::npos; ++parts) {
    text.remove_prefix(dot + 1);
    dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.size() > 3 || !IsNumber(part, 255)) return false;
  }
  return parts == 4;
}

bool IsProxyHeader(std::string_view name) {
  return EqualsNoCase(name, "Forwarded") || EqualsNoCase(name, "Via") ||
         EqualsNoCase(name, "X-Real-IP") || StartsWithNoCase(name, "X-Forwarded-");
}

/// A browser opens the answer as a page of its own, since somebody followed a link.
bool IsNavigation(const Request& request) {
  return request.method == Method::kGet && request.FindHeader("Sec-Fetch-Mode") == "navigate" &&
         request.FindHeader("Sec-Fetch-Dest") == "document";
}

bool IsSameOrigin(std::string_view origin, std::string_view scheme, std::string_view host) {
  if (!StartsWithNoCase(origin, scheme)) return false;
  origin.remove_prefix(scheme.size());
  return origin.starts_with("://") && EqualsNoCase(origin.substr(3), host);
}

}  // namespace

bool IsLocalHost(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && !host.ends_with(']');
  if (has_port) {
    if (!IsNumber(host.substr(colon + 1), 65'535)) return false;
    host = host.substr(0, colon);
  }
  return EqualsNoCase(host, "localhost") || host == "[::1]" || IsLoopbackV4(host);
}

void RefuseVisit() { RefuseForeign("Sec-Fetch-Site says that another site asks."); }

bool CheckLocal(const Request& request, std::string_view scheme) {
  const std::string_view host = request.FindHeader("Host").value_or(std::string_view());
  if (!IsLocalHost(host))
    RefuseForeign("The Host header does not name this machine; use localhost, 127.0.0.1 or [::1].");
  bool visit = false;
  for (const auto& [name, value] : request.headers) {
    switch (name.front() | 0x20) {  // most headers begin with none of these letters
      case 'o':
        if (EqualsNoCase(name, "Origin") && !IsSameOrigin(value, scheme, host))
          RefuseForeign("The Origin is another site.");
        break;
      case 's':
        if (EqualsNoCase(name, "Sec-Fetch-Site") && value != "same-origin" && value != "none") {
          if (!IsNavigation(request)) RefuseVisit();
          visit = true;
        }
        break;
      case 'f':
      case 'v':
      case 'x':
        if (IsProxyHeader(name)) RefuseForeign("The request came through a proxy.");
        break;
      default:
        break;
    }
  }
  return visit;
}

}  // namespace tenure::http
