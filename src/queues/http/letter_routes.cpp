// Messages that could not be processed: listed, summed up, resumed, sent once more, put away.
#include <charconv>
#include <map>
#include <set>

#include "base/time_text.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "queues/http/json.hpp"
#include "queues/http/problems.hpp"
#include "queues/http/routes.hpp"

namespace tenure::queues {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Method;
using Which = LetterFilter::Which;

constexpr const char* kLettersRead = "queues:read";
constexpr const char* kLettersOperate = "queues:operate";
constexpr std::size_t kMaxWhyBytes = 500;
constexpr std::size_t kMaxLetterClassBytes = 4096;
constexpr std::int64_t kMaxLetters = 1'000;
constexpr std::int64_t kMaxRate = 100'000;
constexpr std::size_t kMaxTimeBytes = 40;
constexpr std::string_view kTimeRule = "must be a time of RFC 3339, such as 2026-01-31T12:00:00Z";
constexpr std::string_view kStateRule = "must be parked or skipped";
constexpr std::string_view kReasonRule =
    "must be max_delivery_count, ttl, rejected, skipped or dropped";

std::optional<Which> WhichOf(const std::string& text) {
  if (text == "parked") return Which::kParked;
  if (text == "skipped") return Which::kSkipped;
  return std::nullopt;
}

std::optional<DeathReason> ReasonOf(const std::string& text) {
  return http::OneOf(text, {DeathReason::kMaxDeliveryCount, DeathReason::kTtl,
                            DeathReason::kRejected, DeathReason::kSkipped, DeathReason::kDropped});
}

/// "time:session:sequence", as a page ended.
std::optional<LettersRequest> AfterOf(const std::string& text) {
  LettersRequest after;
  const std::size_t first = text.find(':');
  const std::size_t second = text.rfind(':');
  if (first == std::string::npos || second == first) return std::nullopt;
  const auto number = [](std::string_view digits, std::int64_t& into) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
    return error == std::errc() && end == digits.data() + digits.size() && into >= 0;
  };
  const std::string_view all = text;
  const auto session = base::Uuid::Parse(all.substr(first + 1, second - first - 1));
  if (!session || !number(all.substr(0, first), after.after_ms) ||
      !number(all.substr(second + 1), after.after.sequence))
    return std::nullopt;
  after.after.session = *session;
  return after;
}

void ContinueAt(const std::optional<LettersRequest>& after, LettersRequest& request) {
  if (!after) return;
  request.after_ms = after->after_ms;
  request.after = after->after;
}

void ListLetters(const RouteParts& parts, const ExchangePtr& exchange) {
  LettersRequest request;
  LetterFilter& filter = request.filter;
  filter.tenant = http::TenantOf(exchange);
  filter.queue = QueueOf(exchange);
  http::QueryFields fields(exchange->request().query);
  filter.which = fields.Parsed("state", 10, kStateRule, WhichOf).value_or(Which::kBoth);
  filter.reason = fields.Parsed("reason", 20, kReasonRule, ReasonOf);
  filter.error_class = fields.Text("error_class", kMaxLetterClassBytes).value_or("");
  filter.session = fields.Uuid("session");
  filter.entity = fields.Text("entity", kMaxKeyBytes).value_or("");
  filter.since_ms =
      fields.Parsed("since", kMaxTimeBytes, kTimeRule, base::ParseRfc3339Ms).value_or(0);
  ContinueAt(fields.Parsed("cursor", 80, http::kNoCursor, AfterOf), request);
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.queues.ListLetters(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const db::Page<Letter>& page) {
        if (page.rows.empty()) return ReplyUnlessUnknown(parts, to, LettersJson(page));
        to->ReplyJson(LettersJson(page));
      }));
}

void SumLetters(const RouteParts& parts, const ExchangePtr& exchange) {
  LetterSumsRequest request;
  request.filter.tenant = http::TenantOf(exchange);
  request.filter.queue = QueueOf(exchange);
  http::QueryFields fields(exchange->request().query);
  request.filter.which = fields.Parsed("state", 10, kStateRule, WhichOf).value_or(Which::kBoth);
  fields.Finish();
  parts.queues.SumLetters(
      std::move(request), exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const db::Page<LetterSum>& page) {
        if (page.rows.empty()) return ReplyUnlessUnknown(parts, to, LetterSumsJson(page));
        to->ReplyJson(LetterSumsJson(page));
      }));
}

