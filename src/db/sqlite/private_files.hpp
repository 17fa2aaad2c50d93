#pragma once

#include <filesystem>

namespace tenure::db::sqlite {

/// The folder that a store is kept in: made for this user alone where there is none. One that is
/// there stays as it is, with the rights that its owner gave it; one of another owner is refused,
/// since he could replace what is in it. Throws base::UserError.
void UsePrivateFolder(const std::filesystem::path& directory);

/// Makes the file, for this user alone, where there is none: SQLite would make it for everybody whom
/// the umask lets in, and gives the files beside it the rights of this one. One that is there stays
/// as it is. Throws base::UserError.
void MakePrivateFile(const std::filesystem::path& path);

}  // namespace tenure::db::sqlite
