#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
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
using WindowsReply = db::Page<WindowView>;  ///< the latest first
db::Transaction::Pending QueueWindows(db::Transaction& tx, const WindowsRequest& request,
                                      std::int64_t rows);
WindowView ReadWindowView(const db::Rows::Row& row);

struct UnsentReply {
  std::int64_t records = 0;
  std::int64_t refused_records = 0;
  std::int64_t oldest_ms = 0;  ///< the end of the oldest window of them; 0: there are none
  std::int64_t now_ms = 0;
};
void CountUnsentRecords(db::Transaction& tx, db::Items<db::Nothing, UnsentReply> items);

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
void FindSpans(db::Transaction& tx, db::Items<SpanRequest, SpanReply> items);

struct TotalsRequest {
  SpanRequest span{};
  std::optional<base::Uuid> user{};
  std::optional<base::Uuid> tenant{};
  std::optional<base::Uuid> capacity{};
  bool of_nobody = false;  ///< who asks may see none of it, whatever the others say
};
struct TotalsReply {
  SpanReply span{};
  std::int64_t sessions = 0;  ///< with active time in the span
  std::int64_t micros = 0;
  bool is_complete = true;  ///< false: sessions of that time may have been removed
};

/// A record that the receiver refuses, and with which words. Its message is a dead letter.
struct Refused {
  ChunkName name{};
  base::Uuid session{};
  std::int64_t refused_ms = 0;
  std::string answer{};
};
struct RefusedRequest {
  ChunkName after{};  ///< the last one of the page before
  std::int64_t limit = 100;

  std::size_t bytes() const { return after.bytes(); }
};
using RefusedReply = db::Page<Refused>;  ///< by window, then by chunk
db::Transaction::Pending QueueRefused(db::Transaction& tx, const RefusedRequest& request,
                                      std::int64_t rows);
Refused ReadRefused(const db::Rows::Row& row);

struct FactorsReply {
  std::vector<Factor> factors{};  ///< by kind, then by `from_ms`
};
void LoadAllFactors(db::Transaction& tx, db::Items<db::Nothing, FactorsReply> items);

}  // namespace tenure::usage
