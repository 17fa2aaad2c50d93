#include "messages/claim.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.hpp"
#include "messages/topic.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::size_t kHandedBytes = 24;
/// The most that the claims of one batch take of one line.
constexpr std::int64_t kMaxWant = 10'000;
/// More owners than this are forgotten, and put on record again.
constexpr std::size_t kMaxNamed = 10'000;

}  // namespace

std::string EncodeHanded(const std::vector<Handed>& messages) {
  std::string bytes;
  bytes.reserve(messages.size() * kHandedBytes);
  for (const Handed& each : messages) {
    bytes.append(reinterpret_cast<const char*>(each.id.bytes.data()), each.id.bytes.size());
    for (int shift = 56; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(each.fence) >> shift));
  }
  return bytes;
}

std::vector<Handed> DecodeHanded(std::string_view bytes) {
  std::vector<Handed> messages;
  for (; bytes.size() >= kHandedBytes; bytes.remove_prefix(kHandedBytes)) {
    Handed& each = messages.emplace_back();
    std::memcpy(each.id.bytes.data(), bytes.data(), each.id.bytes.size());
    std::uint64_t fence = 0;
    for (std::size_t i = 16; i < kHandedBytes; ++i)
      fence = fence << 8 | static_cast<std::uint8_t>(bytes[i]);
    each.fence = static_cast<std::int64_t>(fence);
  }
  return messages;
}

std::int64_t WorkerOf(std::string_view tenant, std::string_view owner) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  };
  add(tenant);
  add({"\n", 1});
  add(owner);
  // Below those with a heartbeat, which have the second highest bit (heartbeat.hpp).
  return static_cast<std::int64_t>(hash >> 2);
}

/// One batch of claims in one transaction.
class ClaimBatch {
 public:
  ClaimBatch(ClaimHandler& handler, ClaimHandler::Items items) : handler_(handler), items_(items) {}

  void Run(db::Transaction& tx) {
    const auto earlier = QueueEarlier(tx);
    ListTopics();
    const std::int64_t begun_ms = handler_.directory_.clock().BootMs();
    AskLines();
    const auto found = QueueFind(tx, 0);
    // After the messages: a topic that was made meanwhile is seen with its first message, or later.
    const auto topics = tx.Queue(sql::kLoadTopics, tenants_, names_);
    const auto incarnation = tx.Queue(sql::kReadIncarnation);
    const auto clock = tx.QueueClock();

    TakeEarlier(tx, earlier);
    TakeFound(tx, found, 0);
    if (!learned_.rescanned.empty())
      learned_.rescan_ms = handler_.directory_.clock().BootMs() - begun_ms;
    for (const auto row : tx.Take(topics)) rows_[row.ordinal()] = ReadTopic(row);
    const std::size_t asked = asked_.size();
    AskNewLines();
    AskEmptyFromBottom(asked);
    if (asked_.size() > asked) {
      const std::int64_t again_ms = handler_.directory_.clock().BootMs();
      TakeFound(tx, QueueFind(tx, asked), asked);
      learned_.rescan_ms += handler_.directory_.clock().BootMs() - again_ms;
    }
    for (const auto row : tx.Take(incarnation)) incarnation_ = row.Int(0);
    now_ms_ = tx.TakeClock(clock);
    HandOut(tx);
    CopyToRepeated();
    items_.front()->reply->learned = std::move(learned_);
  }

 private:
  using Topic = std::pair<std::string, std::string>;  // tenant, name
  using ClaimKey = std::pair<std::string, base::Uuid>;
  struct AskedLine {
    std::size_t topic = 0;
    Directory::Line line{};
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
    std::vector<std::string_view> tenants;
    std::vector<base::Uuid> claims;
    for (const auto& [key, first] : firsts_) {
      earlier.keys.push_back(key);
      tenants.push_back(key.first);
      claims.push_back(key.second);
    }
    tx.Queue(sql::kLockClaims, tenants, claims);
    earlier.rows = tx.Queue(sql::kLoadClaims, tenants, claims);
    return earlier;
  }

