#include "sim/message_book.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {

using messages::CancelOutcome;
using messages::ClaimedMessage;
using messages::Disposition;
using messages::SettleOutcome;

namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

base::Uuid ReadId(const std::string& hex) {
  base::Uuid id;
  const std::string bytes = FromHex(hex);
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

std::int64_t ReadNumber(const std::string& payload_hex) {
  return payload_hex.empty() ? 0 : std::stoll(FromHex(payload_hex));
}

std::string PutAsideOf(const store::Tables& tables, const std::string& tenant) {
  if (!tables.IsPostgres()) return "";
  return fmt::format(
      " union all select {}, {}, u.topic, 0, u.due_ms, 0, 0, 0, 0, 0, 6 from {} u where u.tenant = "
      "'{}'",
      tables.Id("u.id"), tables.Hex("u.payload"), tables.Table("unsorted_messages"), tenant);
}

/// The last column is the place.
std::string MessagesOf(const store::Tables& tables, const std::string& tenant) {
  return fmt::format(
             "select {m_id}, {m_payload}, t.name, m.pos, m.due_ms, m.fence, m.lease_until_ms, "
             "m.worker, "
             "m.attempts, m.crashes, "
             "case when m.pos = 0 then 1 when m.lease_until_ms = 0 then 2 else 3 end "
             "from {messages} m join {topics} t on t.topic_id = m.topic_id where t.tenant = "
             "'{tenant}' "
             "union all "
             "select {d_id}, {d_payload}, t.name, 0, 0, d.fence, 0, 0, d.attempts, d.crashes, 4 "
             "from {dead} d join {topics} t on t.topic_id = d.topic_id "
             "where t.tenant = '{tenant}' and d.redriven_ms = 0 "
             "union all "
             "select {f_id}, '', t.name, 0, 0, f.fence, 0, 0, f.attempts, f.crashes, 5 "
             "from {finished} f join {topics} t on t.topic_id = f.topic_id where t.tenant = "
             "'{tenant}'",
             fmt::arg("m_id", tables.Id("m.id")), fmt::arg("m_payload", tables.Hex("m.payload")),
             fmt::arg("d_id", tables.Id("d.id")), fmt::arg("d_payload", tables.Hex("d.payload")),
             fmt::arg("f_id", tables.Id("f.id")), fmt::arg("messages", tables.Table("messages")),
             fmt::arg("dead", tables.Table("dead_letters")),
             fmt::arg("finished", tables.Table("finished_messages")),
             fmt::arg("topics", tables.Table("topics")), fmt::arg("tenant", tenant)) +
         PutAsideOf(tables, tenant);
}

const char* ToText(Place place) {
  static constexpr const char* kNames[] = {"nowhere", "waiting",  "ready", "claimed",
                                           "dead",    "finished", "aside"};
  return kNames[static_cast<int>(place)];
}

MessageRow RowOf(const Picture& picture, const base::Uuid& id) {
  const auto found = picture.messages.find(id);
  return found == picture.messages.end() ? MessageRow() : found->second;
}

bool Holds(const MessageRow& row, const MessageBook::Claim& claim) {
  return row.place == Place::kClaimed && row.fence == claim.second;
}

bool HasEnded(Place place) { return place == Place::kAbsent || place == Place::kFinished; }

/// Whether it was so at some moment.
template <class Was>
bool Ever(MessageBook::Seen seen, Was was) {
  return std::any_of(seen.begin(), seen.end(), [&](const auto& picture) { return was(*picture); });
}

}  // namespace