/// An act on letters: of a filter, or by name.
struct LetterAct {
  LettersRequest letters{};
  std::set<base::Uuid> ids{};  ///< of messages; empty: all that the filter finds
  std::string reason{};
  std::int64_t rate = 0;  ///< so many a second; 0: at once
  bool dry_run = false;
  bool rewinds = false;
};

enum class Takes { kNothing, kRate, kMode };

LetterAct ReadAct(const ExchangePtr& exchange, Which which, Takes takes) {
  LetterAct act;
  LetterFilter& filter = act.letters.filter;
  filter.tenant = http::TenantOf(exchange);
  filter.queue = QueueOf(exchange);
  filter.which = which;
  JsonFields fields(exchange->request().body);
  act.reason = fields.NonEmptyText("reason", kMaxWhyBytes);
  if (const auto text = fields.OptionalText("death_reason", 20)) {
    filter.reason = ReasonOf(*text);
    if (!filter.reason) fields.Refuse("death_reason", std::string(kReasonRule));
  }
  filter.error_class = fields.OptionalText("error_class", kMaxLetterClassBytes).value_or("");
  filter.session = fields.OptionalUuid("session");
  filter.entity = fields.OptionalText("entity", kMaxKeyBytes).value_or("");
  for (const base::Uuid& id : fields.OptionalUuids("ids", kMaxLetters)) act.ids.insert(id);
  if (fields.Has("ids") && act.ids.empty()) fields.Refuse("ids", "must not be empty");
  act.letters.limit = fields.OptionalInteger("limit", 1, kMaxLetters).value_or(kMaxLetters);
  if (const auto cursor = fields.OptionalText("cursor", 80)) {
    const auto after = AfterOf(*cursor);
    if (!after) fields.Refuse("cursor", std::string(http::kNoCursor));
    ContinueAt(after, act.letters);
  }
  act.dry_run = fields.OptionalFlag("dry_run").value_or(false);
  if (takes == Takes::kRate) act.rate = fields.OptionalInteger("rate", 1, kMaxRate).value_or(0);
  if (takes == Takes::kMode) {
    const std::string mode = fields.OptionalText("mode", 10).value_or("append");
    if (mode != "append" && mode != "rewind") fields.Refuse("mode", "must be append or rewind");
    act.rewinds = mode == "rewind";
  }
  fields.Finish();
  return act;
}

/// A page of letters that an act is about.
struct Chosen {
  std::vector<Letter> letters{};
  std::string next_cursor{};
};

/// Calls `act` with what was found; answers at once when there is nothing to do.
template <class Act>
void Choose(const RouteParts& parts, const ExchangePtr& exchange, LetterAct what, Act act) {
  LettersRequest letters = what.letters;
  parts.queues.ListLetters(
      std::move(letters), exchange->caller(),
      Answering(exchange, [parts, what = std::move(what), act = std::move(act)](
                              const ExchangePtr& to, const db::Page<Letter>& page) {
        Chosen chosen;
        for (const Letter& each : page.rows)
          if (each.replayed_ms == 0 && (what.ids.empty() || what.ids.contains(each.id)))
            chosen.letters.push_back(each);
        if (page.has_more) chosen.next_cursor = CursorOf(page.rows.back());
        if (what.dry_run || chosen.letters.empty())
          return ReplyUnlessUnknown(parts, to,
                                    ChangedJson(std::ssize(chosen.letters), 0, chosen.next_cursor));
        act(to, what, std::move(chosen));
      }));
}

