#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "db/method.hpp"
#include "seats/command.hpp"
#include "seats/json.hpp"
#include "seats/probe.hpp"

namespace tenure::seats {

// Looks: licences, holdings, the line, the log. `tenant` empty: any.

struct LicenseView {
  LicenseRow license{};
  LineCounts line{};
  std::int64_t frozen_until_ms = 0;
  std::int64_t now_ms = 0;
};

struct FindLicenseRequest {
  std::string tenant{};
  base::Uuid id{};

  std::size_t bytes() const { return tenant.size(); }
};
struct FindLicenseReply {
  std::optional<LicenseView> license{};
};
void FindLicenses(db::Transaction& tx, db::Items<FindLicenseRequest, FindLicenseReply> items);

struct LicensesRequest {
  std::string tenant{};
  std::optional<Standing> state{};
  std::string key_hint{};
  base::Uuid after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, key_hint); }
};
db::Transaction::Pending QueueLicenses(db::Transaction& tx, const LicensesRequest& request,
                                       std::int64_t rows, std::int64_t now_ms);
LicenseView ReadLicenseView(const db::Rows::Row& row, std::int64_t now_ms);

/// Holdings of a licence, newest first: by fence, or for those that are over by their place in the log.
struct HoldingsRequest {
  enum class State { kStanding, kActive, kLapsed, kEnded };
  base::Uuid license{};
  State state = State::kStanding;  ///< active and lapsed
  std::string machine{};           ///< empty: any
  std::optional<std::string> person{};
  std::int64_t before = kNever;  ///< the fence or the place behind which the page begins
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(machine, person); }
};
/// A holding, and where it stands in the list.
struct ListedHolding {
  Holding holding{};
  std::int64_t place = 0;
};
db::Transaction::Pending QueueHoldings(db::Transaction& tx, const HoldingsRequest& request,
                                       std::int64_t rows, std::int64_t now_ms);
ListedHolding ReadHolding(const db::Rows::Row& row, std::int64_t now_ms);

struct FindHoldingRequest {
  std::string tenant{};
  base::Uuid session{};

  std::size_t bytes() const { return tenant.size(); }
};
struct FindHoldingReply {
  std::optional<Holding> holding{};
};
/// By its seat, else by the log.
void FindHoldings(db::Transaction& tx, db::Items<FindHoldingRequest, FindHoldingReply> items);

struct TicketsRequest {
  base::Uuid license{};
  std::int64_t after = 0;
  std::int64_t limit = 100;
};
struct ListedTicket {
  TicketRow row{};
  std::int64_t offer_ends_ms = 0;
  std::int64_t now_ms = 0;
};
db::Transaction::Pending QueueTickets(db::Transaction& tx, const TicketsRequest& request,
                                      std::int64_t rows);
ListedTicket ReadTicket(const db::Rows::Row& row, std::int64_t now_ms);

struct LogRequest {
  base::Uuid license{};
  std::int64_t from = 0;  ///< the first seq of the page
  std::string kind{};     ///< empty: any
  std::int64_t since_ms = 0;
  std::int64_t limit = 100;

  std::size_t bytes() const { return kind.size(); }
};
db::Transaction::Pending QueueLog(db::Transaction& tx, const LogRequest& request,
                                  std::int64_t rows);
LogEntry ReadLogEntry(const db::Rows::Row& row);

struct LevelsRequest {
  std::int64_t most = 1'000;
};
struct LevelsReply {
  std::vector<Level> levels{};
};
/// How full the largest licences are, and all others together.
void ReadLevels(db::Transaction& tx, db::Items<LevelsRequest, LevelsReply> items);

std::string LicenseViewJson(const LicenseView& view);
std::string LicensesJson(const db::Page<LicenseView>& page);
std::string HoldingsJson(const db::Page<ListedHolding>& page);
std::string TicketsJson(const db::Page<ListedTicket>& page);
std::string LogJson(const db::Page<LogEntry>& page);

}  // namespace tenure::seats
