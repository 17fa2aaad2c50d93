#pragma once

namespace tenure::db::sqlite {

/// The name of a VFS that is the system's own, except that what is appended to a write-ahead log
/// is gathered and written in one piece when SQLite syncs. SQLite itself makes two system calls per
/// page, which is half of what a batch of inserts costs. Registered by the first call; any thread.
///
/// Why nothing is lost by it: with synchronous=FULL a commit is a sync of the log, and only after
/// that sync does SQLite publish the frames to other connections. Until then nobody but the writing
/// connection reads them, through the same file object, which writes first whatever it has
/// gathered. A failed write shows at the sync instead of before it: in both cases COMMIT fails.
///
/// Only for a file with one writing connection at a time. What is gathered by a transaction that is
/// then given up (it had spilled its cache into the log, or the disk was full) stays here until the
/// next read, write or close writes it out. By then another connection may have committed frames in
/// the same place, and they would be overwritten. The same connection begins its next transaction
/// there itself: it writes the old bytes first and its own over them. A file that several processes
/// share therefore uses the system's VFS (Sharing::kShared).
const char* WalVfsName();

}  // namespace tenure::db::sqlite