/// The n-th of them waits its turn: `rate` a second.
void ResumeAll(const RouteParts& parts, const ExchangePtr& exchange) {
  Choose(parts, exchange, ReadAct(exchange, Which::kParked, Takes::kRate),
         [parts](const ExchangePtr& to, const LetterAct& act, Chosen chosen) {
           ReportRequest request{act.letters.filter.tenant, act.letters.filter.queue, {}};
           for (const Letter& each : chosen.letters) {
             Report& report = request.items.emplace_back();
             report.kind = Report::Kind::kResume;
             report.session = each.place.session;
             report.sequence = each.place.sequence;
             report.error = act.reason;
             if (act.rate > 0)
               report.delay_ms =
                   static_cast<std::int64_t>(request.items.size() - 1) * 1'000 / act.rate;
           }
           const std::int64_t found = std::ssize(chosen.letters);
           parts.queues.Report(
               std::move(request), http::Acting(to, "queue.resume"),
               Answering(to, [found, next = chosen.next_cursor](const ReportReply& reply) {
                 return ChangedJson(found,
                                    std::ranges::count(reply.outcomes, ReportOutcome::Kind::kDone,
                                                       &ReportOutcome::kind),
                                    next);
               }));
         });
}

/// Each session back to the first of its letters.
void Rewind(const RouteParts& parts, const ExchangePtr& to, const LetterAct& act,
            const Chosen& chosen) {
  std::map<base::Uuid, std::int64_t> first;
  for (const Letter& each : chosen.letters) {
    const auto [at, is_new] = first.emplace(each.place.session, each.place.sequence);
    if (!is_new) at->second = std::min(at->second, each.place.sequence);
  }
  ReportRequest request{act.letters.filter.tenant, act.letters.filter.queue, {}};
  for (const auto& [session, sequence] : first) {
    Report& report = request.items.emplace_back();
    report.kind = Report::Kind::kRewind;
    report.session = session;
    report.sequence = sequence;
    report.error = act.reason;
  }
  const std::int64_t found = std::ssize(chosen.letters);
  parts.queues.Report(
      std::move(request), http::Acting(to, "queue.replay"),
      Answering(to, [found, next = chosen.next_cursor](const ExchangePtr& answer,
                                                       const ReportReply& reply) {
        const std::int64_t changed =
            std::ranges::count(reply.outcomes, ReportOutcome::Kind::kDone, &ReportOutcome::kind);
        if (changed > 0 || reply.outcomes.size() > 1)
          return answer->ReplyJson(ChangedJson(found, changed, next));
        const ReportOutcome& only = reply.outcomes.front();
        if (only.kind == ReportOutcome::Kind::kOrderLost) return answer->Reply(OrderLost(only.why));
        if (only.kind == ReportOutcome::Kind::kContended)
          return answer->Reply(base::Fault(base::FaultKind::kContended,
                                           "somebody else changes these letters just now"));
        answer->Reply(SessionUnavailable(only.row));
      }));
}

/// What a send was refused for, if it was.
bool Refuse(const ExchangePtr& to, SendReply::Kind kind) {
  switch (kind) {
    case SendReply::Kind::kSent:
      return false;
    case SendReply::Kind::kNoQueue:
      to->Reply(UnknownQueue(to));
      return true;
    case SendReply::Kind::kUnordered:
      to->Reply(UnorderedQueue(to));
      return true;
    case SendReply::Kind::kDraining:
      to->Reply(DrainingQueue(to));
      return true;
    case SendReply::Kind::kFull:
      to->Reply(FullQueue(to));
      return true;
  }
  return false;
}

AgainRequest AgainOf(const LetterAct& act, const Chosen& chosen, AgainRequest::What what) {
  AgainRequest request;
  request.what = what;
  request.tenant = act.letters.filter.tenant;
  request.queue = act.letters.filter.queue;
  request.reason = act.reason;
  for (const Letter& each : chosen.letters) request.places.push_back(each.place);
  // Several of a session keep their order, whenever they died.
  std::ranges::sort(request.places, {},
                    [](const Place& each) { return std::pair(each.session, each.sequence); });
  return request;
}

void ReplayLetters(const RouteParts& parts, const ExchangePtr& exchange) {
  Choose(parts, exchange, ReadAct(exchange, Which::kSkipped, Takes::kMode),
         [parts](const ExchangePtr& to, const LetterAct& act, Chosen chosen) {
           if (act.rewinds) return Rewind(parts, to, act, chosen);
           parts.queues.Again(
               AgainOf(act, chosen, AgainRequest::What::kLetters), http::Acting(to, "queue.replay"),
               Answering(to, [found = std::ssize(chosen.letters), next = chosen.next_cursor](
                                 const ExchangePtr& answer, const AgainReply& reply) {
                 if (Refuse(answer, reply.kind)) return;
                 answer->ReplyJson(ChangedJson(found, reply.changed, next));
               }));
         });
}