Picture ReadPicture(store::Tables& tables, const std::string& tenant, std::int64_t now_ms) {
  const auto of_tenant = [&](const std::string& columns, std::string_view table,
                             std::string_view condition = "") {
    return tables.Ask(fmt::format("select {} from {} where tenant = '{}'{}", columns,
                                  tables.Table(table), tenant, condition));
  };
  Picture picture;
  picture.now_ms = now_ms;
  for (const auto& row : tables.Ask(MessagesOf(tables, tenant))) {
    const auto number = [&](std::size_t column) { return std::stoll(row[column]); };
    const MessageRow message{static_cast<Place>(number(10)),
                             ReadNumber(row[1]),
                             row[2],
                             number(3),
                             number(4),
                             number(5),
                             number(6),
                             number(7),
                             number(8),
                             number(9)};
    if (!picture.messages.emplace(ReadId(row[0]), message).second) picture.twice = row[0];
  }
  for (const auto& row : of_tenant("started, " + tables.Hex("messages"), "message_claims"))
    picture.claims.push_back({std::stoll(row[0]), messages::DecodeHanded(FromHex(row[1]))});
  for (const auto& row : of_tenant("worker, expires_ms", "message_workers"))
    picture.workers[std::stoll(row[0])] = std::stoll(row[1]);
  for (const auto& row : of_tenant("name", "topics", " and paused_ms > 0"))
    picture.paused.insert(row[0]);
  return picture;
}

void MessageBook::AskEnqueue(std::int64_t number, const std::string& dedup_key) {
  numbers_[number] = dedup_key;
}

void MessageBook::AskReport(Disposition disposition, const Claim& claim) {
  asked_[disposition].insert(claim);
}

bool MessageBook::Asked(Disposition disposition, const Claim& claim) const {
  const auto found = asked_.find(disposition);
  return found != asked_.end() && found->second.contains(claim);
}

std::string MessageBook::NameOf(const base::Uuid& id) const {
  const auto found = number_of_.find(id);
  return found == number_of_.end() ? "a message that nobody sent"
                                   : fmt::format("message {}", found->second);
}

MessageBook::Kind MessageBook::KindOf(const std::set<std::string, std::less<>>& queries) {
  const auto has = [&](std::string_view query) { return queries.contains(query); };
  if (has("messages.insert_messages")) return Kind::kEnqueue;
  if (has("messages.sort_messages")) return Kind::kSort;
  if (has("messages.find_ready")) return Kind::kClaim;
  if (has("messages.finish_known") || has("messages.finish_messages")) return Kind::kAck;
  if (has("messages.lock_dead_workers")) return Kind::kReap;
  if (has("messages.lock_messages")) return Kind::kReport;
  if (has("messages.promote_messages")) return Kind::kPromote;
  if (has("messages.cancel_timers")) return Kind::kCancel;
  if (has("messages.lock_dead") || has("messages.lock_dead_ids")) return Kind::kDead;
  return Kind::kOther;
}

void MessageBook::Committed(const std::set<std::string, std::less<>>& queries, Picture next,
                            std::int64_t boot_ms) {
  Expect(next.twice.empty(), "a message is in two places");
  const Kind kind = KindOf(queries);
  std::set<base::Uuid> ids;
  for (const auto& [id, row] : picture_->messages) ids.insert(id);
  for (const auto& [id, row] : next.messages) ids.insert(id);
  for (const base::Uuid& id : ids) {
    const Move move{kind, id, RowOf(*picture_, id), RowOf(next, id)};
    if (move.from != move.to) Judge(move, next);
  }
  for (const auto& [id, row] : next.messages) {
    const bool ready = row.place == Place::kReady && !next.paused.contains(row.topic);
    if (!ready)
      ready_boot_ms_.erase(id);
    else
      ready_boot_ms_.try_emplace(id, boot_ms);
  }
  std::erase_if(ready_boot_ms_,
                [&](const auto& entry) { return !next.messages.contains(entry.first); });
  picture_ = std::make_shared<const Picture>(std::move(next));
}

