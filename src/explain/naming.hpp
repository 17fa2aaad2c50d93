#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "explain/glance.hpp"

namespace tenure::explain {

/// Counts whose things are named, of one kind: of each tenant kMostNamed, so that one tenant's hide no other's.
class Naming {
 public:
  /// Of all tenants together.
  static constexpr std::size_t kMostOfAll = 1'000;

  /// Whether one more of this tenant is.
  bool Takes(const std::string& tenant) {
    if (all_ >= kMostOfAll || of_tenant_[tenant] >= kMostNamed) return false;
    ++all_;
    ++of_tenant_[tenant];
    return true;
  }

 private:
  std::size_t all_ = 0;
  std::map<std::string, std::size_t> of_tenant_;
};

}  // namespace tenure::explain
