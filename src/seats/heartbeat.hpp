#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "db/operation.hpp"
#include "seats/command.hpp"

namespace tenure::seats {

/// A Redis is to keep the seats' heartbeats, until their horizon.
struct Adoption {
  std::int64_t epoch = 0;
  std::int64_t horizon_ms = 0;  ///< from now on
};
struct BeatRequest {
  std::string tenant{};
  std::string person{};
  std::vector<base::Uuid> sessions{};
  std::optional<Adoption> adoption{};

  std::size_t bytes() const { return db::BytesOf(tenant, person, sessions); }
};
/// Its row alone does not tell: its licence does.
struct AskLicense {
  base::Uuid license{};
};
using BeatAnswer = std::variant<Beat, AskLicense, NoSession, Forgotten>;
/// What of a seat that was adopted goes into its record.
struct Adopted {
  base::Uuid license{};
  std::int64_t slot = 0;
  std::int64_t fence = 0;
  std::int64_t ttl_ms = 0;      ///< and grace
  std::int64_t horizon_ms = 0;  ///< from the adoption on
};
struct BeatReply {
  std::vector<BeatAnswer> answers{};  ///< in the order of the sessions
  std::vector<std::optional<Adopted>>
      adopted{};  ///< the same, of an adoption; those that were renewed
  std::int64_t now_ms = 0;
};

/// Renews live holdings. It locks their rows and nothing else, skips those that somebody has locked,
/// and so never waits: heartbeats of thousands go on while a licence is settled, and cannot deadlock
/// with it.
///
/// Why it is right without the licence's lock: a row that is locked here cannot be given away (settle
/// skips it when it looks for lapsed rows, and waits for it otherwise), and whether it is live is decided
/// by the clock that is read after the lock. A renewal only moves a deadline on, so the licence's look_ms
/// stays a lower bound. The licence's own columns are read without a lock: a suspension that commits
/// meanwhile comes after this heartbeat.
///
/// An adoption is a heartbeat that also says how far a Redis may promise the seat from now on; its epoch may
/// be over already, which does no harm: a row's epoch is never lowered.
///
/// What is not a live holding of the caller on an active licence is left to settle.
class BeatHandler final : public db::TypedHandler<BeatRequest, BeatReply> {
 public:
  std::string_view name() const override { return "seats.heartbeat"; }
  db::LaneName lane() const override { return db::LaneName::NeverWaits(); }
  /// Of the first session.
  std::size_t KeyHash(const BeatRequest& request) const override;

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::seats
