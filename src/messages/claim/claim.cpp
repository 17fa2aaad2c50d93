#include "messages/claim/claim.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "messages/hold/heartbeat.hpp"
#include "messages/topics/topic_row.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// The most that the claims of one batch take of one line.
constexpr std::int64_t kMaxWant = 10'000;
/// So many claims of a batch that were carried out before are answered once more, and so many
/// copies are made for those that name the same claim; the others wait for the next.
constexpr std::size_t kMaxRepeated = kMaxClaimsBytes / kMaxClaimBytes;
/// More owners than this are forgotten, and put on record again.
constexpr std::size_t kMaxNamed = 10'000;

}  // namespace

/// One batch of claims in one transaction.
class ClaimBatch {
 public:
  ClaimBatch(ClaimHandler& handler, ClaimHandler::Items items) : handler_(handler), items_(items) {}

  ClaimsLearned Run(db::Transaction& tx) {
    const auto earlier = QueueEarlier(tx);
    ListTopics();
    const std::int64_t begun_ms = handler_.topic_cache_.clock().BootMs();
    begun_boot_ms_ = begun_ms;
    AskLines();
    const auto found = QueueFind(tx, 0);
    // After the messages: a topic that was made meanwhile is seen with its first message, or later.
    const auto topics =
        tx.Queue(sql::kLoadTopics, db::Columns(topics_, &Topic::first, &Topic::second));
    const auto incarnation = tx.Queue(sql::kReadIncarnation);
    const auto clock = tx.QueueClock();

    TakeEarlier(tx, earlier);
    TakeFound(tx, found, 0);
    if (!learned_.rescanned.empty())
      learned_.rescan_ms = handler_.topic_cache_.clock().BootMs() - begun_ms;
    for (const auto row : tx.Take(topics)) rows_[row.ordinal()] = ReadTopic(row);
    const std::size_t asked = asked_.size();
    AskNewLines();
    AskEmptyFromBottom(asked);
    if (asked_.size() > asked) {
      const std::int64_t again_ms = handler_.topic_cache_.clock().BootMs();
      TakeFound(tx, QueueFind(tx, asked), asked);
      learned_.rescan_ms += handler_.topic_cache_.clock().BootMs() - again_ms;
    }
    for (const auto row : tx.Take(incarnation)) incarnation_ = row.Int(0);
    now_ms_ = tx.TakeClock(clock);
    HandOut(tx);
    CopyToRepeated();
    NoteLocked(tx);
    return std::move(learned_);
  }

 private:
  using Topic = std::pair<std::string, std::string>;  // tenant, name
  using ClaimKey = std::pair<std::string, base::Uuid>;
  struct AskedLine {
    std::size_t topic = 0;
    TopicCache::Line line{};
    std::int64_t highest = 0;            // position that was found
    std::optional<std::int64_t> left{};  // lowest position that was found and not handed out
  };

  struct Earlier {
    db::Transaction::Pending rows;
    std::vector<ClaimKey> keys;
  };

