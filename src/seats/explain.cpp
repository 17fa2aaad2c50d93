#include "seats/explain.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json_view.hpp"
#include "base/time_text.hpp"

namespace tenure::seats {
namespace {

using base::UtcText;
using explain::Explanation;
using explain::Shown;

/// A machine id that is resumed more often within an hour while its former process lives is that of
/// two machines.
constexpr std::int64_t kClonedResumes = 5;

std::string MachineText(const SeatRow& row) {
  return fmt::format("machine {}{}", Shown(row.machine.value_or("")),
                     row.person.empty() ? "" : fmt::format(" of {}", Shown(row.person)));
}

std::string BeatText(const Holding& holding) {
  return fmt::format(
      "{} ago", base::SpanText(std::max<std::int64_t>(0, holding.now_ms - holding.row.beat_ms)));
}

std::string EndText(EndReason reason, const std::string& when) {
  switch (reason) {
    case EndReason::kReleased:
      return fmt::format("was released at {}.", when);
    case EndReason::kResumedElsewhere:
      return fmt::format(
          "went on under a new session at {}: the same machine id asked for it again.", when);
    case EndReason::kRevoked:
      return fmt::format("was revoked by an operator at {}.", when);
    case EndReason::kExpired:
      return fmt::format("expired at {}: no heartbeat came in time.", when);
    case EndReason::kLicenseSuspended:
      return fmt::format("ended at {}: its licence was suspended.", when);
    case EndReason::kLicenseRevoked:
      return fmt::format("ended at {}: its licence was revoked.", when);
    case EndReason::kLicenseExpired:
      return fmt::format("ended at {}: its licence expired.", when);
  }
  return fmt::format("ended at {}.", when);
}

/// Who has promised it until when, where a Redis keeps its heartbeats.
std::string PromisesText(const Holding& holding) {
  return fmt::format(
      "A Redis keeps its heartbeats: the store itself promised it until {}, the Redis {}, and "
      "nobody "
      "beyond {}.",
      UtcText(holding.row.expires_ms),
      holding.redis_ms > 0 ? fmt::format("until {}", UtcText(holding.redis_ms))
                           : "does not say until when",
      UtcText(holding.row.horizon_ms));
}

explain::Action RevokeAction(const Holding& holding, bool force) {
  const std::string id = holding.row.session ? holding.row.session->ToString() : "";
  return {
      .act = "seat.revoke",
      .title = force ? "Give the seat on at once" : "Revoke the seat",
      .scope = "seats:operate",
      .danger = true,
      .method = "POST",
      .path = fmt::format("/api/v1/licenses/sessions/{}/revoke", id),
      .body = force ? R"({"force":true})" : "{}",
      .command = fmt::format("tenure seat revoke {}{} --reason …", id, force ? " --force" : "")};
}

explain::Action LicenseAction(const LicenseRow& license, std::string_view word) {
  const std::string id = license.id.ToString();
  const bool revoke = word == "revoke";
  return {.act = revoke ? "license.revoke" : "license.change",
          .title = fmt::format("{} the licence", revoke             ? "Revoke"
                                                 : word == "resume" ? "Resume"
                                                                    : "Suspend"),
          .scope = "licenses:admin",
          .danger = word != "resume",
          .method = revoke ? "POST" : "PATCH",
          .path = "/api/v1/licenses/" + id + (revoke ? "/revoke" : ""),
          .body = revoke             ? "{}"
                  : word == "resume" ? R"({"suspended":false})"
                                     : R"({"suspended":true})",
          .command = fmt::format("tenure license {} {} --reason …", word, id)};
}

std::string UseText(const LicenseStory& story) {
  const LicenseView& view = story.view;
  return fmt::format("{} of {} seats are in use{}.", view.license.held, view.license.seats,
                     view.line.offered > 0
                         ? fmt::format(", {} of them offered to the line", view.line.offered)
                         : "");
}

void AddObstacles(Explanation& out, const LicenseView& view) {
  if (view.license.row_count > view.license.seats)
    out.Because({.code = "draining",
                 .text = "It drains: there are more seats in use than it has, and none is given "
                         "before they are fewer."});
  if (view.frozen_until_ms > 0)
    out.Because(
        {.code = "frozen",
         .text = fmt::format("It is frozen until {}: the store was restored or promoted, and "
                             "may have forgotten who holds a seat. `tenure admin thaw` ends "
                             "that early.",
                             UtcText(view.frozen_until_ms)),
         .until_ms = view.frozen_until_ms});
}

explain::Next NextOf(const LicenseStory& story) {
  const LicenseView& view = story.view;
  const Standing standing = view.license.StandingAt(view.now_ms);
  if (standing == Standing::kSuspended) return {"Nobody gets a seat before it is resumed.", 0};
  if (standing == Standing::kNotYetValid)
    return {fmt::format("Nobody gets a seat before {}.", UtcText(view.license.valid_from_ms)),
            view.license.valid_from_ms};
  if (standing != Standing::kActive) return {"Nobody gets a seat of it any more.", 0};
  if (view.frozen_until_ms > 0)
    return {"Whoever had a seat gets it back; others wait.", view.frozen_until_ms};
  if (view.license.held < view.license.seats && view.line.waiting == 0)
    return {"Whoever asks next gets a seat.", 0};
  if (!story.next_to_lapse) return {"Whoever waits longest gets the next seat.", 0};
  return {fmt::format("The next that may lapse is that of {}, at {}.",
                      MachineText(story.next_to_lapse->row),
                      UtcText(story.next_to_lapse->row.expires_ms)),
          story.next_to_lapse->row.expires_ms};
}

/// A number of an entry's detail; 0 when it has none.
std::int64_t NumberIn(const LogEntry& entry, std::string_view name) {
  const auto detail = base::JsonView::Parse(entry.detail);
  const auto member = detail ? detail->Find(name) : std::nullopt;
  std::int64_t number = 0;
  if (member) {
    const std::string_view text = member->text();
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

}  // namespace

Explanation Explain(const Holding& holding) {
  const SeatRow& row = holding.row;
  const std::string_view state = StateOf(holding);
  const std::string who = MachineText(row);
  Explanation out{.kind = "seat",
                  .id = row.session ? row.session->ToString() : "",
                  .state = std::string(state),
                  .docs = "docs/seats.md"};
  const std::string license = "/licenses/" + holding.license.ToString();
  if (state == "active") {
    out.Because({.code = "held",
                 .text = fmt::format("The seat is held by {} since {}, with fence {}. Its last "
                                     "heartbeat came {}.",
                                     who, UtcText(row.started_ms), row.fence, BeatText(holding)),
                 .since_ms = row.started_ms,
                 .until_ms = row.expires_ms,
                 .link = license});
    const std::int64_t free_ms = std::max(row.expires_ms, row.horizon_ms);
    if (free_ms > row.expires_ms)
      out.Because({.code = "kept_in_redis", .text = PromisesText(holding), .until_ms = free_ms});
    out.next = {
        fmt::format("Without another one it is free {}{}.",
                    free_ms > row.expires_ms ? "at the latest at " : "at ", UtcText(free_ms)),
        free_ms};
    out.actions = {RevokeAction(holding, false), RevokeAction(holding, true)};
  } else if (state == "revoked") {
    out.Because({.code = "revoked",
                 .text = fmt::format(
                     "An operator revoked the seat of {}: its heartbeats are refused.", who),
                 .until_ms = row.expires_ms,
                 .link = license});
    out.next = {fmt::format("It is free at {}.", UtcText(row.expires_ms)), row.expires_ms};
    out.actions = {RevokeAction(holding, true)};
  } else if (state == "lapsed") {
    out.Because({.code = "lapsed",
                 .text = fmt::format("The seat of {} has lapsed at {}: its last heartbeat came {}.",
                                     who, UtcText(row.expires_ms), BeatText(holding)),
                 .since_ms = row.expires_ms,
                 .link = license});
    out.next = {"Nobody has taken it; a heartbeat brings it back unless somebody waits.", 0};
  } else {
    out.Because({.code = "ended",
                 .text = fmt::format("The seat of {} {}", who,
                                     EndText(holding.end.value_or(EndReason::kReleased),
                                             UtcText(holding.ended_ms))),
                 .since_ms = holding.ended_ms,
                 .link = license});
    out.next = {"It is over: the machine asks for a seat anew.", 0};
  }
  return out;
}

void LicenseStory::Note(const std::vector<ListedHolding>& active) {
  const auto first = std::ranges::min_element(
      active, {}, [](const ListedHolding& each) { return each.holding.row.expires_ms; });
  if (first != active.end()) next_to_lapse = first->holding;
}

void LicenseStory::NoteDenials(const std::vector<LogEntry>& entries) {
  for (const LogEntry& entry : entries) denied += NumberIn(entry, "count");
}

void LicenseStory::NoteResumes(const std::vector<LogEntry>& entries) {
  for (const LogEntry& entry : entries) {
    const auto detail = base::JsonView::Parse(entry.detail);
    const auto live = detail ? detail->Find("former_live") : std::nullopt;
    const auto machine = detail ? detail->Find("machine") : std::nullopt;
    if (live && live->text() == "true" && machine) ++taken_over[machine->Text().value_or("")];
  }
}

Explanation Explain(const LicenseStory& story) {
  const LicenseView& view = story.view;
  const Standing standing = view.license.StandingAt(view.now_ms);
  Explanation out{.kind = "license",
                  .id = view.license.id.ToString(),
                  .state = std::string(ToText(standing)),
                  .docs = "docs/seats.md"};
  out.Because({.code = ToText(standing),
               .text = fmt::format("The licence {} is {}.",
                                   view.license.name.empty() ? out.id : Shown(view.license.name),
                                   ToText(standing))});
  out.Because({.code = "use", .text = UseText(story)});
  out.Because({.code = "waiting",
               .text = view.line.waiting == 0 ? std::string("Nobody waits.")
                       : view.line.waiting == 1
                           ? std::string("One waits in line.")
                           : fmt::format("{} wait in line.", view.line.waiting)});
  AddObstacles(out, view);
  out.Because({.code = "denied",
               .text = story.denied == 0
                           ? std::string("The log has no denial of the last hour (they are written "
                                         "once a minute).")
                           : fmt::format("{} denied in the last hour.",
                                         explain::Counted(story.denied, "One request was",
                                                          "requests were"))});
  for (const auto& [machine, count] : story.taken_over)
    if (count > kClonedResumes)
      out.Because({.code = "cloned",
                   .text = fmt::format("The machine id {} was resumed {} times in the last hour "
                                       "while its former process may have been running: there are "
                                       "probably two machines with this id.",
                                       Shown(machine), count)});
  out.next = NextOf(story);
  if (standing == Standing::kSuspended)
    out.actions = {LicenseAction(view.license, "resume"), LicenseAction(view.license, "revoke")};
  else if (standing != Standing::kRevoked)
    out.actions = {LicenseAction(view.license, "suspend"), LicenseAction(view.license, "revoke")};
  return out;
}

}  // namespace tenure::seats
