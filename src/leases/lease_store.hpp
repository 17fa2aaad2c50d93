#pragma once

#include <memory>

#include "cli/server.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::leases {

/// --store and what belongs to it: the flags of commands that work on a store of leases without a
/// server, too.
cli::Flags StoreFlags();

/// The store that --store names; null: there is no --store. Throws cli::UsageError for what can be
/// mended by another command line or another setting of the store, base::UserError for a password
/// that is not taken, base::Fault when nothing answers.
std::unique_ptr<Provider> OpenLeaseStore(const cli::Given& given);

/// Answers looks at leases, and breaks, from that store as a server would. Empty without --store.
cli::Answerer LeaseStore(const cli::Given& given);

/// For a `catch` block: throws what a store threw as what ends a command with the right code.
[[noreturn]] void RethrowForCommand();

}  // namespace tenure::leases
