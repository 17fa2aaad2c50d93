#include "config/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/utf8.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kQuotedBytes = 60;

bool IsContinuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

constexpr std::size_t kLongestWord = 100;  // the table below grows with its square

/// Damerau-Levenshtein distance with neighbouring letters swapped at most once each.
std::size_t Distance(std::string_view left, std::string_view right) {
  const std::size_t columns = right.size() + 1;
  std::vector<std::size_t> cells((left.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return cells[i * columns + j];
  };
  for (std::size_t i = 0; i <= left.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= right.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t changed = at(i - 1, j - 1) + (left[i - 1] == right[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, changed});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(left.size(), right.size());
}

}  // namespace

std::string Printable(std::string_view text) { return base::Printable(text); }

std::string Quoted(std::string_view text) {
  const bool cut = text.size() > kQuotedBytes;
  if (cut) {
    std::size_t end = kQuotedBytes;
    while (end > 0 && IsContinuation(text[end])) --end;
    text = text.substr(0, end);
  }
  return '"' + Printable(text) + (cut ? "…\"" : "\"");
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t columns = 0;
  for (const char byte : text)
    if (!IsContinuation(byte)) ++columns;
  return columns;
}

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = Distance(word, candidate);
    // A third of the letters: "sesions" finds "sessions", "log" does not find "data".
    if (distance > std::max<std::size_t>(1, candidate.size() / 3)) continue;
    if (nearest && distance >= least) continue;
    nearest = &candidate;
    least = distance;
  }
  if (!nearest) return std::nullopt;
  return *nearest;
}

}  // namespace tenure::config
