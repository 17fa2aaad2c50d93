#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "http/router.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kJson = "application/json";

bool Takes(const Route& route, std::string_view type) {
  if (route.content_types.empty()) return EqualsNoCase(type, kJson);
  return std::any_of(route.content_types.begin(), route.content_types.end(),
                     [&](std::string_view taken) { return EqualsNoCase(type, taken); });
}

bool BringsABody(const Request& request) {
  return std::any_of(request.headers.begin(), request.headers.end(), [](const auto& header) {
    return EqualsNoCase(header.name, "Transfer-Encoding") ||
           (EqualsNoCase(header.name, "Content-Length") && Trim(header.value) != "0");
  });
}

}  // namespace

/// Also for a write without a body: a form of a foreign page cannot send JSON's type, so asking for
/// it keeps such forms out. A form cannot send a PATCH either: one that says nothing needs no type.
void CheckContentType(const Route& route, const Request& request) {
  bool taken = request.method == Method::kPatch && !BringsABody(request);
  for (const auto& [name, value] : request.headers) {
    if (!EqualsNoCase(name, "Content-Type")) continue;
    taken = Takes(route, Trim(value.substr(0, value.find(';'))));
    if (!taken) break;
  }
  if (taken) return;
  const bool json = route.content_types.empty();
  throw ProblemError(
      {.status = 415,
       .type = "unsupported-media-type",
       .title = json ? "Only JSON is understood" : "This type of content is not understood here",
       .detail = fmt::format(
           "Send the header Content-Type: {}.",
           json ? std::string(kJson) : fmt::format("{}", fmt::join(route.content_types, " or ")))});
}

}  // namespace tenure::http