void MessageBook::Judge(const Move& move, const Picture& next) {
  const Place from = move.from.place;
  const Place to = move.to.place;
  if (from == Place::kAbsent) return JudgeArrival(move, next);
  if (from == Place::kReady && to == Place::kClaimed) return JudgeClaim(move, next);
  if (from == Place::kClaimed) {
    if (to == Place::kReady || to == Place::kWaiting) return JudgeReturn(move, next);
    if (to == Place::kDead) return JudgeBurial(move, next);
    if (to == Place::kFinished || to == Place::kAbsent) return JudgeEnd(move);
    if (to == Place::kClaimed && move.kind == Kind::kReport && move.to.fence == move.from.fence &&
        move.to.lease_until_ms >= move.from.lease_until_ms)
      return Expect(Asked(Disposition::kExtend, move.claim()),
                    fmt::format("M2: {} was prolonged by somebody else", NameOf(move.id)));
  }
  if (from == Place::kAside && (to == Place::kReady || to == Place::kWaiting) &&
      move.kind == Kind::kSort)
    return Expect(to == Place::kWaiting || move.to.due_ms <= next.now_ms,
                  fmt::format("M3: {} was sorted in before it was due", NameOf(move.id)));
  if (from == Place::kWaiting && to == Place::kReady && move.kind == Kind::kPromote)
    return Expect(move.from.due_ms <= next.now_ms,
                  fmt::format("M3: {} became ready before it was due", NameOf(move.id)));
  if (from == Place::kWaiting && to == Place::kAbsent && move.kind == Kind::kCancel) {
    cancelled_.insert(move.id);
    return Expect(cancels_.contains(move.id) && move.from.fence == 0,
                  fmt::format("M3: {} was cancelled, and should not be", NameOf(move.id)));
  }
  if (from == Place::kDead && move.kind == Kind::kDead) {
    if (to == Place::kAbsent) return;
    if (to == Place::kReady || to == Place::kWaiting)
      return Expect(move.to.fence == move.from.fence && move.to.attempts == 0 &&
                        move.to.crashes == std::min<std::int64_t>(move.from.crashes, 1),
                    fmt::format("{} came back as another from the dead letters", NameOf(move.id)));
  }
  complain_(fmt::format("M1: {} went from {} (fence {}) to {} (fence {}) by a transaction {}",
                        NameOf(move.id), ToText(from), move.from.fence, ToText(to), move.to.fence,
                        static_cast<int>(move.kind)));
}

/// (a), (d), (e): there is one message for each enqueue, and one for each key and window.
void MessageBook::JudgeArrival(const Move& move, const Picture& next) {
  const std::int64_t number = move.to.number;
  const auto asked = numbers_.find(number);
  if (move.kind != Kind::kEnqueue || asked == numbers_.end() || move.to.fence != 0)
    return complain_(fmt::format("M3: a message with payload {} came from nowhere", number));
  Expect(made_.try_emplace(number, move.id).second,
         fmt::format("M1: message {} was put in twice", number));
  Expect(!rolled_back_.contains(number), fmt::format("M1: message {} was rolled back", number));
  number_of_[move.id] = number;
  Expect(move.to.place != Place::kReady || move.to.due_ms <= next.now_ms,
         fmt::format("M3: message {} is ready before it is due", number));
  if (asked->second.empty()) return;
  Key& key = keys_[asked->second];
  Expect(!key.id || next.now_ms - key.made_ms >= limits_.dedup_ms,
         fmt::format("two messages of the dedup key {} within its window", asked->second));
  key = {move.id, next.now_ms};
}

/// (b) and (h).
void MessageBook::JudgeClaim(const Move& move, const Picture& next) {
  ++claims_;
  Expect(move.kind == Kind::kClaim, "M2: a message was handed out by something else than a claim");
  std::int64_t& last = last_fence_[move.id];
  Expect(move.to.fence > last, fmt::format("M2: the fence of {} did not rise", NameOf(move.id)));
  last = move.to.fence;
  Expect(move.to.due_ms <= next.now_ms,
         fmt::format("M3: {} was handed out before it was due", NameOf(move.id)));
  Expect(!next.paused.contains(move.to.topic),
         fmt::format("{} was handed out of a topic that is paused", NameOf(move.id)));
}

bool MessageBook::IsBegun(const Claim& claim) const {
  for (const ClaimRow& row : picture_->claims)
    for (std::size_t i = 0; i < row.messages.size(); ++i)
      if (row.messages[i].id == claim.first && row.messages[i].fence == claim.second)
        return static_cast<std::int64_t>(i) < row.started;
  complain_(fmt::format("the claim of {} is not on record", NameOf(claim.first)));
  return false;
}

