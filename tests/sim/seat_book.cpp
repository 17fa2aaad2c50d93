#include "sim/seat_book.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tenure::sim {

using What = SeatBook::Heard::What;

SeatPicture ReadSeatPicture(store::Tables& tables, const base::Uuid& license, std::int64_t now_ms) {
  std::string id = license.ToString();
  std::erase(id, '-');
  const auto number = [](const std::string& text) { return text.empty() ? 0 : std::stoll(text); };
  SeatPicture picture{.now_ms = now_ms};
  for (const auto& row : tables.Ask(fmt::format("select seats, state from {} where {} = '{}'",
                                                tables.Table("licenses"), tables.Id("id"), id))) {
    picture.limit = number(row[0]);
    picture.state = number(row[1]);
  }
  for (const auto& row : tables.Ask(
           fmt::format("select slot, open, {}, machine, expires_ms, {} from {} where {} = '{}'",
                       tables.Id("session_id"), tables.Id("ticket_id"), tables.Table("seats"),
                       tables.Id("license_id"), id)))
    picture.rows[number(row[0])] = {.open = row[1] == "1",
                                    .session = row[2],
                                    .machine = row[3],
                                    .expires_ms = number(row[4]),
                                    .is_offered = !row[5].empty()};
  // A planted bug hides tickets behind a sign.
  for (const auto& row : tables.Ask(
           fmt::format("select number, machine, abs(expires_ms), slot from {} where {} = '{}'",
                       tables.Table("seat_tickets"), tables.Id("license_id"), id)))
    picture.tickets[number(row[0])] = {
        .machine = row[1], .expires_ms = number(row[2]), .is_offered = !row[3].empty()};
  return picture;
}

void SeatBook::Hears(const Heard& heard) {
  entries_.push_back({heard, false});
  auto& told = told_[heard.session];
  told = std::max(told, heard.expires_ms);
  if (heard.what == What::kGrant) ++grants_;
}

void SeatBook::Stops(const base::Uuid& session, std::int64_t at_ms) {
  const auto [found, is_new] = stopped_.try_emplace(session, at_ms);
  if (!is_new) found->second = std::min(found->second, at_ms);
}

void SeatBook::Waives(const std::string& machine, std::int64_t at_ms) {
  waived_[machine].push_back(at_ms);
}

void SeatBook::HearsExpired(const base::Uuid& session, std::int64_t ended_ms) {
  const auto told = told_.find(session);
  if (!is_restored_ && told != told_.end() && ended_ms < told->second)
    report_(fmt::format("K1: a holding ended at {}, {} ms before the deadline that was told",
                        ended_ms, told->second - ended_ms));
}

void SeatBook::HearsEnd(const std::string& machine, int commit) {
  Entry entry;
  entry.heard.machine = machine;
  entry.heard.commit = commit;
  entry.ends = true;
  entries_.push_back(entry);
}

void SeatBook::Limit(int commit, std::int64_t seats) { limits_[commit] = seats; }

void SeatBook::Committed(const SeatPicture& now) {
  const std::optional<SeatPicture> before = std::exchange(picture_, now);
  if (!before) return;
  const auto waits = [&](const SeatPicture::Ticket& ticket) {
    return !ticket.is_offered && ticket.expires_ms > now.now_ms;
  };
  // Who waits before and after.
  std::optional<std::int64_t> first;
  for (const auto& [number, ticket] : now.tickets) {
    const auto then = before->tickets.find(number);
    if (then == before->tickets.end() || !waits(ticket) || !waits(then->second)) continue;
    first = number;
    break;
  }
  std::set<std::string> machines;
  for (const auto& [slot, row] : now.rows) {
    if (!row.machine.empty() && !machines.insert(row.machine).second)
      report_(fmt::format("K2: machine {} has two seats", row.machine));
    if (row.open || row.session.empty()) continue;
    const auto was = before->rows.find(slot);
    const bool had = was != before->rows.end() && !was->second.open &&
                     was->second.machine == row.machine && !was->second.is_offered;
    const bool picked_up =
        was != before->rows.end() && was->second.is_offered && was->second.machine == row.machine;
    if (had || picked_up || !first) continue;
    std::optional<std::int64_t> own;
    for (const auto& [number, ticket] : before->tickets)
      if (ticket.machine == row.machine) own = number;
    if (!own || *own > *first)
      report_(fmt::format("machine {} overtakes ticket {}", row.machine, *first));
  }
}

std::int64_t SeatBook::EndOf(const Heard& heard) const {
  std::int64_t end = heard.until_ms;
  if (const auto stopped = stopped_.find(heard.session); stopped != stopped_.end())
    end = std::min(end, stopped->second);
  if (const auto waived = waived_.find(heard.machine); waived != waived_.end())
    for (const std::int64_t at_ms : waived->second)
      if (at_ms >= heard.at_ms) end = std::min(end, at_ms);
  return end;
}