  /// Those get the same messages again, as far as they are still theirs.
  void TakeEarlier(db::Transaction& tx, const Earlier& earlier) {
    struct Row {
      std::size_t item;
      Handed handed;
    };
    std::vector<Row> rows;
    for (const auto row : tx.Take(earlier.rows)) {
      const std::size_t item = firsts_.at(earlier.keys[row.ordinal()]);
      items_[item]->reply = ClaimResult{{.claim = earlier.keys[row.ordinal()].second}, {}};
      for (const Handed& each : DecodeHanded(row.Text(0))) rows.push_back({item, each});
    }
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> fences;
    for (const Row& row : rows) {
      ids.push_back(row.handed.id);
      fences.push_back(row.handed.fence);
    }
    std::map<std::size_t, ClaimedMessage>
        held;  // by ordinal: in the order in which they were handed out
    for (const auto row : tx.Run(sql::kLoadHeld, ids, fences)) {
      ClaimedMessage& delivery = held[row.ordinal()];
      ReadDelivery(row, 0, delivery);
      delivery.id = ids[row.ordinal()];
      delivery.fence = fences[row.ordinal()];
      delivery.priority = PriorityOf(row.Int(9));
      delivery.lease_until_ms = row.Int(10);
      delivery.topic = row.Text(11);
    }
    for (auto& [ordinal, delivery] : held)
      items_[rows[ordinal].item]->reply->reply.messages.push_back(std::move(delivery));
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
    for (const Topic& topic : topics_) {
      tenants_.push_back(topic.first);
      names_.push_back(topic.second);
    }
    rows_.resize(topics_.size());
  }

