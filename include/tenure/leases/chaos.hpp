#pragma once

#include <cstdint>
#include <memory>

#include "tenure/leases/provider.hpp"

namespace tenure::leases {

/// How often what goes wrong, in parts of 1. What happens is decided by the seed alone.
struct ChaosOptions {
  std::uint64_t seed = 1;
  double failure = 0;     ///< the call fails and nothing happens
  double lost_reply = 0;  ///< the call is carried out, and its caller hears that it may have been
  double duplicate = 0;   ///< the call is carried out twice; the caller gets the second answer
  double delay = 0;       ///< the call takes longer, by up to max_delay
  Milliseconds max_delay{50};
};

/// Wraps a provider with seeded trouble, to see how a program bears it.
std::unique_ptr<Provider> MakeChaosProvider(std::unique_ptr<Provider> inner,
                                            const ChaosOptions& options);

}  // namespace tenure::leases
