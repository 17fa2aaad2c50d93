#pragma once

#include <array>
#include <optional>

#include "db/method.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

// What happens under the seal, or moves it (sessions/usage_seal.hpp).

/// In millionths, by kind.
using SeedFactors = std::array<std::int64_t, kKinds>;

struct SealRequest {
  std::int64_t interval_ms = 60'000;
  bool send = false;  ///< somebody is to be told of it
  SeedFactors factors{1'000'000, 2'000'000, 3'000'000};
};
struct SealReply {
  std::optional<Window> sealed{};  ///< none: none is due
};

/// Closes the next window, if its end has come.
///
/// Why nothing lands in a closed window (U1). Let n be the window that ends at E, sealed by T.
///  - A transaction that starts or ends a session and held the seal (shared) before T did has
///    committed before T goes on: its change is in the window's content, which is read later.
///  - One that takes the seal after T has committed reads sealed_ms >= E in a later statement, and
///    its instant is not before that (sessions/usage_seal.hpp).
///  - There is no third case: the seal is held from before the clock is read until COMMIT, alone by
///    T. On SQLite the write transaction itself is the seal.
/// That E has passed by the store's clock is not needed for this; it only keeps instants near the
/// clock. A clock that was ahead and is set back makes instants stand still at E until it has
/// caught up; time that nobody was active in by any record is charged to nobody.
///
/// Two who try at once: the second one finds the first one's window. A crash before COMMIT leaves
/// nothing; a lost reply is answered by the next look.
class SealHandler final : public db::TypedHandler<SealRequest, SealReply> {
 public:
  std::string_view name() const override { return "usage.seal"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }
  bool reads() const override { return true; }

 protected:
  /// Answers when none is due, without the seal.
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
};

struct SetFactorRequest {
  int kind = 1;
  std::int64_t millionths = 0;
  std::int64_t interval_ms = 60'000;
  SeedFactors seed{1'000'000, 2'000'000, 3'000'000};
};
struct SetFactorReply {
  Factor factor{};
};

/// Sets what a kind costs, from the next window on. Saying again what was said last changes
/// nothing, so a lost reply does no harm.
///
/// Under the seal, so no window is closed meanwhile: the boundary from which it counts lies after
/// the end of every closed window, and whatever was written of those stays as it was.
void SetFactors(db::Transaction& tx, db::Items<SetFactorRequest, SetFactorReply> items);

struct TidyRequest {
  std::int64_t retention_ms = 0;  ///< of windows
};

/// Notes until when all usage is acknowledged (sessions/usage_seal.hpp), which lets sessions be
/// removed, and forgets old windows.
db::Swept SettleAndForget(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms);

struct SendRequest {
  std::int64_t from = 1;
};
struct SendReply {
  std::int64_t windows = 0;
};

/// Windows that were closed while there was no endpoint are sent after all; not those of whose time
/// sessions may have been removed. Under the lock of the seal, so none is removed meanwhile, and
/// afterwards the windows count as not settled.
void ReopenWindows(db::Transaction& tx, db::Items<SendRequest, SendReply> items);

}  // namespace tenure::usage
