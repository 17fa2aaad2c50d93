#include "queues/letters.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/json_writer.hpp"
#include "db/keys.hpp"
#include "queues/columns.hpp"
#include "queues/enqueue.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

using What = AgainRequest::What;

std::int64_t NumberOf(LetterFilter::Which which) { return static_cast<std::int64_t>(which); }

using Places = std::set<std::pair<base::Uuid, std::int64_t>>;

/// What is found for one request, and what became of it.
class Again {
 private:
  auto columns() const { return db::Columns(places_, &Place::session, &Place::sequence); }

 public:
  /// `taken`: letters that are another's of this transaction.
  Again(db::Transaction& tx, const AgainRequest& request, Places& taken)
      : tx_(tx), request_(request), places_(FindHistoryOr(taken)) {
    reply_.found = std::ssize(places_);
    send_ = {request.tenant, request.queue, {}, true};
    if (request.dry_run || places_.empty()) return;
    if (request.what == What::kDiscard) {
      tx.Queue(sql::kDiscardLetters, columns());
      reply_.changed = reply_.found;
      return;
    }
    for (const auto row : tx.Run(sql::kLoadAgain, columns())) send_.messages.push_back(Read(row));
  }

  /// Null: there is nothing to send.
  const SendRequest* send() const { return send_.messages.empty() ? nullptr : &send_; }
  void Sent(const SendReply& sent) {
    reply_.kind = sent.kind;
    if (sent.kind != SendReply::Kind::kSent) return;
    reply_.changed = std::ssize(sent.messages);
    if (request_.what == What::kLetters)
      tx_.Queue(sql::kMarkReplayed, columns(), tx_.TakeClock(tx_.QueueClock()));
    else if (request_.clear_state)
      tx_.Queue(sql::kClearState, sent.messages.front().session);
  }
  const AgainReply& reply() const { return reply_; }

 private:
  /// Those before the first that is too much.
  void Cut(std::vector<Place>& places, const std::vector<std::int64_t>& bytes) {
    std::int64_t sum = 0;
    std::size_t count = 0;
    while (count < places.size() && (count == 0 || sum + bytes[count] <= kMaxAgainBytes))
      sum += bytes[count++];
    if (count < places.size()) reply_.next = places[count].sequence;
    places.resize(count);
  }
  std::vector<Place> FindHistoryOr(Places& taken) {
    return request_.what == What::kHistory ? FindHistory() : LockLetters(taken);
  }
  std::vector<Place> FindHistory() {
    std::vector<Place> places;
    std::vector<std::int64_t> bytes;
    for (const auto row :
         tx_.Run(sql::kFindHistory, std::string_view(request_.tenant),
                 std::string_view(request_.queue), request_.session, request_.from,
                 request_.to > 0 ? request_.to : std::int64_t{1} << 53, request_.limit + 1)) {
      places.push_back({request_.session, row.Int(0)});
      bytes.push_back(row.Int(1));
    }
    if (std::ssize(places) > request_.limit) {
      reply_.next = places.back().sequence;
      places.pop_back();
    }
    Cut(places, bytes);
    return places;
  }
  /// In the order of the request.
  std::vector<Place> LockLetters(Places& taken) {
    const std::vector<Place>& asked = request_.places;
    std::vector<Place> places;
    std::vector<std::int64_t> bytes;
    for (const auto row : tx_.Run(sql::kLockLetters, std::string_view(request_.tenant),
                                  std::string_view(request_.queue),
                                  db::Columns(asked, &Place::session, &Place::sequence))) {
      const Place& place = asked[row.ordinal()];
      if (taken.contains({place.session, place.sequence})) continue;
      places.push_back(place);
      bytes.push_back(row.Int(0));
    }
    if (request_.what != What::kDiscard) Cut(places, bytes);
    if (!request_.dry_run)
      for (const Place& each : places) taken.emplace(each.session, each.sequence);
    return places;
  }
  static NewMessage Read(const db::Rows::Row& row) {
    NewMessage message;
    db::ReadInto(message, row, 0, &NewMessage::key, &NewMessage::name, &NewMessage::entity,
                 &NewMessage::share, &NewMessage::replay_of, &NewMessage::event_id,
                 &NewMessage::kind, &NewMessage::payload, &NewMessage::payload_bytes,
                 &NewMessage::correlation_id, &NewMessage::headers, &NewMessage::trace,
                 &NewMessage::copy);
    return message;
  }

