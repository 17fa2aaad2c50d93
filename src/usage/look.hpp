#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "db/operation.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

struct WindowView {
  Window window{};
  std::int64_t unsent_records = 0;   ///< not acknowledged, of those that are in chunks
  std::int64_t refused_records = 0;  ///< of them those that the receiver refuses
};
struct WindowsRequest {
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  std::int64_t limit = 100;
};
struct WindowsReply {
  std::vector<WindowView> windows{};  ///< the latest first
  bool has_more = false;
};
class WindowsHandler final : public db::TypedHandler<WindowsRequest, WindowsReply> {
 public:
  std::string_view name() const override { return "usage.windows"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct UnsentRequest {};
struct UnsentReply {
  std::int64_t records = 0;
  std::int64_t refused_records = 0;
  std::int64_t oldest_ms = 0;  ///< the end of the oldest window of them; 0: there are none
  std::int64_t now_ms = 0;
};
class UnsentHandler final : public db::TypedHandler<UnsentRequest, UnsentReply> {
 public:
  std::string_view name() const override { return "usage.unsent"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

/// A span of windows, with what it takes to compute usage in it.
struct SpanRequest {
  std::optional<std::int64_t> from{};  ///< none: the oldest on record
  std::optional<std::int64_t> to{};    ///< none: the latest
};
struct SpanReply {
  std::optional<Window> from{};  ///< none: there is no such window
  std::optional<Window> to{};
  Factors factors{};
  std::int64_t removed_ms = 0;
};
class SpanHandler final : public db::TypedHandler<SpanRequest, SpanReply> {
 public:
  std::string_view name() const override { return "usage.span"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::usage