/// (f): nothing is taken back from who still holds it.
void MessageBook::JudgeReaped(const Move& move, const Picture& next) {
  const auto worker = picture_->workers.find(move.from.worker);
  if (worker != picture_->workers.end())
    return Expect(worker->second <= next.now_ms,
                  fmt::format("M2: {} was taken back from a worker that lives", NameOf(move.id)));
  const auto promised = promised_.find(move.claim());
  const std::int64_t until_ms =
      std::max(move.from.lease_until_ms, promised == promised_.end() ? 0 : promised->second);
  Expect(until_ms <= next.now_ms,
         fmt::format("M2: {} was taken back before its lease was over", NameOf(move.id)));
}

void MessageBook::JudgeReturn(const Move& move, const Picture& next) {
  const std::int64_t crashes = move.to.crashes - move.from.crashes;
  const std::int64_t attempts = move.to.attempts - move.from.attempts;
  Expect(move.to.fence == move.from.fence, "M2: a return changed the fence");
  Expect(move.to.place == Place::kWaiting || move.to.due_ms <= next.now_ms,
         fmt::format("M3: {} is ready again before it is due", NameOf(move.id)));
  if (move.kind == Kind::kReap) {
    JudgeReaped(move, next);
    return Expect(attempts == 0 && crashes == (IsBegun(move.claim()) ? 1 : 0),
                  fmt::format("{} counts {} crashes more", NameOf(move.id), crashes));
  }
  const bool retried = attempts == 1 && Asked(Disposition::kRetry, move.claim());
  const bool unknown = somebody_left_ && !told_.contains(move.claim());
  const bool untouched = attempts == 0 && (unknown || Asked(Disposition::kUntouched, move.claim()));
  Expect(move.kind == Kind::kReport && crashes == 0 && (retried || untouched),
         fmt::format("M2: {} was given back by somebody else", NameOf(move.id)));
}

void MessageBook::JudgeBurial(const Move& move, const Picture& next) {
  if (move.kind == Kind::kReap) {
    JudgeReaped(move, next);
    return Expect(IsBegun(move.claim()) && move.to.crashes == move.from.crashes + 1 &&
                      move.to.crashes >= limits_.max_crashes,
                  fmt::format("{} was buried with {} crashes", NameOf(move.id), move.to.crashes));
  }
  const bool gave_up = Asked(Disposition::kDead, move.claim());
  const bool spent =
      Asked(Disposition::kRetry, move.claim()) && move.to.attempts >= limits_.max_attempts;
  Expect(move.kind == Kind::kReport && (gave_up || spent),
         fmt::format("M2: {} was buried by somebody else", NameOf(move.id)));
}

void MessageBook::JudgeEnd(const Move& move) {
  Expect(move.kind == Kind::kAck && Asked(Disposition::kDone, move.claim()),
         fmt::format("M2: {} was finished under fence {} by somebody who did not have it ({})",
                     NameOf(move.id), move.from.fence, static_cast<int>(move.kind)));
  finished_.insert(move.claim());
}

void MessageBook::Enqueued(std::int64_t number, const messages::EnqueuedMessage& answer) {
  const std::string& dedup_key = numbers_.at(number);
  if (answer.duplicate)
    return Expect(!dedup_key.empty() && keys_[dedup_key].id == answer.id,
                  fmt::format("message {} is told to be a duplicate of another", number));
  const auto made = made_.find(number);
  Expect(made != made_.end() && made->second == answer.id,
         fmt::format("M1: message {} was accepted, and is not there", number));
}

void MessageBook::NotEnqueued(std::int64_t number) {
  rolled_back_.insert(number);
  Expect(!made_.contains(number), fmt::format("M1: message {} was rolled back", number));
}