void SeatBook::Judge(const std::vector<seats::LogEntry>& log, const seats::LogHead& head) {
  std::ranges::stable_sort(entries_, {}, [](const Entry& entry) { return entry.heard.commit; });
  JudgeBeliefs();
  JudgeFences();
  JudgeLog(log, head);
}

void SeatBook::JudgeBeliefs() {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Heard& given = entries_[i].heard;
    if (entries_[i].ends || given.what == What::kBeat) continue;
    std::set<std::string> believing;
    bool believed = false;
    for (std::size_t j = 0; j < i; ++j) {
      const Heard& other = entries_[j].heard;
      if (entries_[j].ends || EndOf(other) <= given.at_ms) continue;
      believed = believed || other.machine == given.machine;
      if (other.machine != given.machine)
        believing.insert(other.machine);
      else if (other.person != given.person && !is_restored_)
        report_(fmt::format("the seat of {} on machine {} is {}'s, who still believes in it",
                            given.person, given.machine, other.person));
    }
    const auto holders = static_cast<std::int64_t>(believing.size()) + 1;
    if (given.what == What::kResume) {
      // Of a licence that drains, too. But there were never more seats than this, and a restored store
      // may take somebody for the holder of a seat that was given on since.
      const auto most =
          std::ranges::max_element(limits_, {}, &std::pair<const int, std::int64_t>::second);
      if (!believed && most != limits_.end() && holders > most->second)
        report_(
            fmt::format("K1: machine {} resumes one of {} seats, and {} others believe in theirs",
                        given.machine, most->second, believing.size()));
      continue;
    }
    const auto limit = limits_.upper_bound(given.commit);
    if (limit == limits_.begin()) continue;
    std::int64_t seats = std::prev(limit)->second;
    // It may have been lowered behind the grant, in the same transaction.
    if (std::prev(limit)->first == given.commit && std::prev(limit) != limits_.begin())
      seats = std::max(seats, std::prev(limit, 2)->second);
    most_ = std::max(most_, holders);
    if (holders > seats)
      report_(fmt::format("K1: machine {} is given a seat of {}, and {} others believe in theirs",
                          given.machine, seats, believing.size()));
  }
}

void SeatBook::JudgeFences() {
  std::int64_t last = 0;
  for (const Entry& entry : entries_) {
    const Heard& heard = entry.heard;
    if (entry.ends || heard.fence == 0) continue;
    if (heard.fence <= last) report_(fmt::format("fence {} comes after {}", heard.fence, last));
    last = heard.fence;
  }
}

/// By the deadlines that were told, on the store's clock: when nothing was missed, this is what the log says.
std::int64_t SeatBook::MostAsTold() const {
  std::map<std::string, std::int64_t> held;  // by machine: until when
  std::int64_t most = 0;
  for (const Entry& entry : entries_) {
    const Heard& heard = entry.heard;
    if (entry.ends) {
      held.erase(heard.machine);
      continue;
    }
    held[heard.machine] = heard.expires_ms;
    most = std::max(most, std::ranges::count_if(
                              held, [&](const auto& each) { return each.second > heard.now_ms; }));
  }
  return most;
}

void SeatBook::JudgeLog(const std::vector<seats::LogEntry>& log, const seats::LogHead& head) {
  if (log.empty()) return report_("the log is empty");
  seats::Prover prover(log.front().license);
  for (const seats::LogEntry& entry : log) prover.Add(entry);
  const seats::Proof proof = prover.Conclude(head);
  for (const seats::Finding& finding : proof.findings.first)
    report_(fmt::format("prove: entry {}: {}", finding.seq, finding.text));
  if (!is_restored_ && proof.highest < most_)
    report_(
        fmt::format("prove names {} as the most at once, and {} believed", proof.highest, most_));
  const std::int64_t as_told = MostAsTold();
  if (is_whole_ && proof.highest != as_told)
    report_(fmt::format("prove names {} as the most at once, and {} were told so", proof.highest,
                        as_told));
  std::map<base::Uuid, std::int64_t> expired;  // for good: not revived afterwards
  for (const seats::LogEntry& entry : log) {
    if (!entry.session) continue;
    if (entry.kind == seats::ToText(seats::LogKind::kSeatExpired))
      expired[*entry.session] = entry.at_ms;
    if (entry.kind == seats::ToText(seats::LogKind::kSeatRevived)) expired.erase(*entry.session);
  }
  for (const auto& [session, at_ms] : expired) {
    const auto told = told_.find(session);
    if (told == told_.end()) continue;
    const bool too_early = !is_restored_ && at_ms < told->second;
    if (too_early || (is_whole_ && at_ms > told->second))
      report_(fmt::format("EXPIRED has not the time that was told: it is {} ms {}",
                          std::abs(at_ms - told->second), too_early ? "earlier" : "later"));
  }
}

}  // namespace tenure::sim
