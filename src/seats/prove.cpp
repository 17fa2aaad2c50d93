#include "seats/prove.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tenure::seats {
namespace {

/// Gaps that are remembered one by one.
constexpr std::size_t kMostGaps = 1'000;

std::string Range(std::int64_t first, std::int64_t last) {
  return first == last ? std::string("is missing")
                       : fmt::format("entries {} to {} are missing", first, last);
}

}  // namespace

Prover::Prover(const base::Uuid& license) { proof_.license = license; }

void Prover::Expect(const LogHead& head) {
  const auto [kept, is_new] = expected_.emplace(head.seq, head.hash);
  if (!is_new && kept->second != head.hash)
    Report(head.seq, "two different hashes of this entry were kept elsewhere");
}

void Prover::Report(std::int64_t seq, std::string text) {
  proof_.findings.Add({seq, std::move(text)});
}

void Prover::Add(const LogEntry& entry) {
  ++proof_.entries;
  if (next_ == 0) CheckStart(entry);
  if (!CheckPlace(entry)) return;
  CheckHash(entry);
  CheckExpected(entry);
  proof_.head = {entry.seq, entry.hash};
  if (is_whole_) Replay(entry);
}

// ---- (1) the chain

void Prover::CheckStart(const LogEntry& entry) {
  proof_.first_seq = entry.seq;
  next_ = 1;
  before_ = LogHash{};
  if (entry.seq <= 1 || entry.kind != ToText(LogKind::kLogCheckpoint)) return;
  const auto detail = ReadLogDetail(LogKind::kLogCheckpoint, entry.detail);
  next_ = entry.seq;
  before_ = detail ? detail->before : std::nullopt;  // one that cannot be read is reported later
  const auto kept = expected_.find(entry.seq - 1);
  if (kept == expected_.end()) return;
  if (before_ && *before_ != kept->second)
    Report(entry.seq, "names another hash of the entry before it than the one kept elsewhere");
  expected_.erase(kept);
}

/// Whether it stands where it belongs, as far as those before it can tell.
bool Prover::CheckPlace(const LogEntry& entry) {
  if (entry.license != proof_.license) {
    Report(entry.seq, fmt::format("belongs to the licence {}", entry.license.ToString()));
    is_whole_ = false;
    return false;
  }
  if (entry.seq < next_) {
    FoundOutOfPlace(entry);
    return false;
  }
  if (entry.seq > next_) Skip(next_, entry.seq - 1);
  next_ = entry.seq + 1;
  return true;
}

void Prover::Skip(std::int64_t first, std::int64_t last) {
  is_whole_ = false;
  before_.reset();
  before_by_text_.reset();
  if (missing_.size() < kMostGaps)
    missing_.emplace_back(first, last);
  else
    Report(first, Range(first, last));
}

void Prover::FoundOutOfPlace(const LogEntry& entry) {
  is_whole_ = false;
  for (auto gap = missing_.begin(); gap != missing_.end(); ++gap) {
    const auto [first, last] = *gap;
    if (entry.seq < first || entry.seq > last) continue;
    Report(entry.seq, fmt::format("stands behind entry {}", next_ - 1));
    gap = missing_.erase(gap);
    if (entry.seq < last) gap = missing_.emplace(gap, entry.seq + 1, last);
    if (first < entry.seq) missing_.emplace(gap, first, entry.seq - 1);
    return;
  }
  Report(entry.seq, entry.seq < 1 ? "has no number that an entry can have" : "stands there twice");
}

/// What the entry's text makes of the hash before it must be its own hash. Where the hash of the
/// entry before was not right either, that one's text decides which of the two was changed: one
/// entry that was tampered with makes one finding.
void Prover::CheckHash(const LogEntry& entry) {
  const auto before = std::exchange(before_, entry.hash);
  const auto by_text = std::exchange(before_by_text_, std::nullopt);
  if (!before) return;  // what it hangs on is missing
  const LogHash right = HashOf(*before, entry);
  if (right == entry.hash) return;
  if (by_text && HashOf(*by_text, entry) == entry.hash) return;
  Report(entry.seq, "was changed: its hash is not that of its text and the hash before it");
  is_whole_ = false;
  before_by_text_ = right;
}

void Prover::CheckExpected(const LogEntry& entry) {
  if (expected_.empty()) return;
  const auto kept = expected_.find(entry.seq);
  if (kept == expected_.end()) return;
  if (kept->second != entry.hash)
    Report(entry.seq,
           fmt::format("has another hash than the one kept elsewhere, {}", HexOf(kept->second)));
  expected_.erase(kept);
}

