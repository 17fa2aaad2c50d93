#include "http/fences.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kFenceHeader = "Tenure-Fence";
constexpr std::string_view kDefaultTenant = "default";
constexpr std::size_t kMaxFences = 8;
constexpr std::size_t kMaxNameBytes = 200;

[[noreturn]] void RefuseFence(std::string message) {
  throw ProblemError(InvalidRequest({{std::string(kFenceHeader), std::move(message)}}));
}

bool IsNameByte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("._:/@-").find(c) != std::string_view::npos;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(), IsNameByte);
}

std::optional<std::int64_t> ParseFence(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value < 1 || value > kMaxFence)
    return std::nullopt;
  return value;
}

base::Fence Parse(std::string_view claim, const Principal& principal) {
  const std::size_t equals = claim.find('=');
  const std::string_view name = claim.substr(0, equals);
  const auto fence =
      equals == std::string_view::npos ? std::nullopt : ParseFence(claim.substr(equals + 1));
  if (!IsName(name) || !fence)
    RefuseFence(
        fmt::format("must be name=fence: a name of 1 to {} of A-Z a-z 0-9 . _ : / @ - and a whole "
                    "number from 1 to {}",
                    kMaxNameBytes, kMaxFence));
  return {principal.tenant.value_or(std::string(kDefaultTenant)), std::string(name), *fence};
}

}  // namespace

std::vector<base::Fence> ReadFences(const Request& request) {
  std::vector<base::Fence> fences;
  if (request.method == Method::kGet || request.method == Method::kHead) return fences;
  for (const auto& [name, value] : request.headers) {
    if (!EqualsNoCase(name, kFenceHeader)) continue;
    for (std::string_view rest = value;;) {
      const std::size_t comma = rest.find(',');
      if (fences.size() == kMaxFences)
        RefuseFence(fmt::format("must not name more than {} fences", kMaxFences));
      fences.push_back(Parse(Trim(rest.substr(0, comma)), *request.principal));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return fences;
}

}  // namespace tenure::http
