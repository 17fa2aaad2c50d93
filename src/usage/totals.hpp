#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/task.hpp"
#include "sessions/sessions.hpp"
#include "usage/look.hpp"

namespace tenure::usage {

struct TotalsRequest {
  SpanRequest span{};
  std::optional<base::Uuid> user{};
  std::optional<base::Uuid> tenant{};
  std::optional<base::Uuid> capacity{};
};
struct TotalsReply {
  SpanReply span{};
  std::int64_t sessions = 0;  ///< with active time in the span
  std::int64_t micros = 0;
  bool is_complete = true;  ///< false: sessions of that time may have been removed
};

/// Adds up what sessions used in a span of windows, a page of sessions at a time. For each session
/// one subtraction is enough: the windows between telescope.
class Totaller : public std::enable_shared_from_this<Totaller> {
 public:
  using Done = base::UniqueFunction<db::Result<TotalsReply>>;
  static void Run(sessions::Sessions& sessions, const TotalsRequest& request, SpanReply span,
                  base::Executor* home, Done done);

 private:
  void NextPage();
  void Add(const sessions::Session& session);

  sessions::Sessions* sessions_ = nullptr;
  sessions::ListRequest page_{};
  base::Executor* home_ = nullptr;
  TotalsReply reply_{};
  Done done_{};
};

}  // namespace tenure::usage