void DiscardLetters(const RouteParts& parts, const ExchangePtr& exchange) {
  Choose(parts, exchange, ReadAct(exchange, Which::kSkipped, Takes::kNothing),
         [parts](const ExchangePtr& to, const LetterAct& act, Chosen chosen) {
           parts.queues.Again(AgainOf(act, chosen, AgainRequest::What::kDiscard),
                              http::Acting(to, "queue.discard"),
                              Answering(to, [found = std::ssize(chosen.letters),
                                             next = chosen.next_cursor](const AgainReply& reply) {
                                return ChangedJson(found, reply.changed, next);
                              }));
         });
}

void ReplyReplayed(const RouteParts& parts, const ExchangePtr& to, const SessionsRequest& session,
                   const AgainReply& reply) {
  if (Refuse(to, reply.kind)) return;
  if (reply.found > 0) return to->ReplyJson(AgainJson(reply));
  parts.queues.ListSessions(
      session, to->caller(),
      Answering(to, [reply](const ExchangePtr& answer, const db::Page<SessionView>& found) {
        if (found.rows.empty()) return answer->Reply(UnknownQueueSession());
        answer->ReplyJson(AgainJson(reply));
      }));
}

}  // namespace

/// What a session has done, once more: behind what waits in it.
void ReplayHistory(const RouteParts& parts, const ExchangePtr& exchange) {
  AgainRequest request;
  request.what = AgainRequest::What::kHistory;
  request.tenant = http::TenantOf(exchange);
  request.queue = QueueOf(exchange);
  {
    JsonFields fields(exchange->request().body);
    request.reason = fields.NonEmptyText("reason", kMaxWhyBytes);
    request.session = fields.Uuid("session");
    request.from = fields.OptionalInteger("from", 1, http::kMaxFence).value_or(1);
    request.to = fields.OptionalInteger("to", 1, http::kMaxFence).value_or(0);
    request.limit = fields.OptionalInteger("limit", 1, kMaxLetters).value_or(kMaxLetters);
    request.clear_state = fields.OptionalFlag("clear_state").value_or(false);
    request.dry_run = fields.OptionalFlag("dry_run").value_or(false);
    if (request.to > 0 && request.to < request.from) fields.Refuse("to", "lies before from");
    fields.Finish();
  }
  SessionsRequest session;
  session.tenant = request.tenant;
  session.queue = request.queue;
  session.id = request.session;
  session.limit = 1;
  const auto reply = [parts, session](const ExchangePtr& to, const AgainReply& again) {
    ReplyReplayed(parts, to, session, again);
  };
  base::Caller caller = http::Acting(exchange, "queue.replay");
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.queues.AgainOnce({std::move(request), *std::move(key)}, std::move(caller),
                                  http::AnsweringOnce(exchange, reply));
  parts.queues.Again(std::move(request), std::move(caller), Answering(exchange, reply));
}

void AddLetterRoutes(http::Router& router, const RouteParts& parts) {
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/queues", .rate_class = "queues"})
      .Add({{Method::kGet, "/{queue}/dead-letters", "listQueueLetters", kLettersRead, ListLetters},
            {Method::kGet, "/{queue}/dead-letters/summary", "sumQueueLetters", kLettersRead,
             SumLetters},
            {Method::kPost,
             "/{queue}/resume",
             "resumeSessions",
             kLettersOperate,
             ResumeAll,
             "",
             {"queue.resume"}},
            {Method::kPost,
             "/{queue}/dead-letters/replay",
             "replayQueueLetters",
             kLettersOperate,
             ReplayLetters,
             "",
             {"queue.replay"}},
            {Method::kPost,
             "/{queue}/dead-letters/discard",
             "discardQueueLetters",
             kLettersOperate,
             DiscardLetters,
             "",
             {"queue.discard"}}});
}

}  // namespace tenure::queues
