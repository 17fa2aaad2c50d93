#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "sessions/session.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

/// What is needed to write the records of some sessions of a window.
struct Material {
  Window window{};
  Factors factors{};
  std::vector<sessions::Session> sessions{};  ///< by id
};

/// One record as JSON: the same bytes whenever it is written, by format 1. Its `recordId` is what a
/// receiver applies once (U2); it also is in the answer of GET …/records.
void AppendRecord(std::string& out, const Window& window, const Factors& factors,
                  const sessions::Session& session);
/// All of them, as the array that is sent.
std::string RecordsJson(const Material& material);

/// A page of a window's records.
struct RecordsRequest {
  std::int64_t number = 0;
  std::optional<base::Uuid> user{};
  std::optional<base::Uuid> tenant{};
  std::optional<base::Uuid> capacity{};
  std::optional<base::Uuid> after{};  ///< the last session of the page before
  std::int64_t limit = 100;
  bool of_nobody = false;  ///< who asks may see none of them, whatever the others say
};
struct RecordsReply {
  std::optional<Material> material{};  ///< none: there is no such window
  bool is_removed = false;  ///< sessions of that time may be gone: what is left is not the whole
  bool has_more = false;
};
void ListWindowRecords(db::Transaction& tx, db::Items<RecordsRequest, RecordsReply> items);

/// A chunk, with all that is to be sent.
struct LoadReply {
  std::optional<Chunk> chunk{};  ///< none: it was acknowledged, or divided
  Material material{};
};
void LoadChunks(db::Transaction& tx, db::Items<ChunkName, LoadReply> items);

}  // namespace tenure::usage
