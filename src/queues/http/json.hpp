#pragma once

#include <optional>
#include <string>

#include "base/caller.hpp"
#include "queues/letters.hpp"
#include "queues/message.hpp"
#include "queues/reads.hpp"

/// Ordered queues in JSON, as the HTTP API has them.
namespace tenure::queues {

std::string_view ToText(Blocked blocked);
std::string_view ToText(NotToBeHad::Reason reason);
std::string_view ToText(ReportOutcome::Kind kind);
std::string_view ToText(Lost lost);
std::string_view ToText(Hold hold);
std::string_view ToText(Then then);

/// {"id": …, "session": …, "sequence": …} for one message, {"messages": […]} for a list.
std::string SentJson(const SendReply& reply);
/// 201, or 200 when every one of them is a duplicate.
int SentStatus(const SendReply& reply);
/// The same as it is kept for an idempotency key; nothing: it was refused.
std::optional<base::StoredAnswer> SendAnswer(const SendReply& reply);

std::string AcceptJson(const AcceptReply& reply);

/// What a call answers of each report: {"session": …, "outcome": …, …}.
std::string ReportJson(Report::Kind kind, const ReportRequest& request, const ReportReply& reply);
/// Of a `receive`: the session's slice.
std::string ReceiveJson(const ReportOutcome& outcome, std::int64_t now_ms);
// For who operates it.

/// With who holds sessions of it.
std::string QueueJson(const QueueView& view, const std::vector<ConsumerView>& consumers);
std::string QueuesJson(const db::Page<QueueView>& page);
/// As an act left it.
std::string SessionJson(const SessionRow& row, std::int64_t now_ms);
/// What is kept of an act under an idempotency key; nothing: it was refused.
std::optional<base::StoredAnswer> ActAnswer(const ReportReply& reply);
/// With why it does not move.
std::string SessionJson(const SessionView& view);
std::string SessionsJson(const db::Page<SessionView>& page);
/// Without payloads, unless `shows_payload`.
std::string PeekJson(const db::Page<PeekedMessage>& page, bool shows_payload);

std::string StateJson(const StateReply& reply);
std::string LettersJson(const db::Page<Letter>& page);
std::string LetterSumsJson(const db::Page<LetterSum>& page);
/// Of an act on many: {"found": …, "changed": …, "next_cursor": …}.
std::string ChangedJson(std::int64_t found, std::int64_t changed, const std::string& next_cursor);
std::string AgainJson(const AgainReply& reply);
std::optional<base::StoredAnswer> AgainAnswer(const AgainReply& reply);
/// The cursor behind a letter: "time:session:sequence".
std::string CursorOf(const Letter& letter);

}  // namespace tenure::queues
