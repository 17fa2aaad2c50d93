#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "messages/settle/locked_messages.hpp"
#include "messages/settle/settle.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// One batch of acknowledgements in one transaction.
class AcknowledgeBatch {
 public:
  AcknowledgeBatch(AcknowledgeHandler::Items items, Locked locked, const TopicCache& topic_cache,
                   const FollowerSlot& followers, std::string_view process,
                   db::ForgottenEvidence& evidence)
      : items_(items),
        locked_(locked),
        topic_cache_(topic_cache),
        followers_(followers),
        process_(process),
        evidence_(evidence) {}

  AcknowledgeEffect Run(db::Transaction& tx) {
    ListAcknowledgements();
    if (locked_ == Locked::kAwait) AwaitMessages(tx, Missing());
    FinishKnown(tx);
    FinishOthers(tx);
    KeepSome(tx);
    Answer(LoadWhereabouts(tx, Missing()));
    followers_.Ended(tx, ended_, now_ms_, effect_.notifications);
    if (!ended_.empty()) effect_.notifications.Tell(tx, process_, now_ms_);
    return std::move(effect_);
  }

 private:
  /// A message that somebody says he holds. Of those who say so with the same words the first one
  /// is told that it is done, the others that it is gone.
  struct Acknowledgement {
    MessageRef ref{};
    const Settlement* settlement = nullptr;
    std::size_t first = 0;  // index of the one that speaks for it
    bool done = false;
    Finished finished{};

    auto Key() const { return std::tuple(ref.second, ref.first, settlement->fence); }
  };
  /// A finished message that its topic keeps.
  struct Kept {
    const Acknowledgement* acknowledgement = nullptr;
    std::int64_t topic_id = 0;
    std::int64_t crashes = 0;
    std::string correlation{};
    std::int64_t retention_ms = 0;
  };

