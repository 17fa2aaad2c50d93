#include "usage/reads.hpp"

#include "sessions/usage_seal.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {

db::Transaction::Pending QueueWindows(db::Transaction& tx, const WindowsRequest& request,
                                      std::int64_t rows) {
  return tx.Queue(sql::kListWindows, request.before, rows);
}

WindowView ReadWindowView(const db::Rows::Row& row) {
  return {ReadWindow(row), row.Int(9), row.Int(10)};
}

void CountUnsentRecords(db::Transaction& tx, db::Items<db::Nothing, UnsentReply> items) {
  const auto counted = tx.Queue(sql::kCountUnsent);
  const auto clock = tx.QueueClock();
  const db::Rows rows = tx.Take(counted);
  const UnsentReply reply{rows[0].Int(0), rows[0].Int(1), rows[0].Int(2), tx.TakeClock(clock)};
  for (auto* item : items) item->reply = reply;
}

void FindSpans(db::Transaction& tx, db::Items<SpanRequest, SpanReply> items) {
  for (auto* item : items) {
    const SpanRequest& request = item->request;
    const auto from =
        request.from ? tx.Queue(sql::kFindWindow, *request.from) : tx.Queue(sql::kReadFirstWindow);
    const auto to =
        request.to ? tx.Queue(sql::kFindWindow, *request.to) : tx.Queue(sql::kReadLastWindow);
    const auto factors = tx.Queue(sql::kLoadFactors);
    const std::int64_t removed_ms = sessions::ReadUsageSeal(tx).removed_ms;
    item->reply = SpanReply{ReadWindow(tx.Take(from)), ReadWindow(tx.Take(to)),
                            TakeFactors(tx.Take(factors)), removed_ms};
  }
}

db::Transaction::Pending QueueRefused(db::Transaction& tx, const RefusedRequest& request,
                                      std::int64_t rows) {
  return tx.Queue(sql::kListRefused, request.after.number, std::string_view(request.after.chunk),
                  rows);
}

Refused ReadRefused(const db::Rows::Row& row) {
  return db::ReadAs<Refused>(row, db::Inside(&Refused::name, kNameColumns), &Refused::session,
                             &Refused::refused_ms, &Refused::answer);
}

void LoadAllFactors(db::Transaction& tx, db::Items<db::Nothing, FactorsReply> items) {
  FactorsReply reply;
  TakeFactors(tx.Run(sql::kLoadFactors), &reply.factors);
  for (auto* item : items) item->reply = reply;
}

}  // namespace tenure::usage