void Prover::ReportMissing() {
  for (const auto& [first, last] : missing_) Report(first, Range(first, last));
  for (const auto& [seq, hash] : expected_) {
    if (seq < proof_.first_seq)
      Report(seq, fmt::format("a hash of it was kept elsewhere, and the log begins at entry {}",
                              proof_.first_seq));
    else
      Report(seq, "a hash of it was kept elsewhere, and the log does not have it");
  }
}

// ---- (2) and (3) the replay

void Prover::Replay(const LogEntry& entry) {
  const auto kind = ParseLogKind(entry.kind);
  if (!kind)
    return Report(entry.seq, fmt::format("is of a kind that this program does not know, {}; a "
                                         "later version may judge it",
                                         entry.kind));
  const auto detail = ReadLogDetail(*kind, entry.detail);
  if (!detail) return Report(entry.seq, "its detail is not what an entry of its kind has");
  CheckTime(entry, *detail);
  if (entry.seq == proof_.first_seq && entry.seq == 1 && *kind != LogKind::kLicenseCreated)
    Report(entry.seq, "is the first one and does not tell of the licence's creation");
  switch (*kind) {
    case LogKind::kSeatAcquired:
      return Grant(entry, *detail);
    case LogKind::kSeatRevived:
      return Revive(entry, *detail);
    case LogKind::kSeatResumed:
      return Resume(entry, *detail);
    case LogKind::kSeatReleased:
      return End(entry);
    case LogKind::kSeatExpired:
      return Lapsed(entry);
    case LogKind::kSeatRevoked:
      return Revoke(entry, *detail);
    case LogKind::kLicenseCreated:
    case LogKind::kLicenseChanged:
      return ChangeLimit(entry, *detail);
    case LogKind::kLogCheckpoint:
      return Checkpoint(entry, *detail);
    case LogKind::kStoreRestored:
      return proof_.restores.Add({entry.seq, entry.at_ms});
    case LogKind::kSeatDenied:
    case LogKind::kLicenseRevoked:
    case LogKind::kLicenseKeyRotated:
      return;
  }
}

void Prover::CheckTime(const LogEntry& entry, const LogDetail& detail) {
  if (entry.kind == ToText(LogKind::kSeatExpired)) return;  // judged with its holding
  if (entry.at_ms < last_ms_) Report(entry.seq, "is earlier than the entry before it");
  last_ms_ = std::max(last_ms_, entry.at_ms);
  if (detail.clock_ms) {
    if (*detail.clock_ms > entry.at_ms) Report(entry.seq, "its clock is ahead of its own time");
    if (!stretch_) stretch_ = {entry.seq, entry.seq, entry.at_ms, entry.at_ms};
    stretch_->to_seq = entry.seq;
    stretch_->to_ms = entry.at_ms;
    barrier_ = moments_.size();
  } else {
    if (stretch_) {
      proof_.by_place.Add(*std::exchange(stretch_, std::nullopt));
      barrier_ = moments_.size();
    }
    // Written by now, so its deadline had passed.
    if (latest_lapse_seq_ != 0 && latest_lapse_ms_ > entry.at_ms)
      Report(latest_lapse_seq_, "ends a holding at a time that had not come when it was written");
  }
  latest_lapse_seq_ = 0;
}

void Prover::Put(const LogEntry& entry, Moment::What what, std::int64_t limit) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  moments_.push_back({entry.at_ms, entry.seq,
                      static_cast<std::int32_t>(std::clamp<std::int64_t>(limit, 0, kMost)), what});
}

void Prover::RaiseFence(const LogEntry& entry) {
  if (!entry.fence || *entry.fence <= fence_)
    Report(entry.seq, "has a fence that is not above all before it");
  fence_ = std::max(fence_, entry.fence.value_or(0));
}

Prover::Holding Prover::Started(const LogEntry& entry, const LogDetail& detail) const {
  return {.session = *entry.session,
          .start_ms = detail.clock_ms.value_or(entry.at_ms),
          .since = moments_.size(),
          .is_open = true};
}

void Prover::Grant(const LogEntry& entry, const LogDetail& detail) {
  RaiseFence(entry);
  if (!entry.session || !entry.slot) return Report(entry.seq, "names no seat or no session");
  Holding& seat = seats_[*entry.slot];
  if (seat.is_open)
    Report(entry.seq, fmt::format("gives seat {} to {} while {} holds it", *entry.slot,
                                  entry.session->ToString(), seat.session.ToString()));
  else
    ++open_;
  Put(entry, Moment::What::kGrant);
  seat = Started(entry, detail);
}

