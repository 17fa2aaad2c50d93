#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "messages/fates.hpp"
#include "messages/report.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// One batch of acknowledgements in one transaction.
class AckBatch {
 public:
  AckBatch(AckHandler::Items items, Locked locked, const Directory& directory)
      : items_(items), locked_(locked), directory_(directory) {}

  void Run(db::Transaction& tx) {
    ListEntries();
    if (locked_ == Locked::kAwait) AwaitMessages(tx, Missing());
    FinishKnown(tx);
    FinishOthers(tx);
    KeepSome(tx);
    Answer(LoadFates(tx, Missing()));
  }

 private:
  /// A message that somebody says he holds. Of those who say so with the same words the first one
  /// is told that it is done, the others that it is gone.
  struct Entry {
    MessageRef ref{};
    const Report* report = nullptr;
    std::size_t first = 0;  // index of the one that speaks for it
    bool done = false;
    Finished finished{};

    auto Key() const { return std::tuple(ref.second, ref.first, report->fence); }
  };
  /// A finished message that its topic keeps.
  struct Kept {
    const Entry* entry = nullptr;
    std::int64_t topic_id = 0;
    std::int64_t crashes = 0;
    std::string correlation{};
    std::int64_t retention_ms = 0;
  };

  /// All reports in order of arrival, and the first of each by tenant, id and fence.
  void ListEntries() {
    for (const auto* item : items_)
      for (const Report& report : item->request.reports)
        entries_.push_back({.ref = {report.id, item->request.tenant}, .report = &report});
    order_.resize(entries_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) entries_[i].first = order_[i] = i;
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return entries_[i].Key(); });
    const auto speaks = [&](std::size_t a, std::size_t b) {
      if (entries_[a].Key() != entries_[b].Key()) return false;
      entries_[b].first = entries_[a].first;
      return true;
    };
    order_.erase(std::unique(order_.begin(), order_.end(), speaks), order_.end());
  }

  /// Where the reports of the tenant with the most of them stand in order_.
  std::pair<std::size_t, std::size_t> LargestTenant() const {
    std::pair<std::size_t, std::size_t> largest{0, 0};
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      while (end < order_.size() && TenantAt(end) == TenantAt(begin)) ++end;
      if (end - begin > largest.second - largest.first) largest = {begin, end};
    }
    return largest;
  }
  std::string_view TenantAt(std::size_t i) const { return entries_[order_[i]].ref.second; }

  void FinishKnown(db::Transaction& tx) {
    const auto [begin, end] = LargestTenant();
    if (begin == end) return;
    const std::string_view tenant = TenantAt(begin);
    std::string numbers;
    std::map<std::int64_t, TopicOf> topics;
    for (const Directory::Known& topic : directory_.RecentOf(tenant)) {
      numbers += numbers.empty() ? '{' : ',';
      numbers += std::to_string(topic.topic_id);
      topics[topic.topic_id].name = topic.topic;
    }
    if (topics.empty()) return;
    numbers += '}';
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> fences;
    for (std::size_t i = begin; i < end; ++i) {
      ids.push_back(entries_[order_[i]].ref.first);
      fences.push_back(entries_[order_[i]].report->fence);
    }
    const auto finished =
        tx.Queue(sql::kFinishKnown, ids, fences, std::string_view(numbers), tenant);
    const auto retention = tx.Queue(sql::kLoadRetention, std::string_view(numbers));
    const auto clock = tx.QueueClock();
    for (const auto row : tx.Take(retention)) topics[row.Int(0)].retention_ms = row.Int(1);
    for (const auto row : tx.Take(finished))
      Take(FindEntry(tenant, row.Uuid(0), row.Int(1)), row, topics.at(row.Int(2)));
    now_ms_ = tx.TakeClock(clock);
  }

  /// What the first statement did not find, or was not asked for.
  void FinishOthers(db::Transaction& tx) {
    std::vector<std::size_t> others;
    for (const std::size_t i : order_)
      if (!entries_[i].done) others.push_back(i);
    if (others.empty()) return;
    // In the order of the locks; a message comes twice where reports name two tenants or fences.
    std::ranges::stable_sort(others, {}, [&](std::size_t i) { return entries_[i].ref.first; });
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> fences;
    std::vector<std::string_view> tenants;
    for (const std::size_t i : others) {
      ids.push_back(entries_[i].ref.first);
      fences.push_back(entries_[i].report->fence);
      tenants.push_back(entries_[i].ref.second);
    }
    const auto finished = tx.Queue(sql::kFinishMessages, ids, fences, tenants);
    const auto clock = tx.QueueClock();
    for (const auto row : tx.Take(finished)) {
      Entry& entry = entries_[others[row.ordinal()]];
      const TopicOf topic{std::string(row.Text(9)), row.Int(11)};
      Take(entry, row, topic);
      Use({std::string(entry.ref.second), topic.name, row.Int(2), row.Int(10)});
    }
    now_ms_ = tx.TakeClock(clock);
  }

  struct TopicOf {
    std::string name{};
    std::int64_t retention_ms = -1;
  };

  Entry& FindEntry(std::string_view tenant, const base::Uuid& id, std::int64_t fence) {
    const auto found = std::ranges::lower_bound(order_, std::tuple(tenant, id, fence), {},
                                                [&](std::size_t i) { return entries_[i].Key(); });
    TENURE_CHECK(found != order_.end() && entries_[*found].Key() == std::tuple(tenant, id, fence),
                 "a message was finished that nobody spoke of");
    return entries_[*found];
  }

  /// The columns that finish_known.sql and finish_messages.sql have in common.
  void Take(Entry& entry, const db::Rows::Row& row, const TopicOf& topic) {
    entry.done = true;
    entry.finished = {topic.name, row.Int(3), row.Int(4), row.Int(5), std::string(row.Text(8))};
    if (topic.retention_ms > 0)
      kept_.push_back(
          {&entry, row.Int(2), row.Int(6), std::string(row.Text(7)), topic.retention_ms});
  }

  void Use(Directory::Known topic) {
    const auto same = [&](const Directory::Known& each) { return each.topic_id == topic.topic_id; };
    if (std::ranges::none_of(used_, same)) used_.push_back(std::move(topic));
  }

  void KeepSome(db::Transaction& tx) {
    std::vector<base::Uuid> ids;
    std::vector<std::int64_t> topics, enqueued, fences, attempts, crashes, forget;
    std::vector<std::string_view> correlations, outputs;
    for (const Kept& kept : kept_) {
      ids.push_back(kept.entry->ref.first);
      topics.push_back(kept.topic_id);
      enqueued.push_back(kept.entry->finished.enqueued_ms);
      fences.push_back(kept.entry->report->fence);
      attempts.push_back(kept.entry->finished.attempts);
      crashes.push_back(kept.crashes);
      correlations.push_back(kept.correlation);
      outputs.push_back(kept.entry->report->output);
      forget.push_back(now_ms_ + kept.retention_ms);
    }
    tx.Queue(sql::kKeepFinished, ids, topics, enqueued, fences, attempts, crashes, correlations,
             outputs, forget, now_ms_);
  }

  std::set<MessageRef> Missing() const {
    std::set<MessageRef> missing;
    for (const std::size_t i : order_)
      if (!entries_[i].done) missing.insert(entries_[i].ref);
    return missing;
  }

  void Answer(const Fates& fates) {
    std::size_t next = 0;
    for (auto* item : items_) {
      ReportResult& result = item->reply.emplace();
      result.now_ms = now_ms_;
      for (std::size_t end = next + item->request.reports.size(); next < end; ++next) {
        Entry& first = entries_[entries_[next].first];
        const bool is_first = entries_[next].first == next;
        if (first.done && is_first) result.finished.push_back(std::move(first.finished));
        const ReportOutcome outcome = !first.done
                                          ? OutcomeFor(fates, first.ref, first.report->fence)
                                      : is_first ? ReportOutcome::kDone
                                                 : ReportOutcome::kGone;
        AddOutcome(outcome, locked_, item->request, *entries_[next].report, result);
      }
    }
    items_.front()->reply->used = std::move(used_);
  }

  const AckHandler::Items items_;
  const Locked locked_;
  const Directory& directory_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> order_;  // the first of each, by tenant, id, fence
  std::vector<Kept> kept_;
  std::vector<Directory::Known> used_;
  std::int64_t now_ms_ = 0;
};

}  // namespace

void AckHandler::WriteItems(db::Transaction& tx, Items items) {
  AckBatch(items, locked_, directory_).Run(tx);
}

void AckHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    for (const Directory::Known& topic : item->reply->used) directory_.Used(topic);
    probe_.Reported(item->request, item->reply->reply);
    for (const Finished& each : item->reply->finished)
      probe_.Handled(item->reply->now_ms - each.claimed_ms, item->reply->now_ms - each.enqueued_ms);
  }
}

}  // namespace tenure::messages
