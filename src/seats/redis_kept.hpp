#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "db/method.hpp"
#include "seats/heartbeat.hpp"
#include "seats/redis_epoch.hpp"

namespace tenure::seats {

// What a process asks the store about seats whose heartbeats a Redis keeps.

/// A holding as far as heartbeats are concerned. Its seat and its fence never change, its licence's
/// terms do with the revision.
struct HoldingFacts {
  base::Uuid license{};
  std::int64_t slot = 0;
  std::int64_t fence = 0;
  std::string tenant{};
  std::string person{};
  std::int64_t ttl_ms = 0;  ///< and grace
  std::int64_t revision = 0;
};
struct FactsRequest {
  std::vector<base::Uuid> sessions{};
  std::size_t bytes() const { return db::BytesOf(sessions); }
};
struct FactsReply {
  /// In the order of the sessions. Nothing: not a live holding on an active licence.
  std::vector<std::optional<HoldingFacts>> facts{};
};
void FindFacts(db::Transaction& tx, db::Items<FactsRequest, FactsReply> items);

struct RevisionsRequest {
  std::vector<base::Uuid> licenses{};
  std::size_t bytes() const { return db::BytesOf(licenses); }
};
struct RevisionsReply {
  std::vector<std::int64_t> revisions{};  ///< in the order of the licences; 0: there is none
};
void ReadRevisions(db::Transaction& tx, db::Items<RevisionsRequest, RevisionsReply> items);

/// Licences with seats that the store does not promise any more, and a Redis may.
struct KeptRequest {
  base::Uuid after{};
  std::size_t bytes() const { return sizeof(KeptRequest); }
};
struct KeptReply {
  std::vector<base::Uuid> licenses{};
};
void FindKept(db::Transaction& tx, db::Items<KeptRequest, KeptReply> items);

/// Seats that a Redis knows nothing of, though it may have promised them: they are adopted on nobody's
/// behalf, and can testify a ttl later. Each only while it is as it was read.
struct AbsentRequest {
  base::Uuid license{};
  std::int64_t epoch = 0;
  std::vector<CandidatesReply::Seat> seats{};

  std::size_t bytes() const { return seats.size() * sizeof(CandidatesReply::Seat); }
};
struct AbsentReply {
  std::vector<Adopted> adopted{};
};
void AdoptAbsent(db::Transaction& tx, db::Items<AbsentRequest, AbsentReply> items);

}  // namespace tenure::seats
