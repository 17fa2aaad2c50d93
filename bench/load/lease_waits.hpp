#pragma once

#include "options.hpp"

namespace bench {

// What happens to one lease of Tenure over time. Each prints one JSON object.

/// One releases, another waits for it, perhaps at another server: how long from the sending of the
/// release until the waiter has its grant. --port (of the waiter), --release-port, --count.
int HandOver(const Options& options);

/// Holders that renew once and fall silent, a waiter for each: how long from the sending of the
/// last renewal until the waiter has its grant. --port, --count (so many at once), --ttl-ms.
int Takeover(const Options& options);

/// Takes --count leases for ten minutes and renews them all in calls of --batch each, on one
/// connection. REQUIRES: they were never granted before (`--first` makes others).
int HoldMany(const Options& options);

/// --count requests that wait for leases which HoldMany took, until they are told to go.
int Wait(const Options& options);

}  // namespace bench