  db::Transaction& tx_;
  const AgainRequest& request_;
  AgainReply reply_;
  const std::vector<Place> places_;
  SendRequest send_;
};

}  // namespace

db::Transaction::Pending QueueLetters(db::Transaction& tx, const LettersRequest& request,
                                      std::int64_t rows) {
  const LetterFilter& filter = request.filter;
  return tx.Queue(sql::kListLetters, std::string_view(filter.tenant),
                  std::string_view(filter.queue), NumberOf(filter.which),
                  filter.reason ? static_cast<std::int64_t>(*filter.reason) : std::int64_t{-1},
                  std::string_view(filter.error_class), std::int64_t{filter.session ? 1 : 0},
                  filter.session.value_or(base::Uuid()), std::string_view(filter.entity),
                  filter.since_ms, request.after_ms, request.after.session, request.after.sequence,
                  rows);
}

Letter ReadLetter(const db::Rows::Row& row) {
  return db::ReadAs<Letter>(
      row, &Letter::dead_ms, db::Inside(&Letter::place, &Place::session, &Place::sequence),
      &Letter::parked, &Letter::key, &Letter::name, &Letter::entity, &Letter::generation,
      &Letter::id, &Letter::reason, &Letter::attempts, &Letter::error, &Letter::error_class,
      &Letter::replayed_ms, &Letter::followers, &Letter::bytes);
}

db::Transaction::Pending QueueLetterSums(db::Transaction& tx, const LetterSumsRequest& request,
                                         std::int64_t rows) {
  return tx.Queue(sql::kSumLetters, std::string_view(request.filter.tenant),
                  std::string_view(request.filter.queue), NumberOf(request.filter.which), rows);
}

LetterSum ReadLetterSum(const db::Rows::Row& row) {
  return db::ReadAs<LetterSum>(row, &LetterSum::reason, &LetterSum::error_class,
                               &LetterSum::letters, &LetterSum::sessions, &LetterSum::oldest_ms,
                               &LetterSum::newest_ms);
}

/// Letters are locked before sessions, and nobody waits for letters (lock_letters.sql): no two wait
/// for each other.
Effects AgainHandler::WriteItems(db::Transaction& tx, Items items) {
  Enqueuer enqueuer(process_);
  Places taken;
  std::deque<Again> each;
  std::vector<const SendRequest*> sends;
  for (const auto* item : items)
    if (const SendRequest* send = each.emplace_back(tx, item->request, taken).send())
      sends.push_back(send);
  std::vector<SendReply> sent;
  if (!sends.empty()) sent = enqueuer.Add(tx, sends);
  std::size_t next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& item = *items[i];
    if (each[i].send()) each[i].Sent(sent[next++]);
    item.reply = each[i].reply();
    if (!item.actor() || item.reply->changed == 0) continue;
    std::string detail;
    base::JsonWriter(detail)
        .BeginObject()
        .Field("reason", std::string_view(item.request.reason))
        .Field("messages", item.reply->changed)
        .EndObject();
    item.Did({item.request.queue, std::move(detail)});
  }
  return enqueuer.effects();
}

void FindStates(db::Transaction& tx, db::Items<StateRequest, StateReply> items) {
  for (auto* item : items) {
    StateReply reply;
    const db::Rows rows = tx.Run(sql::kFindState, std::string_view(item->request.tenant),
                                 std::string_view(item->request.queue), item->request.session);
    if (!rows.empty()) {
      const auto row = rows[0];
      reply.found = true;
      if (!row.IsNull(0)) reply.state = std::string(row.Text(0));
      reply.fence = row.Int(1);
      reply.written_ms = row.Int(2);
    }
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::queues
