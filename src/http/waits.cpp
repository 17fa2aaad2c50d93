#include "http/waits.hpp"

#include <fmt/format.h>

namespace tenure::http {
namespace {

constexpr int kRetryWaitSeconds = 5;

/// Lengths in front: no two people are written the same. Empty: nobody is known.
std::string NameOf(const Principal& principal) {
  if (!principal.tenant) return {};
  return fmt::format("{}:{}/{}", principal.tenant->size(), *principal.tenant, principal.person);
}

}  // namespace

Waits::Share Waits::Begin(const Principal& principal, std::size_t things) {
  std::string person = NameOf(principal);
  const base::Lock lock(mutex_);
  if (all_ + things > bounds_.all)
    throw ProblemError({.status = 503,
                        .type = "overloaded",
                        .title = "The server has more work than it can bear",
                        .detail = "Too much is waited for in this process. Nothing happened. Ask "
                                  "another one, or ask again later or without wait_ms.",
                        .retry_after_s = kRetryWaitSeconds});
  if (!person.empty()) {
    std::size_t& own = of_person_[person];
    if (own + things > bounds_.of_person) {
      if (own == 0) of_person_.erase(person);
      throw ProblemError({.status = 429,
                          .type = "too-many-waits",
                          .title = "One person waits for too much",
                          .detail = fmt::format("All requests of one person may wait for {} things "
                                                "together. Nothing happened.",
                                                bounds_.of_person),
                          .retry_after_s = kRetryWaitSeconds});
    }
    own += things;
  }
  all_ += things;
  return {shared_from_this(), std::move(person), things};
}

void Waits::End(const std::string& person, std::size_t things) {
  const base::Lock lock(mutex_);
  all_ -= things;
  if (person.empty()) return;
  const auto found = of_person_.find(person);
  if ((found->second -= things) == 0) of_person_.erase(found);
}

}  // namespace tenure::http
