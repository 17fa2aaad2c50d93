#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "http/client.hpp"
#include "tenure/leases/errors.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::providers {

// What a Tenure server answered, read into the library's types. It may not be Tenure that answers:
// whatever cannot be read is ProviderUnavailable, with an unknown outcome.

leases::AcquireOutcome ReadAcquired(const http::ClientResponse& response,
                                    const leases::LeaseError::About& about);
std::vector<leases::RenewOutcome> ReadRenewals(const http::ClientResponse& response,
                                               std::size_t count,
                                               const leases::LeaseError::About& about);
leases::ReleaseOutcome ReadReleased(const http::ClientResponse& response,
                                    const leases::LeaseError::About& about);
std::optional<leases::BreakOutcome> ReadBroken(const http::ClientResponse& response,
                                               const leases::LeaseError::About& about);
std::optional<leases::LeaseView> ReadLease(const http::ClientResponse& response,
                                           const leases::LeaseError::About& about);
std::vector<leases::LeaseView> ReadLeases(const http::ClientResponse& response);
leases::ClaimOutcome ReadClaimed(const http::ClientResponse& response,
                                 const leases::LeaseError::About& about);
leases::FinishOutcome ReadFinished(const http::ClientResponse& response,
                                   const leases::LeaseError::About& about);

}  // namespace tenure::providers
