#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::audit {

/// One row of the audit.
struct Entry {
  std::int64_t sequence = 0;
  std::int64_t at_ms = 0;
  std::string tenant{};  ///< of who did it; empty: a command on the store itself
  std::string person{};  ///< empty: not known
  std::string address{};
  std::string request_id{};
  std::string act{};
  std::string object{};
  std::string detail{};  ///< a JSON object
};

/// Where an entry stands in the list. Times come first: people ask for times, and a number is taken
/// before its transaction commits.
struct Place {
  std::int64_t at_ms = 0;
  std::int64_t sequence = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// "1766311200000-42": a cursor. Empty when it is none.
std::string ToText(const Place& place);
std::optional<Place> ParsePlace(std::string_view text);

}  // namespace tenure::audit