void Prover::Revive(const LogEntry& entry, const LogDetail& detail) {
  if (!entry.session || !entry.slot) return Report(entry.seq, "names no seat or no session");
  Holding& seat = seats_[*entry.slot];
  if (seat.is_open || !seat.has_expired || seat.session != *entry.session)
    return Report(entry.seq, fmt::format("revives {}, which is not what lapsed on seat {}",
                                         entry.session->ToString(), *entry.slot));
  ++open_;
  Put(entry, Moment::What::kGrant);
  seat = Started(entry, detail);
}

Prover::Holding* Prover::OpenHolding(const LogEntry& entry, const base::Uuid& session,
                                     std::string_view doing) {
  const auto seat = entry.slot ? seats_.find(*entry.slot) : seats_.end();
  if (seat != seats_.end() && seat->second.is_open && seat->second.session == session)
    return &seat->second;
  Report(entry.seq, fmt::format("{} {}, which does not hold seat {}", doing, session.ToString(),
                                entry.slot ? std::to_string(*entry.slot) : "(none)"));
  return nullptr;
}

void Prover::Resume(const LogEntry& entry, const LogDetail& detail) {
  RaiseFence(entry);
  if (!entry.session) return Report(entry.seq, "names no session");
  if (Holding* const seat = OpenHolding(entry, *detail.former, "continues"))
    *seat = Started(entry, detail);
}

void Prover::End(const LogEntry& entry) {
  Holding* const seat = OpenHolding(entry, entry.session.value_or(base::Uuid{}), "ends");
  if (seat == nullptr) return;
  seat->is_open = false;
  --open_;
  Put(entry, Moment::What::kEnd);
}

/// Sorted in before the first moment at which it was over, if that moment came after its start and
/// after all that was written under a clock which had been set back.
void Prover::Lapsed(const LogEntry& entry) {
  Holding* const seat = OpenHolding(entry, entry.session.value_or(base::Uuid{}), "ends");
  if (seat == nullptr) return;
  seat->is_open = false;
  seat->has_expired = true;
  --open_;
  if (entry.at_ms < seat->start_ms) Report(entry.seq, "ends a holding before its start");
  if (latest_lapse_seq_ == 0 || entry.at_ms > latest_lapse_ms_) {
    latest_lapse_ms_ = entry.at_ms;
    latest_lapse_seq_ = entry.seq;
  }
  const std::size_t first = stretch_ ? moments_.size() : std::max(barrier_, seat->since);
  const auto begin = moments_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto at = std::lower_bound(
      begin, moments_.end(), entry.at_ms,
      [](const Moment& moment, std::int64_t at_ms) { return moment.at_ms < at_ms; });
  lapses_.push_back({static_cast<std::size_t>(at - moments_.begin()), entry.at_ms});
}

void Prover::Revoke(const LogEntry& entry, const LogDetail& detail) {
  if (!detail.force) {
    OpenHolding(entry, entry.session.value_or(base::Uuid{}), "revokes");
    return;  // it holds its seat until its deadline
  }
  proof_.forced.Add({entry.seq, entry.at_ms});
  End(entry);
}

void Prover::ChangeLimit(const LogEntry& entry, const LogDetail& detail) {
  if (*detail.seats < 0) Report(entry.seq, "sets a limit below zero");
  proof_.limit = *detail.seats;
  Put(entry, Moment::What::kLimit, *detail.seats);
}

// ---- checkpoints

void Prover::Checkpoint(const LogEntry& entry, const LogDetail& detail) {
  if (entry.seq == proof_.first_seq) return Begin(entry, detail);
  CompareCheckpoint(entry, detail);
}

/// What stood before it was removed: it says what was held and what the limit was.
void Prover::Begin(const LogEntry& entry, const LogDetail& detail) {
  limit_at_start_ = proof_.limit = *detail.seats;
  proof_.highest = *detail.highest;
  proof_.highest_at_ms = detail.highest_at_ms;
  for (const LogDetail::Held& held : detail.held) {
    Holding& seat = seats_[held.slot];
    if (seat.is_open) Report(entry.seq, fmt::format("names two holders of seat {}", held.slot));
    // Its start is not known; its deadline lies behind the checkpoint or was passed before it.
    seat = {.session = held.session, .start_ms = 0, .since = 0, .is_open = true};
    fence_ = std::max(fence_, held.fence);
  }
  open_ = held_at_start_ = static_cast<std::int64_t>(detail.held.size());
}

