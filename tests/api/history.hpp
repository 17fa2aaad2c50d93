#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/json.hpp"

namespace tenure::api {

/// A session as the store has it.
struct SessionRow {
  std::string id;
  std::string tenant;
  std::string user;
  std::string capacity;
  std::int64_t turn = 0;
  std::int64_t kind = 0;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t end_reason = 0;  ///< 0 open, 1 upgraded, 2 deleted, 3 expired

  bool IsOpen() const { return end_reason == 0; }
};

/// What contradicts S1 and the rules of PUT in the whole history of a store, in sentences:
///  - a key has at most one open session, and it is its latest;
///  - turns count 1, 2, 3 …, the intervals of a key do not overlap;
///  - where a session was upgraded, its successor starts at its end and has a higher kind.
std::vector<std::string> Contradictions(std::vector<SessionRow> rows);

/// The same as the list API says it: the items of all pages.
SessionRow FromJson(const support::Json& session);

}  // namespace tenure::api
