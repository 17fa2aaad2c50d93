#include "auth/refused_tokens.hpp"

namespace tenure::auth {

std::size_t RefusedTokens::PlaceOf(const Digest& token) const {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the digest's bytes as text
  return hash_({reinterpret_cast<const char*>(token.data()), token.size()}) % kEntries;
}

std::optional<std::string> RefusedTokens::Find(const Digest& token,
                                               std::uint64_t generation) const {
  const std::size_t place = PlaceOf(token);
  const base::Lock lock(mutex_);
  const Entry& entry = entries_[place];
  const bool known = entry.token == token && entry.generation == generation &&
                     clock_.BootMs() < entry.until_boot_ms;
  if (!known) return std::nullopt;
  return entry.why;
}

void RefusedTokens::Insert(const Digest& token, std::uint64_t generation, std::string_view why) {
  const std::size_t place = PlaceOf(token);
  const std::int64_t until_boot_ms = clock_.BootMs() + kMaxAgeMs;
  const base::Lock lock(mutex_);
  entries_[place] = {token, generation, until_boot_ms, std::string(why)};
}

}  // namespace tenure::auth