void Prover::CompareCheckpoint(const LogEntry& entry, const LogDetail& detail) {
  if (*detail.seats != proof_.limit)
    Report(entry.seq, fmt::format("is a checkpoint with the limit {} where it is {}", *detail.seats,
                                  proof_.limit));
  const bool same = std::ranges::all_of(detail.held, [this](const LogDetail::Held& held) {
    const auto seat = seats_.find(held.slot);
    return seat != seats_.end() && seat->second.is_open && seat->second.session == held.session;
  });
  if (!same || static_cast<std::int64_t>(detail.held.size()) != open_)
    Report(entry.seq, "is a checkpoint with other holdings than the log before it");
  checkpoints_.emplace_back(entry.seq, *detail.highest);
}

// ---- (4) the number held

/// Goes through all moments, the ends by deadline sorted in.
class Prover::Timeline {
 public:
  explicit Timeline(Prover& prover)
      : prover_(prover),
        proof_(prover.proof_),
        held_(prover.held_at_start_),
        limit_(prover.limit_at_start_) {}

  void Run() {
    auto& lapses = prover_.lapses_;
    std::sort(lapses.begin(), lapses.end(), [](const Lapse& a, const Lapse& b) {
      return a.before != b.before ? a.before < b.before : a.at_ms < b.at_ms;
    });
    auto lapse = lapses.begin();
    for (std::size_t i = 0; i < prover_.moments_.size(); ++i) {
      for (; lapse != lapses.end() && lapse->before <= i; ++lapse) Fall(lapse->at_ms);
      Take(prover_.moments_[i]);
    }
    for (; lapse != lapses.end(); ++lapse) Fall(lapse->at_ms);
    CompareHighest(std::numeric_limits<std::int64_t>::max());
    if (over_) proof_.over_limit.Add(*over_);
    proof_.held = held_;
  }

 private:
  void Take(const Moment& moment) {
    CompareHighest(moment.seq);
    switch (moment.what) {
      case Moment::What::kGrant:
        return Rise(moment);
      case Moment::What::kEnd:
        return Fall(moment.at_ms);
      case Moment::What::kLimit:
        limit_ = moment.limit;
        return Weigh(moment.at_ms, moment.seq);
    }
  }

  void Rise(const Moment& moment) {
    if (held_ >= limit_)
      prover_.Report(moment.seq,
                     fmt::format("gives a seat while {} of {} are held", held_, limit_));
    ++held_;
    if (held_ > proof_.highest) {
      proof_.highest = held_;
      proof_.highest_at_ms = moment.at_ms;
      proof_.highest_seq = moment.seq;
    }
    if (over_) over_->most = std::max(over_->most, held_);
  }

  void Fall(std::int64_t at_ms) {
    --held_;
    Weigh(at_ms, 0);
  }

  /// A stretch over the limit begins with a change of the limit.
  void Weigh(std::int64_t at_ms, std::int64_t seq) {
    if (held_ > limit_ && !over_ && seq != 0)
      over_ = {.from_seq = seq, .from_ms = at_ms, .limit = limit_, .most = held_};
    if (!over_) return;
    over_->limit = std::min(over_->limit, limit_);
    if (held_ > limit_) return;
    over_->until_ms = at_ms;
    proof_.over_limit.Add(*std::exchange(over_, std::nullopt));
  }

  void CompareHighest(std::int64_t before_seq) {
    const auto& checkpoints = prover_.checkpoints_;
    for (; checkpoint_ < checkpoints.size() && checkpoints[checkpoint_].first < before_seq;
         ++checkpoint_)
      if (checkpoints[checkpoint_].second < proof_.highest)
        prover_.Report(checkpoints[checkpoint_].first,
                       fmt::format("is a checkpoint that says {} were held at most, and it was {}",
                                   checkpoints[checkpoint_].second, proof_.highest));
  }

  Prover& prover_;
  Proof& proof_;
  std::int64_t held_;
  std::int64_t limit_;
  std::optional<Proof::OverLimit> over_{};
  std::size_t checkpoint_ = 0;
};

Proof Prover::Conclude(const std::optional<LogHead>& head) {
  if (stretch_) proof_.by_place.Add(*std::exchange(stretch_, std::nullopt));
  if (head && head->seq > proof_.head.seq)
    Skip(proof_.head.seq + 1, head->seq);
  else if (head && head->seq < proof_.head.seq)
    Report(head->seq + 1,
           fmt::format("stands behind the licence's head, which is entry {}", head->seq));
  else if (head && head->hash != proof_.head.hash)
    Report(head->seq, "is the last one, and the licence's head is not its hash");
  ReportMissing();
  Timeline(*this).Run();
  return std::move(proof_);
}

}  // namespace tenure::seats