  /// Claims whose id the client chose may have been carried out before.
  Earlier QueueEarlier(db::Transaction& tx) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const ClaimRequest& request = items_[i]->request;
      if (!request.claim_id) continue;
      firsts_.try_emplace({request.tenant, *request.claim_id}, i);
    }
    Earlier earlier{{}, {}};
    for (const auto& [key, first] : firsts_) earlier.keys.push_back(key);
    const auto keys = db::Columns(earlier.keys, &ClaimKey::first, &ClaimKey::second);
    tx.Queue(sql::kLockClaims, keys);
    earlier.rows = tx.Queue(sql::kLoadClaims, keys);
    return earlier;
  }

  /// Those get the same messages again, as far as they are still theirs.
  void TakeEarlier(db::Transaction& tx, const Earlier& earlier) {
    struct Row {
      std::size_t item;
      Handed handed;
    };
    std::vector<Row> rows;
    const db::Rows claims = tx.Take(earlier.rows);
    std::vector<std::pair<std::size_t, std::string_view>> repeated;  // item, what it was handed
    for (const auto row : claims)
      repeated.emplace_back(firsts_.at(earlier.keys[row.ordinal()]), row.Text(0));
    std::ranges::sort(repeated);  // in order of arrival
    for (std::size_t i = 0; i < repeated.size(); ++i) {
      const auto& [item, handed] = repeated[i];
      if (i >= kMaxRepeated) {
        left_.insert(item);
        continue;
      }
      items_[item]->reply = ClaimReply{.claim = *items_[item]->request.claim_id};
      for (const Handed& each : DecodeHanded(handed)) rows.push_back({item, each});
    }
    // By ordinal: in the order in which they were handed out.
    std::map<std::size_t, ClaimedMessage> held;
    for (const auto row :
         tx.Run(sql::kLoadHeld,
                db::Columns(rows, db::Inside(&Row::handed, &Handed::id, &Handed::fence)))) {
      ClaimedMessage& delivery = held[row.ordinal()];
      ReadDelivery(row, 0, delivery);
      delivery.id = rows[row.ordinal()].handed.id;
      delivery.fence = rows[row.ordinal()].handed.fence;
      delivery.priority = PriorityOf(row.Int(9));
      db::ReadInto(delivery, row, 10, &ClaimedMessage::lease_until_ms, &ClaimedMessage::topic);
    }
    for (auto& [ordinal, delivery] : held)
      items_[rows[ordinal].item]->reply->messages.push_back(std::move(delivery));
  }

  bool IsFirst(std::size_t item) const {
    const ClaimRequest& request = items_[item]->request;
    return !request.claim_id || firsts_.at({request.tenant, *request.claim_id}) == item;
  }

  void ListTopics() {
    std::map<Topic, std::int64_t> wanted;
    for (const auto* item : items_)
      for (const std::string& topic : item->request.topics)
        wanted[{item->request.tenant, topic}] += item->request.max;
    for (auto& [topic, want] : wanted) {
      index_[topic] = topics_.size();
      topics_.push_back(topic);
      want_.push_back(std::min(want, kMaxWant));
    }
    rows_.resize(topics_.size());
  }

  void AskLines() {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      const auto look = handler_.topic_cache_.LinesOf(topics_[i].first, topics_[i].second);
      if (look.from_bottom) learned_.rescanned.push_back(topics_[i]);
      may_look_below_.push_back(look.may_look_below);
      for (const TopicCache::Line& line : look.lines) asked_.push_back({i, line});
    }
  }

  /// A line that was used for the first time since this process looked last.
  void AskNewLines() {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      if (!rows_[i]) continue;
      learned_.topics.push_back({topics_[i].first, topics_[i].second, rows_[i]->topic_id,
                                 rows_[i]->lines, begun_boot_ms_});
      std::int64_t missing = rows_[i]->lines;
      for (const AskedLine& each : asked_)
        if (each.topic == i) missing &= ~(std::int64_t{1} << each.line.line);
      for (std::int64_t line = 0; missing >> line != 0; ++line)
        if (missing >> line & 1) asked_.push_back({i, {line, 0}});
    }
  }

  /// Nothing above the marks: what came may have been committed late, below them.
  void AskEmptyFromBottom(std::size_t asked) {
    std::set<std::size_t> found;
    for (const Candidate& each : candidates_) found.insert(each.topic);
    for (std::size_t i = 0; i < asked; ++i) {
      const std::size_t topic = asked_[i].topic;
      if (asked_[i].line.from_pos == 0 || found.contains(topic) || !may_look_below_[topic])
        continue;
      asked_.push_back({topic, {asked_[i].line.line, 0}});
      learned_.rescanned.push_back(topics_[topic]);
    }
  }

  /// Tenant, topic, line and where to begin.
  auto ColumnsOf(std::span<const AskedLine> lines) const {
    const auto topic = [this](const AskedLine& each) -> const Topic& {
      return topics_[each.topic];
    };
    return db::Columns(
        lines, db::Inside(topic, &Topic::first, &Topic::second),
        db::Inside(&AskedLine::line, &TopicCache::Line::line, &TopicCache::Line::from_pos));
  }

  db::Transaction::Pending QueueFind(db::Transaction& tx, std::size_t first) const {
    const auto lines = std::span(asked_).subspan(first);
    const auto want = [this](const AskedLine& each) { return want_[each.topic]; };
    return tx.Queue(sql::kFindReady, ColumnsOf(lines), db::Columns(lines, want));
  }

  void TakeFound(db::Transaction& tx, db::Transaction::Pending found, std::size_t first) {
    for (const auto row : tx.Take(found)) {
      AskedLine& line = asked_[first + row.ordinal()];
      candidates_.push_back({line.topic, line.line.line, row.Int(2), row.Uuid(0), row.Int(3),
                             row.Int(4), found_.size()});
      found_places_.push_back({row.Int(1)});
      ReadDelivery(row, 5, found_.emplace_back());
      line.highest = std::max(line.highest, row.Int(2));
    }
  }

  void HandOut(db::Transaction& tx) {
    std::vector<std::size_t> asking;  // indexes of items that get something new
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i]->reply || left_.contains(i) || !IsFirst(i)) continue;
      const ClaimRequest& request = items_[i]->request;
      Demand& demand = demands.emplace_back();
      demand.max = request.max;
      for (const std::string& topic : request.topics)
        demand.topics.push_back(index_.at({request.tenant, topic}));
      asking.push_back(i);
    }
    const auto shares = Share(candidates_, demands);
    std::vector<bool> given(candidates_.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Give(*items_[asking[i]], shares[i]);
      for (const std::size_t candidate : shares[i]) given[candidate] = true;
    }
    for (std::size_t i = shares.size(); i < asking.size(); ++i) {
      left_.insert(asking[i]);
      Unuse(items_[asking[i]]->request);
    }
    NoteMarks(given);
    LoadLarge(tx);
    tx.Queue(
        sql::kClaimMessages,
        db::Columns(taken_, &Taken::place, &Taken::fence, &Taken::lease_until_ms, &Taken::worker),
        now_ms_);
    const auto handed = [](const Written& each) { return db::BytesView{each.handed}; };
    tx.Queue(sql::kWriteClaims,
             db::Columns(written_, &Written::tenant, &Written::claim, &Written::worker,
                         &Written::look_ms, &Written::started, handed),
             now_ms_);
    tx.Queue(sql::kDropUnusedClaims, db::Columns(unused_, &ClaimKey::first, &ClaimKey::second));
    NameOwners(tx);
  }

  void Give(ClaimHandler::ItemType& item, const std::vector<std::size_t>& share) {
    const ClaimRequest& request = item.request;
    ClaimReply& reply = item.reply.emplace();
    reply.claim = request.claim_id.value_or(base::Uuid::V7(now_ms_));
    reply.now_ms = now_ms_;
    if (share.empty()) return Unuse(request);
    const std::int64_t worker = request.worker.value_or(WorkerOf(request.tenant, request.owner));
    std::vector<Handed> handed;
    std::int64_t look_ms = 0;
    for (const std::size_t candidate : share) {
      const Candidate& each = candidates_[candidate];
      if (!rows_[each.topic]) db::ThrowBadRow("a message without its topic");
      const std::int64_t lease_ms = request.lease_ms.value_or(rows_[each.topic]->settings.lease_ms);
      ClaimedMessage& delivery = reply.messages.emplace_back(std::move(found_[each.source]));
      if (each.size > static_cast<std::int64_t>(delivery.payload.size()))
        large_.emplace_back(&item, reply.messages.size() - 1);
      delivery.id = each.id;
      delivery.fence = NextFence(each.fence, incarnation_);
      delivery.topic = topics_[each.topic].second;
      delivery.priority = PriorityOf(each.line);
      delivery.lease_until_ms = now_ms_ + lease_ms;
      handed.push_back({each.id, delivery.fence});
      taken_.push_back(
          {found_places_[each.source], delivery.fence, delivery.lease_until_ms, worker});
      look_ms = look_ms == 0 ? delivery.lease_until_ms : std::min(look_ms, delivery.lease_until_ms);
    }
    written_.push_back({request.tenant, reply.claim, worker, look_ms,
                        std::min(request.started, static_cast<std::int64_t>(share.size())),
                        EncodeHanded(handed)});
  }

  /// Nothing is handed out for it: its id is as if it had not been named.
  void Unuse(const ClaimRequest& request) {
    if (request.claim_id) unused_.emplace_back(request.tenant, *request.claim_id);
  }

  /// A further round trip, for messages that are worth it.
  void LoadLarge(db::Transaction& tx) {
    const auto id = [](const auto& each) { return each.first->reply->messages[each.second].id; };
    for (const auto row : tx.Run(sql::kLoadPayloads, db::Columns(large_, id))) {
      const auto& [item, index] = large_[row.ordinal()];
      item->reply->messages[index].payload = row.Text(0);
    }
  }

  /// Of the columns from `first` on, as find_ready.sql and load_held.sql have them.
  static void ReadDelivery(const db::Rows::Row& row, std::size_t first, ClaimedMessage& delivery) {
    using Message = ClaimedMessage;
    db::ReadInto(delivery, row, first, &Message::kind, &Message::payload, &Message::attempts,
                 &Message::crashes, &Message::enqueued_ms, &Message::due_ms,
                 &Message::correlation_id, &Message::headers, &Message::trace);
  }

  /// A line was emptied up to the first message that was found and left, or to the last one.
  /// Positions may be shared on SQLite, so the mark is the position itself.
  void NoteMarks(const std::vector<bool>& given) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (given[i]) continue;
      for (AskedLine& line : asked_) {
        if (line.topic != candidates_[i].topic || line.line.line != candidates_[i].line) continue;
        line.left = std::min(line.left.value_or(candidates_[i].pos), candidates_[i].pos);
      }
    }
    for (const AskedLine& line : asked_) {
      if (line.highest == 0) continue;
      const Topic& topic = topics_[line.topic];
      learned_.emptied.push_back({topic, {line.line.line, line.left.value_or(line.highest)}});
      if (const auto& row = rows_[line.topic])
        learned_.used.push_back(
            {topic.first, topic.second, row->topic_id, row->lines, begun_boot_ms_});
    }
  }

  void NameOwners(db::Transaction& tx) {
    std::map<std::int64_t, const ClaimRequest*> unnamed;
    for (const auto* item : items_) {
      const ClaimRequest& request = item->request;
      if (request.worker || !item->reply || item->reply->messages.empty()) continue;
      const std::int64_t worker = WorkerOf(request.tenant, request.owner);
      if (!handler_.IsNamed(worker)) unnamed[worker] = &request;
    }
    for (const auto& [worker, request] : unnamed) learned_.workers.insert(worker);
    using Unnamed = decltype(unnamed)::value_type;
    tx.Queue(sql::kNameOwners,
             db::Columns(unnamed, &Unnamed::first,
                         db::Inside(&Unnamed::second, &ClaimRequest::tenant, &ClaimRequest::owner)),
             now_ms_);
  }

  /// The same claim twice in one batch: both get the same. Copies weigh, so there are not many of
  /// them; whoever repeats one that was left is left too.
  void CopyToRepeated() {
    std::size_t copies = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i]->reply || left_.contains(i)) continue;
      const ClaimRequest& request = items_[i]->request;
      const auto& first = items_[firsts_.at({request.tenant, *request.claim_id})]->reply;
      if (!first) continue;
      if (!first->messages.empty() && ++copies > kMaxRepeated) continue;
      items_[i]->reply = first;
    }
    for (auto* item : items_) {
      if (!item->reply) continue;  // left for the next batch
      item->reply->now_ms = now_ms_;
      NamePaused(*item);
    }
  }

  void NamePaused(ClaimHandler::ItemType& item) const {
    item.reply->paused.clear();
    for (const std::string& topic : item.request.topics)
      if (const auto& row = rows_[index_.at({item.request.tenant, topic})];
          row && row->paused_ms > 0)
        item.reply->paused.push_back(topic);
  }

  /// Something may be ready and locked, though nobody takes it: by a user's transaction, or by one
  /// of ours that lost a race. (PostgreSQL locks the newest version of a row first, and finds
  /// afterwards that it is not wanted.) Nobody tells of the end of such a lock.
  void NoteLocked(db::Transaction& tx) {
    std::vector<std::vector<ClaimReply*>> waiting(topics_.size());  // who got nothing, by topic
    for (auto* item : items_) {
      if (!item->request.waits || !item->reply || !item->reply->messages.empty()) continue;
      for (const std::string& topic : item->request.topics)
        waiting[index_.at({item->request.tenant, topic})].push_back(&*item->reply);
    }
    std::vector<AskedLine> lines;
    for (const AskedLine& each : asked_)
      if (!waiting[each.topic].empty()) lines.push_back(each);
    for (const auto row : tx.Run(sql::kFindPassedOver, ColumnsOf(lines)))
      for (ClaimReply* reply : waiting[lines[row.ordinal()].topic]) reply->has_locked = true;
  }

  ClaimHandler& handler_;
  const ClaimHandler::Items items_;
  std::map<ClaimKey, std::size_t> firsts_;
  std::map<Topic, std::size_t> index_;
  std::vector<Topic> topics_;
  std::vector<std::int64_t> want_;
  std::vector<std::optional<TopicRow>> rows_;
  std::vector<AskedLine> asked_;
  std::vector<bool> may_look_below_;  // of topics_
  std::vector<Candidate> candidates_;
  std::vector<ClaimedMessage> found_;       // what the candidates stand for
  std::vector<db::RowPlace> found_places_;  // of found_
  std::int64_t incarnation_ = 1;
  std::int64_t now_ms_ = 0;
  std::int64_t begun_boot_ms_ = 0;
  ClaimsLearned learned_;
  std::set<std::size_t> left_;  // items for the next batch

  /// A message that is handed out.
  struct Taken {
    db::RowPlace place{};
    std::int64_t fence = 0;
    std::int64_t lease_until_ms = 0;
    std::int64_t worker = 0;
  };
  /// A claim as it is written down.
  struct Written {
    std::string_view tenant{};
    base::Uuid claim{};
    std::int64_t worker = 0;
    std::int64_t look_ms = 0;
    std::int64_t started = 0;
    std::string handed{};
  };
  std::vector<Taken> taken_;
  std::vector<Written> written_;
  std::vector<ClaimKey> unused_;
  std::vector<std::pair<ClaimHandler::ItemType*, std::size_t>> large_;  // payloads to be loaded
};

ClaimsLearned ClaimHandler::WriteItems(db::Transaction& tx, Items items) {
  return ClaimBatch(*this, items).Run(tx);
}

void ClaimHandler::DoneItems(Items items, const ClaimsLearned& learned) {
  for (const TopicCache::Known& topic : learned.topics) topic_cache_.Learn(topic);
  for (const TopicCache::Known& topic : learned.used) topic_cache_.Used(topic);
  for (const auto& [topic, line] : learned.emptied)
    topic_cache_.Emptied(topic.first, topic.second, line);
  for (const auto& [tenant, topic] : learned.rescanned)
    topic_cache_.RescanTook(tenant, topic, learned.rescan_ms);
  if (!learned.workers.empty()) {
    const base::Lock lock(mutex_);
    if (named_.size() > kMaxNamed) named_.clear();
    named_.insert(learned.workers.begin(), learned.workers.end());
  }
  for (const auto* item : items) probe_.Claimed(item->request, *item->reply);
}

bool ClaimHandler::IsNamed(std::int64_t worker) const {
  const base::Lock lock(mutex_);
  return named_.contains(worker);
}

}  // namespace tenure::messages