  void AskLines() {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      const auto look = handler_.directory_.LinesOf(topics_[i].first, topics_[i].second);
      if (look.from_bottom) learned_.rescanned.push_back(topics_[i]);
      may_look_below_.push_back(look.may_look_below);
      for (const Directory::Line& line : look.lines) asked_.push_back({i, line});
    }
  }

  /// A line that was used for the first time since this process looked last.
  void AskNewLines() {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      if (!rows_[i]) continue;
      learned_.topics.push_back(
          {topics_[i].first, topics_[i].second, rows_[i]->topic_id, rows_[i]->lines});
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

  db::Transaction::Pending QueueFind(db::Transaction& tx, std::size_t first) const {
    std::vector<std::string_view> tenants, names;
    std::vector<std::int64_t> lines, from, want;
    for (std::size_t i = first; i < asked_.size(); ++i) {
      tenants.push_back(tenants_[asked_[i].topic]);
      names.push_back(names_[asked_[i].topic]);
      lines.push_back(asked_[i].line.line);
      from.push_back(asked_[i].line.from_pos);
      want.push_back(want_[asked_[i].topic]);
    }
    return tx.Queue(sql::kFindReady, tenants, names, lines, from, want);
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
    std::vector<Wish> wishes;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i]->reply || !IsFirst(i)) continue;
      const ClaimRequest& request = items_[i]->request;
      Wish& wish = wishes.emplace_back();
      wish.max = request.max;
      for (const std::string& topic : request.topics)
        wish.topics.push_back(index_.at({request.tenant, topic}));
      asking.push_back(i);
    }
    const auto shares = Share(candidates_, wishes);
    std::vector<bool> given(candidates_.size());
    for (std::size_t i = 0; i < asking.size(); ++i) {
      Give(*items_[asking[i]], shares[i]);
      for (const std::size_t candidate : shares[i]) given[candidate] = true;
    }
    NoteMarks(given);
    LoadLarge(tx);
    tx.Queue(sql::kClaimMessages, places_, fences_, leases_, workers_, now_ms_);
    tx.Queue(sql::kWriteClaims, claim_tenants_, claims_, claim_workers_, looks_, started_, handed_,
             now_ms_);
    tx.Queue(sql::kDropUnusedClaims, unused_tenants_, unused_);
    NameOwners(tx);
  }

  void Give(ClaimHandler::ItemType& item, const std::vector<std::size_t>& share) {
    const ClaimRequest& request = item.request;
    ClaimResult& result = item.reply.emplace();
    result.reply.claim = request.claim_id.value_or(base::Uuid::V7(now_ms_));
    result.reply.now_ms = now_ms_;
    if (share.empty()) {
      if (!request.claim_id) return;
      unused_tenants_.push_back(request.tenant);
      unused_.push_back(*request.claim_id);
      return;
    }
    const std::int64_t worker = request.worker.value_or(WorkerOf(request.tenant, request.owner));
    std::vector<Handed> handed;
    std::int64_t look_ms = 0;
    for (const std::size_t candidate : share) {
      const Candidate& each = candidates_[candidate];
      TENURE_CHECK(rows_[each.topic], "a message was found, and its topic was not");
      const std::int64_t lease_ms = request.lease_ms.value_or(rows_[each.topic]->settings.lease_ms);
      ClaimedMessage& delivery = result.reply.messages.emplace_back(std::move(found_[each.source]));
      if (each.size > static_cast<std::int64_t>(delivery.payload.size()))
        large_.emplace_back(&item, result.reply.messages.size() - 1);
      delivery.id = each.id;
      delivery.fence = NextFence(each.fence, incarnation_);
      delivery.topic = topics_[each.topic].second;
      delivery.priority = PriorityOf(each.line);
      delivery.lease_until_ms = now_ms_ + lease_ms;
      handed.push_back({each.id, delivery.fence});
      places_.push_back(found_places_[each.source]);
      fences_.push_back(delivery.fence);
      leases_.push_back(delivery.lease_until_ms);
      workers_.push_back(worker);
      look_ms = look_ms == 0 ? delivery.lease_until_ms : std::min(look_ms, delivery.lease_until_ms);
    }
    claim_tenants_.push_back(request.tenant);
    claims_.push_back(result.reply.claim);
    claim_workers_.push_back(worker);
    looks_.push_back(look_ms);
    started_.push_back(std::min(request.started, static_cast<std::int64_t>(share.size())));
    handed_bytes_.push_back(std::make_unique<std::string>(EncodeHanded(handed)));
    handed_.push_back({*handed_bytes_.back()});
  }

  /// A further round trip, for messages that are worth it.
  void LoadLarge(db::Transaction& tx) {
    std::vector<base::Uuid> ids;
    for (const auto& [item, index] : large_) ids.push_back(item->reply->reply.messages[index].id);
    for (const auto row : tx.Run(sql::kLoadPayloads, ids)) {
      const auto& [item, index] = large_[row.ordinal()];
      item->reply->reply.messages[index].payload = row.Text(0);
    }
  }

  /// Of the columns from `first` on, as find_ready.sql and load_held.sql have them.
  static void ReadDelivery(const db::Rows::Row& row, std::size_t first, ClaimedMessage& delivery) {
    delivery.kind = static_cast<PayloadKind>(row.Int(first));
    if (!row.IsNull(first + 1)) delivery.payload = row.Text(first + 1);
    delivery.attempts = row.Int(first + 2);
    delivery.crashes = row.Int(first + 3);
    delivery.enqueued_ms = row.Int(first + 4);
    delivery.due_ms = row.Int(first + 5);
    delivery.correlation_id = row.Text(first + 6);
    delivery.headers = row.Text(first + 7);
    delivery.trace = row.Text(first + 8);
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
        learned_.used.push_back({topic.first, topic.second, row->topic_id, row->lines});
    }
  }

  void NameOwners(db::Transaction& tx) {
    std::map<std::int64_t, const ClaimRequest*> unnamed;
    for (const auto* item : items_) {
      const ClaimRequest& request = item->request;
      if (request.worker || !item->reply || item->reply->reply.messages.empty()) continue;
      const std::int64_t worker = WorkerOf(request.tenant, request.owner);
      if (!handler_.IsNamed(worker)) unnamed[worker] = &request;
    }
    std::vector<std::int64_t> workers;
    std::vector<std::string_view> tenants, owners;
    for (const auto& [worker, request] : unnamed) {
      workers.push_back(worker);
      tenants.push_back(request->tenant);
      owners.push_back(request->owner);
      learned_.workers.insert(worker);
    }
    tx.Queue(sql::kNameOwners, workers, tenants, owners, now_ms_);
  }

  /// The same claim twice in one batch: both get the same.
  void CopyToRepeated() {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i]->reply) continue;
      const ClaimRequest& request = items_[i]->request;
      items_[i]->reply = items_[firsts_.at({request.tenant, *request.claim_id})]->reply;
    }
    for (auto* item : items_) {
      item->reply->reply.now_ms = now_ms_;
      NamePaused(*item);
    }
  }

  void NamePaused(ClaimHandler::ItemType& item) const {
    item.reply->reply.paused.clear();
    for (const std::string& topic : item.request.topics)
      if (const auto& row = rows_[index_.at({item.request.tenant, topic})];
          row && row->paused_ms > 0)
        item.reply->reply.paused.push_back(topic);
  }

  ClaimHandler& handler_;
  const ClaimHandler::Items items_;
  std::map<ClaimKey, std::size_t> firsts_;
  std::map<Topic, std::size_t> index_;
  std::vector<Topic> topics_;
  std::vector<std::string_view> tenants_, names_;  // of topics_
  std::vector<std::int64_t> want_;
  std::vector<std::optional<TopicRow>> rows_;
  std::vector<AskedLine> asked_;
  std::vector<bool> may_look_below_;  // of topics_
  std::vector<Candidate> candidates_;
  std::vector<ClaimedMessage> found_;    // what the candidates stand for
  std::vector<db::Place> found_places_;  // of found_
  std::int64_t incarnation_ = 1;
  std::int64_t now_ms_ = 0;
  ClaimResult::Learned learned_;

  // What is handed out, a column each.
  std::vector<db::Place> places_;
  std::vector<std::int64_t> fences_, leases_, workers_;
  std::vector<std::pair<ClaimHandler::ItemType*, std::size_t>> large_;  // payloads to be loaded
  // The claims, a column each.
  std::vector<std::string_view> claim_tenants_;
  std::vector<base::Uuid> claims_;
  std::vector<std::int64_t> claim_workers_, looks_, started_;
  std::vector<std::unique_ptr<std::string>> handed_bytes_;
  std::vector<db::BytesView> handed_;
  std::vector<std::string_view> unused_tenants_;
  std::vector<base::Uuid> unused_;
};

void ClaimHandler::WriteItems(db::Transaction& tx, Items items) {
  ClaimBatch(*this, items).Run(tx);
}

void ClaimHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    const ClaimResult::Learned& learned = item->reply->learned;
    for (const Directory::Known& topic : learned.topics) directory_.Learn(topic);
    for (const Directory::Known& topic : learned.used) directory_.Used(topic);
    for (const auto& [topic, line] : learned.emptied)
      directory_.Emptied(topic.first, topic.second, line);
    for (const auto& [tenant, topic] : learned.rescanned)
      directory_.RescanTook(tenant, topic, learned.rescan_ms);
    if (!learned.workers.empty()) {
      const std::lock_guard lock(mutex_);
      if (named_.size() > kMaxNamed) named_.clear();
      named_.insert(learned.workers.begin(), learned.workers.end());
    }
    probe_.Claimed(item->request, item->reply->reply);
  }
}

bool ClaimHandler::IsNamed(std::int64_t worker) const {
  const std::lock_guard lock(mutex_);
  return named_.contains(worker);
}

}  // namespace tenure::messages
