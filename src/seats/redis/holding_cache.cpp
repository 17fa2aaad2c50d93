#include "seats/redis/holding_cache.hpp"

#include <utility>

namespace tenure::seats {

std::optional<HoldingFacts> HoldingCache::Find(const base::Uuid& session) {
  const base::Lock lock(mutex_);
  auto found = young_.find(session);
  if (found == young_.end()) {
    const auto before = old_.find(session);
    if (before == old_.end()) return std::nullopt;
    Known known = std::move(before->second);
    old_.erase(before);
    Put(session, std::move(known));
    found = young_.find(session);
  }
  const Known& known = found->second;
  if (!known.terms->is_true) return std::nullopt;
  return HoldingFacts{.license = known.terms->license,
                      .slot = known.slot,
                      .fence = known.fence,
                      .tenant = known.terms->tenant,
                      .person = known.person,
                      .ttl_ms = known.terms->ttl_ms,
                      .revision = known.terms->revision};
}

void HoldingCache::Remember(const base::Uuid& session, const HoldingFacts& facts) {
  const base::Lock lock(mutex_);
  std::shared_ptr<Terms>& terms = terms_[facts.license];
  // An older reading must not stand for what is known already.
  if (terms && facts.revision < terms->revision) return;
  if (!terms || facts.revision > terms->revision) {
    if (terms) terms->is_true = false;
    terms =
        std::make_shared<Terms>(Terms{facts.license, facts.tenant, facts.ttl_ms, facts.revision});
  }
  Put(session, {terms, facts.person, facts.slot, facts.fence});
}

void HoldingCache::Put(const base::Uuid& session, Known known) {
  if (young_.size() >= half_) {
    old_ = std::exchange(young_, {});
    std::erase_if(terms_, [](const auto& each) { return each.second.use_count() == 1; });
  }
  young_[session] = std::move(known);
}

std::vector<base::Uuid> HoldingCache::Licenses() {
  const base::Lock lock(mutex_);
  std::vector<base::Uuid> licenses;
  licenses.reserve(terms_.size());
  for (const auto& [license, terms] : terms_) licenses.push_back(license);
  return licenses;
}

void HoldingCache::Learn(const base::Uuid& license, std::int64_t revision) {
  const base::Lock lock(mutex_);
  const auto found = terms_.find(license);
  if (found != terms_.end() && found->second->revision < revision) ForgetTerms(license);
}

void HoldingCache::Forget(const base::Uuid& license) {
  const base::Lock lock(mutex_);
  ForgetTerms(license);
}

void HoldingCache::ForgetTerms(const base::Uuid& license) {
  const auto found = terms_.find(license);
  if (found == terms_.end()) return;
  found->second->is_true = false;
  terms_.erase(found);
}

}  // namespace tenure::seats
