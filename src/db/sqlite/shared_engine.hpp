#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "db/engine.hpp"
#include "db/sqlite/file_clock.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db::sqlite {

/// A store in the file `path` (made where it is missing, with `<path>.side` and `<path>.lock`
/// beside it) for any number of processes of one machine: what the lease library uses without a
/// server. The server's own store (engine.hpp) stays one process's.
///
/// Why it is right with many processes:
///  - Every write is one BEGIN IMMEDIATE: transactions of all processes follow one another, and the
///    clock (shared_clock.hpp) is read after that lock was taken. One that cannot have it within
///    two seconds is kContended; one whose process dies is rolled back by whoever comes next.
///  - The first process of a boot fixes the clock and runs `on_reboot` in the same transaction, so
///    it happens once and before anybody of this boot does anything: whoever held something died
///    with the last boot.
///  - Identity: the file has a nonce, the side file has the same one, and each open changes both.
///    The change is several steps (side file with both nonces; commit; side file with the new one),
///    all under flock(2) on the lock file, so two processes that open at once change it one after
///    the other: without it, one's last step could put back a nonce that the other's commit has
///    replaced, and look like a restored copy. A process that dies between the steps leaves a side
///    file that has the file's nonce in any case, and the kernel lets go of the lock.
///  - The side file also has the clock's mark, noted every few seconds by whoever commits (under
///    the same lock, keeping the nonces). It is behind the file's mark, and a copy that is put back
///    is behind it. A copy that is younger than the last note goes unnoticed, unless it has another
///    nonce.
///  - A file that is replaced while processes have it open is noticed at their next transaction;
///    they open the new one, and every new connection checks the identity.
///
/// Nothing here ever opens the database file but SQLite: closing any descriptor of it would let go
/// of all of the process's locks on it. The file must lie on a local file system.
///
/// `on_reboot` (null: none) gets ?1 = the store's time in milliseconds, as text: cast it. `boot_id`
/// is a test's.
///
/// Throws base::UserError when the machine's clock cannot be trusted, kStoreUnavailable when the
/// file cannot be made.
std::unique_ptr<Engine> MakeSharedEngine(const std::filesystem::path& path,
                                         const base::Clock& clock, telemetry::Registry& metrics,
                                         const Query* on_reboot = nullptr,
                                         std::string boot_id = MachineBootId());

}  // namespace tenure::db::sqlite
