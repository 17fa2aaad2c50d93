#include "sink/receiver.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "http/json_fields.hpp"
#include "sink/record.hpp"

namespace tenure::sink {
namespace {

using http::ExchangePtr;
using http::Method;
using http::QueryFields;

constexpr std::string_view kWrite = "usages:write";
constexpr std::string_view kRead = "usages:read";
constexpr std::size_t kMaxFaultsBytes = 4'096;

/// A word of ?by= and the field that names the id.
struct Sorting {
  std::string_view word;
  What what;
  std::string_view field;
};
constexpr std::array<Sorting, 5> kSortings{{{"all", What::kAll, ""},
                                            {"session", What::kSession, "sessionId"},
                                            {"user", What::kUser, "userObjectId"},
                                            {"tenant", What::kTenant, "tenantObjectId"},
                                            {"capacity", What::kCapacity, "capacityId"}}};

const Sorting& SortingOf(std::string_view word) {
  for (const Sorting& one : kSortings)
    if (one.word == word) return one;
  http::RefuseField("by", "must be all, session, user, tenant or capacity");
}

/// A page ends with a cursor when there is more behind it: one more was asked for.
template <class Item, class CursorOf>
std::string TakeCursor(std::vector<Item>& items, std::int64_t limit, CursorOf cursor_of) {
  if (items.size() <= static_cast<std::size_t>(limit)) return {};
  items.pop_back();
  return cursor_of(items.back());
}

void WriteCursor(base::JsonWriter& json, const std::string& cursor) {
  json.Key("nextCursor");
  cursor.empty() ? json.Null() : json.Value(cursor);
}

http::Problem Conflict(const std::vector<std::string>& ids) {
  http::Problem problem{.status = 422,
                        .type = "usage-conflict",
                        .title = "A record came again with other content",
                        .detail = "Nothing of this request was applied."};
  for (const std::string& id : ids)
    problem.errors.push_back({"recordId", fmt::format("{} was applied before, and said otherwise "
                                                      "then",
                                                      id)});
  return problem;
}

http::Problem Injected(int status) {
  http::Problem problem{.status = status,
                        .type = "injected-fault",
                        .title = "This receiver was told to fail",
                        .detail = "See GET /faults. Nothing was applied."};
  if (status == 429 || status == 503) problem.retry_after_s = 1;
  return problem;
}

/// Until the client has had enough, or the receiver stops.
void Hang(const ExchangePtr& exchange) {
  exchange->OnClientGone([exchange] {});  // nobody is left to be answered
  exchange->OnStopping([exchange] { exchange->HangUp(); });
}

}  // namespace

Receiver::Receiver(RecordStore& store, Faults faults, std::uint64_t seed)
    : store_(store), faults_(std::move(faults)), random_(seed) {}

void Receiver::AddRoutes(http::Router& router) {
  const auto add = [&](Method method, std::string pattern, std::string operation,
                       std::string_view scope, void (Receiver::*handler)(const ExchangePtr&)) {
    router.Add({method, std::move(pattern), std::move(operation), std::string(scope),
                [this, handler](const ExchangePtr& exchange) { (this->*handler)(exchange); }});
  };
  add(Method::kPost, "/usages", "postUsages", kWrite, &Receiver::Post);
  add(Method::kGet, "/totals", "getTotals", kRead, &Receiver::GetTotals);
  add(Method::kGet, "/records", "getRecords", kRead, &Receiver::GetRecords);
  add(Method::kGet, "/faults", "getFaults", kRead, &Receiver::GetFaults);
  add(Method::kPut, "/faults", "putFaults", kWrite, &Receiver::PutFaults);
}

void Receiver::Post(const ExchangePtr& exchange) {
  const std::optional<InjectedFault> fault = faults_.Draw(random_);
  const std::vector<Record> records = ReadRecords(exchange->request().body);
  for (const Record& record : records)
    if (const auto status = faults_.RefusalOf(record.session))
      return exchange->Reply(Injected(*status));
  if (fault) {
    if (fault->kind == InjectedFault::Kind::kStatus)
      return exchange->Reply(Injected(fault->status));
    if (fault->kind == InjectedFault::Kind::kHang) return Hang(exchange);
    if (fault->kind == InjectedFault::Kind::kDropBefore) return exchange->HangUp();
  }
  const Applied outcome = store_.Apply(records);
  duplicates_ += outcome.duplicate;
  if (fault) return exchange->HangUp();  // it is in the books, and the sender cannot know
  if (!outcome.conflicts.empty()) return exchange->Reply(Conflict(outcome.conflicts));
  std::string body;
  base::JsonWriter(body)
      .BeginObject()
      .Field("applied", outcome.applied)
      .Field("duplicate", outcome.duplicate)
      .EndObject();
  exchange->ReplyJson(std::move(body));
}

void Receiver::GetTotals(const ExchangePtr& exchange) {
  QueryFields query(exchange->request().query);
  const std::string by = query.Text("by", 16).value_or("all");
  const std::int64_t limit = query.PageLimit();
  const auto after = query.Uuid("cursor");
  query.Finish();
  const Sorting& sorting = SortingOf(by);
  std::vector<Total> totals = store_.Totals(sorting.what, after, limit + 1);
  const std::string cursor =
      TakeCursor(totals, limit, [](const Total& total) { return total.id.ToString(); });
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const Total& total : totals) {
    json.BeginObject();
    if (!sorting.field.empty()) json.Field(sorting.field, total.id);
    json.Field("records", total.records)
        .Key("usage")
        .Raw(base::MillionthsText(total.usage))
        .EndObject();
  }
  json.EndArray();
  WriteCursor(json, cursor);
  json.Field("conflicts", store_.Conflicts()).EndObject();
  exchange->ReplyJson(std::move(body));
}

void Receiver::GetRecords(const ExchangePtr& exchange) {
  QueryFields query(exchange->request().query);
  const auto session = query.Uuid("sessionId");
  const std::int64_t limit = query.PageLimit();
  const std::int64_t after = query.Integer("cursor", 0, kMaxWindow).value_or(0);
  query.Finish();
  if (!session) http::RefuseField("sessionId", "is required");
  std::vector<Record> records = store_.Records(*session, after, limit + 1);
  const std::string cursor = TakeCursor(
      records, limit, [](const Record& record) { return fmt::to_string(record.window); });
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const Record& record : records) WriteRecord(json, record);
  json.EndArray();
  WriteCursor(json, cursor);
  json.EndObject();
  exchange->ReplyJson(std::move(body));
}

void Receiver::GetFaults(const ExchangePtr& exchange) {
  std::string body;
  base::JsonWriter(body).BeginObject().Field("faults", faults_.text()).EndObject();
  exchange->ReplyJson(std::move(body));
}

void Receiver::PutFaults(const ExchangePtr& exchange) {
  http::JsonFields fields(exchange->request().body);
  const std::string text = fields.Text("faults", kMaxFaultsBytes);
  fields.Finish();
  try {
    faults_ = Faults::Parse(text);
  } catch (const base::UserError& error) {
    http::RefuseField("faults", error.what());
  }
  GetFaults(exchange);
}

}  // namespace tenure::sink
