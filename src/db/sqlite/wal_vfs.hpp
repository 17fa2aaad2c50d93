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
const char* WalVfsName();

}  // namespace tenure::db::sqlite
