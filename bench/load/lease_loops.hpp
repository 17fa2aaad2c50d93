#pragma once

#include "options.hpp"

namespace bench {

// Closed loops over leases, the same for every peer (lease_peers.hpp). Options: --peer, --port,
// --seconds, --connections. Both print {pairs|renewals, seconds, rate, latency}.

/// Each connection takes a name that nobody had before, releases it, takes the next. With `--names`
/// the names of a connection are that many and come back.
int Pairs(const Options& options);

/// Each connection holds `--held` names and renews one of them after another.
int Renewals(const Options& options);

}  // namespace bench