void MessageBook::Claimed(Seen seen, const messages::ClaimRequest& request,
                          const messages::ClaimReply& reply) {
  std::set<base::Uuid> once;
  for (const ClaimedMessage& each : reply.messages) {
    const Claim claim{each.id, each.fence};
    const bool held = Ever(seen, [&](const Picture& picture) {
      const MessageRow row = RowOf(picture, each.id);
      return Holds(row, claim) && row.lease_until_ms == each.lease_until_ms;
    });
    Expect(held && once.insert(each.id).second,
           fmt::format("M2: {} was handed to somebody who does not hold it", NameOf(each.id)));
    Expect(each.crashes == 0 || reply.messages.size() == 1,
           fmt::format("{} is suspected, and was not handed out alone", NameOf(each.id)));
    told_.insert(claim);
    if (!request.worker) promised_[claim] = std::max(promised_[claim], each.lease_until_ms);
  }
  Expect(static_cast<std::int64_t>(reply.messages.size()) <= request.max,
         "more was handed out than was asked for");
}

void MessageBook::Refused(Seen seen, const Claim& claim, SettleOutcome outcome) {
  Expect(Ever(seen,
              [&](const Picture& picture) { return !Holds(RowOf(picture, claim.first), claim); }),
         fmt::format("M2: who holds {} was refused", NameOf(claim.first)));
  const bool is_true = Ever(seen, [&](const Picture& picture) {
    const MessageRow row = RowOf(picture, claim.first);
    if (outcome == SettleOutcome::kStale) return !HasEnded(row.place);
    return HasEnded(row.place) || (row.place == Place::kDead && row.fence == claim.second);
  });
  Expect(is_true,
         fmt::format("M2: it is not true what a former owner was told of {}", NameOf(claim.first)));
}

void MessageBook::Reported(Seen seen, Disposition disposition, const Claim& claim,
                           SettleOutcome outcome, std::int64_t least_ms) {
  if (outcome != SettleOutcome::kDone) return Refused(seen, claim, outcome);
  if (disposition == Disposition::kDone)
    return Expect(
        finished_.contains(claim) && told_done_.insert(claim).second,
        fmt::format("M2: {} was told to be done, and is not by this", NameOf(claim.first)));
  const Picture& last = *seen.back();
  const MessageRow row = RowOf(last, claim.first);
  if (disposition != Disposition::kExtend || !Holds(row, claim)) return;
  Expect(row.lease_until_ms >= last.now_ms + least_ms,
         fmt::format("M2: who has {} was told that it holds it longer, and it does not",
                     NameOf(claim.first)));
  promised_[claim] = std::max(promised_[claim], row.lease_until_ms);
}

void MessageBook::Cancelled(Seen seen, const base::Uuid& id, CancelOutcome outcome) {
  const bool is_true = Ever(seen, [&](const Picture& picture) {
    const MessageRow row = RowOf(picture, id);
    switch (outcome) {
      case CancelOutcome::kCancelled:
        return cancelled_.contains(id) && row.place == Place::kAbsent;
      case CancelOutcome::kFired:
        return !HasEnded(row.place) && !(row.place == Place::kWaiting && row.fence == 0);
      case CancelOutcome::kUnknown:
        return HasEnded(row.place);
    }
    return false;
  });
  Expect(is_true,
         fmt::format("M3: it is not true what was said when {} was cancelled", NameOf(id)));
}

void MessageBook::Beaten(Seen seen, std::int64_t worker, bool alive) {
  // Its last word may have come in the same transaction.
  if (left_workers_.contains(worker)) return;
  Expect(
      Ever(seen, [&](const Picture& picture) { return picture.workers.contains(worker) == alive; }),
      "a worker was told wrongly whether it lives");
}

void MessageBook::Paused(Seen seen, const std::string& topic, bool paused) {
  Expect(seen.back()->paused.contains(topic) == paused, "a pause was answered, and is not there");
}

std::optional<std::int64_t> MessageBook::ReadySince(const std::vector<std::string>& topics) const {
  std::optional<std::int64_t> since;
  for (const auto& [id, boot_ms] : ready_boot_ms_) {
    const std::string& topic = picture_->messages.at(id).topic;
    if (std::find(topics.begin(), topics.end(), topic) == topics.end()) continue;
    since = std::min(since.value_or(boot_ms), boot_ms);
  }
  return since;
}

}  // namespace tenure::sim
