#include "auth/token_cache.hpp"

namespace tenure::auth {

bool TokenCache::IsFresh(const CachedToken& entry, std::uint64_t generation) const {
  return entry.generation == generation && clock_.WallMs() < entry.expires_wall_ms &&
         clock_.BootMs() - entry.since_boot_ms < kMaxAgeMs;
}

http::PrincipalPtr TokenCache::Find(const Digest& token, std::uint64_t generation) {
  const base::Lock lock(mutex_);
  if (const auto found = young_.find(token); found != young_.end()) {
    if (IsFresh(found->second, generation)) return found->second.principal;
    young_.erase(found);
    return nullptr;
  }
  auto node = old_.extract(token);
  if (node.empty() || !IsFresh(node.mapped(), generation)) return nullptr;
  http::PrincipalPtr principal = node.mapped().principal;
  InsertLocked(token, std::move(node.mapped()));
  return principal;
}

void TokenCache::Insert(const Digest& token, CachedToken entry) {
  entry.since_boot_ms = clock_.BootMs();
  const base::Lock lock(mutex_);
  InsertLocked(token, std::move(entry));
}

void TokenCache::InsertLocked(const Digest& token, CachedToken entry) {
  if (young_.size() >= kMaxEntries / 2) {
    old_ = std::move(young_);
    young_ = Map();
  }
  young_.insert_or_assign(token, std::move(entry));
}

std::size_t TokenCache::size() const {
  const base::Lock lock(mutex_);
  return young_.size() + old_.size();
}

}  // namespace tenure::auth
