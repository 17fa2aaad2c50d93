#include "http/expected_revision.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace tenure::http {

std::optional<std::int64_t> ExpectedRevision(const Request& request) {
  const auto header = request.FindHeader("If-Match");
  if (!header) return std::nullopt;
  std::string_view text = *header;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  std::int64_t revision = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || stop != text.data() + text.size())
    RefuseField("If-Match", "must be a revision, as the thing shows it");
  return revision;
}

}  // namespace tenure::http