  /// All settlements in order of arrival, and the first of each by tenant, id and fence.
  void ListAcknowledgements() {
    for (const auto* item : items_)
      for (const Settlement& settlement : item->request.settlements)
        acknowledgements_.push_back(
            {.ref = {settlement.id, item->request.tenant}, .settlement = &settlement});
    order_.resize(acknowledgements_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) acknowledgements_[i].first = order_[i] = i;
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return acknowledgements_[i].Key(); });
    const auto speaks = [&](std::size_t a, std::size_t b) {
      if (acknowledgements_[a].Key() != acknowledgements_[b].Key()) return false;
      acknowledgements_[b].first = acknowledgements_[a].first;
      return true;
    };
    order_.erase(std::unique(order_.begin(), order_.end(), speaks), order_.end());
  }

  /// Where the settlements of the tenant with the most of them stand in order_.
  std::pair<std::size_t, std::size_t> LargestTenant() const {
    std::pair<std::size_t, std::size_t> largest{0, 0};
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      while (end < order_.size() && TenantAt(end) == TenantAt(begin)) ++end;
      if (end - begin > largest.second - largest.first) largest = {begin, end};
    }
    return largest;
  }
  std::string_view TenantAt(std::size_t i) const { return acknowledgements_[order_[i]].ref.second; }

  /// Ids and fences of acknowledgements.
  auto ColumnsOf(std::span<const std::size_t> indexes) const {
    return db::Columns(
        indexes, [this](std::size_t i) { return acknowledgements_[i].ref.first; },
        [this](std::size_t i) { return acknowledgements_[i].settlement->fence; });
  }

  void FinishKnown(db::Transaction& tx) {
    const auto [begin, end] = LargestTenant();
    if (begin == end) return;
    const std::string_view tenant = TenantAt(begin);
    std::string numbers;
    std::map<std::int64_t, TopicOf> topics;
    for (const TopicCache::Known& topic : topic_cache_.RecentOf(tenant)) {
      numbers += numbers.empty() ? '{' : ',';
      numbers += std::to_string(topic.topic_id);
      topics[topic.topic_id].name = topic.topic;
    }
    if (topics.empty()) return;
    numbers += '}';
    const auto finished =
        tx.Queue(sql::kFinishKnown, ColumnsOf(std::span(order_).subspan(begin, end - begin)),
                 std::string_view(numbers), tenant);
    const auto retention = tx.Queue(sql::kLoadRetention, std::string_view(numbers));
    const auto clock = tx.QueueClock();
    for (const auto row : tx.Take(retention)) topics[row.Int(0)].retention_ms = row.Int(1);
    for (const auto row : tx.Take(finished))
      Take(FindAcknowledgement(tenant, row.Uuid(0), row.Int(1)), row, topics.at(row.Int(2)));
    now_ms_ = tx.TakeClock(clock);
  }

  /// What the first statement did not find, or was not asked for.
  void FinishOthers(db::Transaction& tx) {
    std::vector<std::size_t> others;
    for (const std::size_t i : order_)
      if (!acknowledgements_[i].done) others.push_back(i);
    if (others.empty()) return;
    // In the order of the locks; a message comes twice where settlements name two tenants or fences.
    std::ranges::stable_sort(others, {},
                             [&](std::size_t i) { return acknowledgements_[i].ref.first; });
    const auto tenant = [this](std::size_t i) { return acknowledgements_[i].ref.second; };
    const auto finished =
        tx.Queue(sql::kFinishMessages, ColumnsOf(others), db::Columns(others, tenant));
    const auto clock = tx.QueueClock();
    for (const auto row : tx.Take(finished)) {
      Acknowledgement& acknowledgement = acknowledgements_[others[row.ordinal()]];
      const TopicOf topic{std::string(row.Text(10)), row.Int(12)};
      Take(acknowledgement, row, topic);
      Use({std::string(acknowledgement.ref.second), topic.name, row.Int(2), row.Int(11)});
    }
    now_ms_ = tx.TakeClock(clock);
  }

  struct TopicOf {
    std::string name{};
    std::int64_t retention_ms = -1;
  };

  Acknowledgement& FindAcknowledgement(std::string_view tenant, const base::Uuid& id,
                                       std::int64_t fence) {
    const auto found =
        std::ranges::lower_bound(order_, std::tuple(tenant, id, fence), {},
                                 [&](std::size_t i) { return acknowledgements_[i].Key(); });
    if (found == order_.end() || acknowledgements_[*found].Key() != std::tuple(tenant, id, fence))
      db::ThrowBadRow("a message was finished that nobody spoke of");
    return acknowledgements_[*found];
  }

  /// The columns that finish_known.sql and finish_messages.sql have in common.
  void Take(Acknowledgement& acknowledgement, const db::Rows::Row& row, const TopicOf& topic) {
    acknowledgement.done = true;
    acknowledgement.finished = {topic.name, row.Int(3), row.Int(4), row.Int(5),
                                std::string(row.Text(8))};
    if (!row.IsNull(9))
      ended_.push_back({.id = acknowledgement.ref.first,
                        .claimed_ms = row.Int(3),
                        .worker = row.Int(9),
                        .attempts = row.Int(5),
                        .crashes = row.Int(6),
                        .output = acknowledgement.settlement->output});
    if (topic.retention_ms > 0)
      kept_.push_back(
          {&acknowledgement, row.Int(2), row.Int(6), std::string(row.Text(7)), topic.retention_ms});
  }

  void Use(TopicCache::Known topic) {
    const auto same = [&](const TopicCache::Known& each) {
      return each.topic_id == topic.topic_id;
    };
    if (std::ranges::none_of(effect_.used, same)) effect_.used.push_back(std::move(topic));
  }

  void KeepSome(db::Transaction& tx) {
    const auto id = [](const Acknowledgement* acknowledgement) {
      return acknowledgement->ref.first;
    };
    const auto forget_ms = [this](const Kept& kept) { return now_ms_ + kept.retention_ms; };
    const auto finished = [](auto member) {
      return db::Inside(&Kept::acknowledgement, db::Inside(&Acknowledgement::finished, member));
    };
    tx.Queue(sql::kKeepFinished,
             db::Columns(kept_, db::Inside(&Kept::acknowledgement, id), &Kept::topic_id,
                         finished(&Finished::enqueued_ms),
                         db::Inside(&Kept::acknowledgement,
                                    db::Inside(&Acknowledgement::settlement, &Settlement::fence)),
                         finished(&Finished::attempts), &Kept::crashes, &Kept::correlation,
                         db::Inside(&Kept::acknowledgement,
                                    db::Inside(&Acknowledgement::settlement, &Settlement::output)),
                         forget_ms),
             now_ms_);
  }

  MessageRefs Missing() const {
    std::vector<MessageRef> missing;
    for (const std::size_t i : order_)
      if (!acknowledgements_[i].done) missing.push_back(acknowledgements_[i].ref);
    return MessageRefs(std::move(missing));
  }

  void Answer(const WhereaboutsOf& whereabouts) {
    std::size_t next = 0;
    for (auto* item : items_) {
      SettleResult& result = item->reply.emplace();
      result.now_ms = now_ms_;
      for (std::size_t end = next + item->request.settlements.size(); next < end; ++next) {
        Acknowledgement& first = acknowledgements_[acknowledgements_[next].first];
        if (const auto found = whereabouts.find(first.ref); found != whereabouts.end())
          LookForEvidence(evidence_, first.ref, first.settlement->fence, found->second.fence);
        const bool is_first = acknowledgements_[next].first == next;
        if (first.done && is_first) result.finished.push_back(std::move(first.finished));
        const SettleOutcome outcome =
            !first.done ? OutcomeFor(whereabouts, first.ref, first.settlement->fence)
            : is_first  ? SettleOutcome::kDone
                        : SettleOutcome::kGone;
        AddOutcome(outcome, locked_, item->request, *acknowledgements_[next].settlement, result);
      }
    }
  }

  const AcknowledgeHandler::Items items_;
  const Locked locked_;
  const TopicCache& topic_cache_;
  const FollowerSlot& followers_;
  const std::string_view process_;
  db::ForgottenEvidence& evidence_;
  std::vector<Acknowledgement> acknowledgements_;
  std::vector<std::size_t> order_;  // the first of each, by tenant, id, fence
  std::vector<Kept> kept_;
  std::vector<EndedMessage> ended_;
  AcknowledgeEffect effect_;
  std::int64_t now_ms_ = 0;
};

}  // namespace

AcknowledgeEffect AcknowledgeHandler::WriteItems(db::Transaction& tx, Items items) {
  return AcknowledgeBatch(items, locked_, topic_cache_, parts_.followers, parts_.process, evidence_)
      .Run(tx);
}

void AcknowledgeHandler::DoneItems(Items items, const AcknowledgeEffect& effect) {
  for (const TopicCache::Known& topic : effect.used) topic_cache_.Used(topic);
  effect.notifications.Signal(parts_.wake);
  for (const auto* item : items) {
    probe_.Settled(item->request, item->reply->reply);
    for (const Finished& each : item->reply->finished)
      probe_.Handled(item->reply->now_ms - each.claimed_ms, item->reply->now_ms - each.enqueued_ms);
  }
}

}  // namespace tenure::messages
