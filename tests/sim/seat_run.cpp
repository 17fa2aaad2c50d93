#include "sim/seat_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "db/maintenance.hpp"
#include "seats/keys.hpp"

namespace tenure::sim {
namespace {

using seats::AdminOutcome;
using seats::ChangeCommand;

/// The planted bugs that are a change of what is written.
std::vector<std::string> TriggersOf(SeatRun::Planted planted) {
  switch (planted) {
    case SeatRun::Planted::kDeadlineMovesBack:
      return {
          "after update of beat_ms on seats when new.beat_ms > old.beat_ms and new.session_id = "
          "old.session_id "
          "begin update seats set expires_ms = new.beat_ms + (select ttl_ms + grace_ms from "
          "licenses "
          "where id = new.license_id) where license_id = new.license_id and slot = new.slot; end"};
    case SeatRun::Planted::kOfferIsASignal:
      return {
          "after update of ticket_id on seats when new.ticket_id is not null begin "
          "update seats set open = 1, lapsed_ms = 0, ticket_id = null, machine = null, expires_ms "
          "= 0 "
          "where license_id = new.license_id and slot = new.slot; end",
          "after insert on seat_tickets when new.slot is not null begin "
          "update seat_tickets set slot = null where ticket_id = new.ticket_id; end",
          "after update of slot on seat_tickets when new.slot is not null begin "
          "update seat_tickets set slot = null where ticket_id = new.ticket_id; end",
          "after update of held on licenses begin update licenses set held = "
          "(select count(*) from seats where license_id = new.id and open = 0) where id = new.id; "
          "end"};
    case SeatRun::Planted::kPriorIsForgotten:
      return {
          "after update of prior_ms on seats when new.prior_ms > 0 begin "
          "update seats set prior_ms = 0 where license_id = new.license_id and slot = new.slot; "
          "end"};
    case SeatRun::Planted::kLookIsNotLowered:
      return {
          "after update of look_ms on licenses when new.look_ms < old.look_ms begin "
          "update licenses set look_ms = old.look_ms where id = new.id; end"};
    case SeatRun::Planted::kLogInAnotherTransaction:
      // The process dies between the two.
      return {
          "before insert on seat_log when new.kind = 'LICENSE_SEAT_RELEASED' begin select "
          "raise(ignore); end",
          "after update of log_seq on licenses when exists (select 1 from seat_log where "
          "license_id = new.id) "
          "and new.log_seq > (select max(seq) from seat_log where license_id = new.id) begin "
          "update licenses set log_seq = old.log_seq, log_hash = old.log_hash where id = new.id; "
          "end"};
    default:
      return {};
  }
}

}  // namespace

SeatRun::SeatRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
    : SeedRun(ensemble, seed, 70),
      planted_(planted),
      has_tables_(ensemble.size() > 1),
      book_([this](const std::string& what) { Violation(what); }) {
  clock().Advance(200'000);  // whatever an earlier seed froze
  Weather weather;
  if (Chance(70)) {
    weather.crash = Pick({0, 3, 8});
    weather.lost_reply = Pick({0, 4, 12});
    weather.unavailable = Pick({0, 2, 6});
  }
  weather.slow = Pick({0, 5, 15});
  weather.slowest_commit_ms = kSlowestCommitMs;
  for (std::size_t i = 0; i < ensemble.size(); ++i) Restart(i);
  license_ = NewId();
  tenant_ = "t" + license_.ToString();
  key_hash_ = seats::HashOfKey(tenant_);
  for (const char* machine : {"m0", "m1", "m2", "m3", "m4"}) clients_.push_back({machine, "ann"});
  clients_.push_back({"m0", "ann"});  // a clone, or the process that came after
  clients_.push_back({"m1", "bob"});  // a colleague at the same machine
  Begin(weather);
  Prepare();
}

SeatRun::~SeatRun() {
  HearNothing();
  for (std::size_t i = 0; i < ensemble().size(); ++i) seats(i).StopWaiting();
}

std::map<std::string, std::int64_t> SeatRun::counts() const {
  std::map<std::string, std::int64_t> counts{{"grants", book_.grants()}, {"revivals", revived_}};
  if (has_tables_)
    counts["offers that were told"] = offered_;
  else
    counts["restores"] = restored_;
  return counts;
}

void SeatRun::Plant(const std::vector<std::string>& triggers) {
  for (int i = 0; i < 4; ++i)
    ensemble().tables().Ask(fmt::format("drop trigger if exists planted{}", i));
  for (std::size_t i = 0; i < triggers.size(); ++i)
    ensemble().tables().Ask(fmt::format("create trigger planted{} {}", i, triggers[i]));
}

void SeatRun::Prepare() {
  SetCalm(true);
  if (has_tables_) Plant({});
  seats::CreateRequest request;
  seats::LicenseRow& license = request.license;
  license.id = license_;
  license.tenant = tenant_;
  license.seats = limit_ = 1 + RandomMs(2);
  license.ttl_ms = kTtlMs;
  license.interval_ms = kTtlMs / 2;
  license.grace_ms = Chance(30) ? 1'000 : 0;
  request.key_hash = key_hash_;
  seats(0).Create(request, nullptr, Listen(0, [](const auto&) {}));
  DriveOne(0);
  book_.Limit(commits_, limit_);
  if (has_tables_) {
    clock_gain_ms_ = ensemble().tables().Number("select now_ms from clock_mark") - Now();
    if (planted_ != Planted::kLogInAnotherTransaction) Plant(TriggersOf(planted_));
  }
  SetCalm(false);
}

std::int64_t SeatRun::StoreNow() const { return Now() + clock_gain_ms_.value_or(0); }

void SeatRun::Step() {
  const auto roll = Random(100);
  Pass(roll < 55 ? RandomMs(40) : roll < 92 ? RandomMs(1'200) : RandomMs(7'000));
  if (Chance(2)) clock().StepWall(-RandomMs(2'000));
  if (!late_.empty() && Chance(40)) {
    const Late late = late_.front();
    late_.erase(late_.begin());
    Client& client = clients_[late.client];
    if (client.life == late.life)
      late.listen(client);
    else
      late.miss();
  }
  if (restores_ && Chance(6)) return MakeCopy();
  if (restores_ && has_copy_ && Chance(6)) return PutCopyBack();
  const std::size_t process = Random(ensemble().size());
  Act(process);
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(75)) DriveOne(process);
  if (Chance(15)) DriveEach();
}

void SeatRun::Act(std::size_t process) {
  const auto roll = Random(100);
  if (roll < 84) return ActAs(Random(clients_.size()), process);
  if (roll < 86) return HangUpOne();
  if (roll < 94) return Operate(process);
  Tidy(process);
}

void SeatRun::DriveOne(std::size_t process) {
  const bool log_is_lost = planted_ == Planted::kLogInAnotherTransaction && Chance(20);
  if (log_is_lost) Plant(TriggersOf(planted_));
  // Whether a seat is to be had before anybody else acts, by what the tables say.
  seat_is_to_be_had_ = false;
  if (const auto& picture = book_.picture(); has_tables_ && picture && picture->state == 0) {
    const auto now_ms = StoreNow();
    const bool has_room = static_cast<std::int64_t>(picture->rows.size()) <= picture->limit;
    const bool is_free = std::ranges::any_of(picture->rows, [&](const auto& row) {
      return row.second.open || row.second.expires_ms <= now_ms;
    });
    const bool nobody_waits = std::ranges::none_of(picture->tickets, [&](const auto& ticket) {
      return !ticket.second.is_offered && ticket.second.expires_ms > now_ms;
    });
    seat_is_to_be_had_ = has_room && is_free && nobody_waits;
  }
  Drive(process);
  submitted_[process] = 0;
  seat_is_to_be_had_ = false;
  if (log_is_lost) Plant({});
}

void SeatRun::DriveEach() {
  for (std::size_t i = 0; i < ensemble().size(); ++i) DriveOne(i);
}

void SeatRun::OnAfter(std::string_view step) {
  if (step == "commit") ++commits_;
}

void SeatRun::OnCommitted() {
  if (!has_tables_) return;
  auto& tables = ensemble().tables();
  tables.Ask("begin");
  SeatPicture picture = ReadSeatPicture(tables, license_, StoreNow());
  tables.Ask("commit");
  if (hides_limit_) picture.limit = limit_;
  if (picture.limit != limit_) book_.Limit(commits_, limit_ = picture.limit);
  book_.Committed(picture);
}

void SeatRun::OnCrash(std::size_t process) {
  ++crashes_;
  book_.Misses();
  std::erase_if(waiting_, [&](const Waiting& each) { return each.process == process; });
}

void SeatRun::MakeCopy() {
  Trace("a copy is made");
  ensemble().SaveCopy();
  copied_limit_ = limit_;
  has_copy_ = true;
}

/// Each copy is put back once (restore_sim_test.cpp).
void SeatRun::PutCopyBack() {
  Trace("the copy is put back");
  waiting_.clear();
  SeedRun::PutBack(0);
  ++restored_;
  has_copy_ = false;
  book_.Restored();
  book_.Limit(++commits_, limit_ = copied_limit_);
  if (planted_ == Planted::kNoFreeze) db::Thaw(ensemble().ServerOf<SeatServer>(0).store.engine());
}

std::string SeatRun::NameOf(const base::Uuid& session) {
  const auto [found, is_new] = names_.try_emplace(session);
  if (is_new) found->second = fmt::format("s{}", names_.size());
  return found->second;
}

// What operators do

void SeatRun::Change(std::size_t process, ChangeCommand command) {
  command.license = license_;
  command.by = "op";
  // So that it is known from when on a limit is in force.
  SetCalm(!has_tables_);
  const auto seats = command.seats;
  this->seats(process).Settle<AdminOutcome>(std::move(command), nullptr,
                                            Listen(process, [this, seats](const auto& result) {
                                              if (has_tables_ || !seats || !result.ok()) return;
                                              if (result.value().kind == AdminOutcome::Kind::kDone)
                                                book_.Limit(commits_, limit_ = *seats);
                                            }));
  if (!has_tables_) DriveOne(process);
  SetCalm(false);
}

void SeatRun::Operate(std::size_t process) {
  const auto roll = Random(100);
  ChangeCommand command;
  if (roll < 35) {
    command.seats = RandomMs(4);
    Trace(fmt::format("the limit shall be {}", *command.seats));
  } else if (roll < 50) {
    command.ttl_ms = Pick({1'000, 2'000, 4'000, 8'000});
    Trace(fmt::format("the ttl shall be {}", *command.ttl_ms));
  } else if (roll < 54) {
    command.suspended = true;
    Trace("the licence is suspended");
  } else if (roll < 68) {
    command.suspended = false;
    command.valid_until_ms = 0;
    Trace("the licence goes on");
  } else if (roll < 74) {
    command.valid_until_ms = StoreNow() + 500 + RandomMs(5'000);
    Trace("the licence gets an end");
  } else {
    return RevokeSeat(process);
  }
  Change(process, command);
}

void SeatRun::RevokeSeat(std::size_t process) {
  const Client& client = clients_[Random(clients_.size())];
  if (!client.session) return;
  const bool force = Chance(50);
  Trace(fmt::format("{} of {} is revoked{}", NameOf(*client.session), client.machine,
                    force ? " by force" : ""));
  if (force) book_.Waives(client.machine, Now());
  seats(process).RevokeSeat(
      {{}, tenant_, *client.session, "because", force, "op"}, nullptr,
      Listen(process, [this, force, machine = client.machine](const auto& result) {
        if (!result.ok() || !result.value().holding) return;
        // What it was told meanwhile is over, too.
        if (force) book_.Waives(machine, Now());
        const auto& holding = *result.value().holding;
        if (force || holding.ended_ms > 0) book_.HearsEnd(machine, commits_);
      }));
}

void SeatRun::Tidy(std::size_t process) {
  const auto roll = Random(10);
  Trace(roll < 6   ? "a sweep"
        : roll < 7 ? "a checkpoint"
        : roll < 8 ? "denials are written"
                   : "tickets are tidied");
  if (roll < 6)
    return seats(process).Settle<seats::SweepOutcome>(seats::SweepCommand{license_}, nullptr,
                                                      Listen(process, [](const auto&) {}));
  if (roll < 7)
    return seats(process).Settle<seats::SweepOutcome>(seats::CheckpointCommand{license_, 0},
                                                      nullptr, Listen(process, [](const auto&) {}));
  if (roll < 8) return seats(process).FlushDenials();
  seats(process).ForgetSomeTickets({}, nullptr, Listen(process, [](const auto&) {}));
}

// The end

void SeatRun::Settle() {
  if (has_violations()) return;
  if (has_tables_ && planted_ == Planted::kLogInAnotherTransaction) Plant({});
  DriveEach();
  for (const Late& late : late_) late.miss();
  late_.clear();
  while (!waiting_.empty()) HangUpOne();
  for (Client& client : clients_) Die(client);
  DriveEach();
  Pass(100'000);
  DriveEach();
  ChangeCommand change;
  change.seats = 2;
  change.suspended = false;
  change.valid_until_ms = 0;
  Change(0, change);
  SetCalm(true);
  DriveOne(0);
  for (const char* machine : {"f0", "f1", "f2"}) {
    clients_.push_back({machine, "ann"});
    Acquire(clients_.size() - 1, Random(ensemble().size()), 0);
    DriveEach();
    for (const Late& late : std::exchange(late_, {})) late.listen(clients_[late.client]);
    if (Believes(clients_.back()) != (*(machine + 1) < '2'))
      Violation(fmt::format("K2: machine {} {} a seat, though everybody is gone", machine,
                            Believes(clients_.back()) ? "gets" : "cannot have"));
  }
  CloseBooks();
}

void SeatRun::CloseBooks() {
  std::vector<seats::LogEntry> log = ReadLog();
  seats::LogHead head;
  seats(0).FindLicense({tenant_, license_}, nullptr, Listen(0, [&](const auto& result) {
                         const seats::LicenseRow& row = result.value().license->license;
                         head.seq = row.log_seq;
                         std::copy_n(row.log_hash.begin(), head.hash.size(), head.hash.begin());
                       }));
  Drive(0);
  if (planted_ == Planted::kExpiredWhenWritten) {
    // As it would have been written.
    std::int64_t last_ms = 0;
    seats::LogHash before{};
    for (seats::LogEntry& entry : log) {
      if (entry.kind != seats::ToText(seats::LogKind::kSeatExpired))
        last_ms = entry.at_ms;
      else if (const auto next = std::ranges::find_if(
                   log,
                   [&](const auto& each) {
                     return each.seq > entry.seq &&
                            each.kind != seats::ToText(seats::LogKind::kSeatExpired);
                   });
               next != log.end())
        entry.at_ms = std::max(last_ms, next->at_ms);
      before = entry.hash = seats::HashOf(before, entry);
    }
    head.hash = before;
  }
  book_.Judge(log, head);
}

std::vector<seats::LogEntry> SeatRun::ReadLog() {
  std::vector<seats::LogEntry> log;
  for (bool more = true; more;) {
    more = false;
    const std::int64_t from = log.empty() ? 1 : log.back().seq + 1;
    seats(0).ListLog({.license = license_, .from = from, .limit = 500}, nullptr,
                     Listen(0, [&](const auto& result) {
                       if (!result.ok()) return Violation("the log cannot be read");
                       const auto& page = result.value();
                       log.insert(log.end(), page.rows.begin(), page.rows.end());
                       more = page.has_more;
                     }));
    Drive(0);
  }
  return log;
}

}  // namespace tenure::sim
