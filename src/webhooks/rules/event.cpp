#include "webhooks/rules/event.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "webhooks/rules/key_text.hpp"

namespace tenure::webhooks::rules {
namespace {

constexpr std::size_t kMaxNameBytes = 300;  // of what is only shown

std::string Shown(std::string_view text) {
  return std::string(base::CutText(base::Printable(text), kMaxNameBytes));
}

std::string ShownAt(const Payload& payload, std::string_view path) {
  const auto text = payload.Text(path);
  return text ? Shown(*text) : std::string();
}

std::string LabelOf(const Event& event) {
  return event.repository.empty() ? "r" + event.repository_id : event.repository;
}

Place Below(const Event& event, const KindRow& kind, std::string_view id) {
  return {.key = KeyOf(fmt::format("{}/r{}/{}/{}", event.origin.host, event.repository_id, kind.key,
                                   EncodePart(id))),
          .name = Shown(fmt::format("{}/{}/{}", LabelOf(event), kind.word, id)),
          .type = std::string(kind.word),
          .id = Shown(id)};
}

/// The id of a kind at one place of the payload.
std::optional<std::string> IdAt(const Event& event, const KindRow& kind, std::string_view path) {
  return kind.text_id ? event.payload.Text(path) : event.payload.Id(path);
}

/// A whole ref: create and delete name it without what is before its name.
std::optional<std::string> RefOf(const Event& event) {
  auto ref = event.payload.Text("ref");
  if (!ref || event.origin.event == "push") return ref;
  if (event.origin.event != "create" && event.origin.event != "delete") return std::nullopt;
  const auto type = event.payload.Text("ref_type");
  if (type == "branch") return "refs/heads/" + *ref;
  if (type == "tag") return "refs/tags/" + *ref;
  return std::nullopt;
}

/// A pull request is an issue to some events.
bool IsPullRequest(const Event& event, Kind kind) {
  if (kind != Kind::kIssue) return false;
  const auto is_object = [&](std::string_view path) {
    const auto value = event.payload.Find(path);
    return value && value->kind() == base::JsonView::Kind::kObject;
  };
  return is_object("pull_request") || is_object("issue.pull_request");
}

std::optional<Place> PlaceAt(const Event& event, Kind kind, std::string_view path) {
  if (event.repository_id.empty()) return std::nullopt;
  const auto id = kind == Kind::kRef ? RefOf(event) : IdAt(event, RowOf(kind), path);
  if (!id) return std::nullopt;
  const KindRow& row = RowOf(IsPullRequest(event, kind) ? Kind::kPullRequest : kind);
  return Below(event, row, *id);
}

/// The row of the table that this event, with this action, is placed by; null: none of its rows.
const EventRow* RowFor(const Event& event) {
  for (const EventRow& row : RowsOf(event.origin.event))
    if (event.action.starts_with(row.action)) return &row;
  return nullptr;
}

Place PlaceOfOwner(const Event& event) {
  const Origin& from = event.origin;
  for (const OwnerRow& row : OwnerTable()) {
    if (!row.path.empty()) {
      const auto id = event.payload.Id(row.path);
      if (!id) continue;
      const std::string label = row.label.empty() ? "" : ShownAt(event.payload, row.label);
      return {.key = KeyOf(fmt::format("{}/{}{}", from.host, row.letter, *id)),
              .name = row.label.empty()
                          ? fmt::format("{}/{}", row.word, *id)
                          : fmt::format("{}/{}", label.empty() ? *id : label, row.word),
              .type = std::string(row.word),
              .id = *id};
    }
    if (row.letter == 'h' && from.hook.empty()) continue;
    const std::string_view id = row.letter == 'h' ? from.hook : from.source;
    return {.key = KeyOf(fmt::format("{}/{}{}{}", from.host, row.letter,
                                     row.letter == 'h' ? "" : "/", EncodePart(id))),
            .name = fmt::format("{}/{}", row.word, Shown(id)),
            .type = std::string(row.word),
            .id = Shown(id)};
  }
  return {};  // not reached: every event has a source
}

std::string RuleText(const EventRow& row, std::string_view event) {
  if (row.kind == Kind::kRepository) return fmt::format("{}: repository", event);
  return fmt::format("{}: {}/{{{}}}", event, RowOf(row.kind).key, row.path);
}

Entity EntityOf(const Event& event) {
  const Place place = PlaceOfEntity(event).place;
  Entity entity{.type = place.type, .id = place.id, .previous = {}};
  const auto old_repository = event.payload.Text("changes.old_repository.full_name");
  const auto old_number = event.payload.Id("changes.old_issue.number");
  if (old_repository && old_number)
    entity.previous = Shown(fmt::format("{}/issue/{}", *old_repository, *old_number));
  return entity;
}

}  // namespace

Event::Event(const Origin& from, const Payload& body)
    : origin(from),
      payload(body),
      action(ShownAt(body, "action")),
      repository_id(body.Id("repository.id").value_or("")),
      repository(repository_id.empty() ? "" : ShownAt(body, "repository.full_name")),
      organization(ShownAt(body, "organization.login")),
      organization_id(body.Id("organization.id").value_or("")),
      sender(ShownAt(body, "sender.login")),
      sender_id(body.Id("sender.id").value_or("")),
      installation_id(body.Id("installation.id").value_or("")) {
  entity = EntityOf(*this);
}

Place PlaceOfRepository(const Event& event) {
  if (event.repository_id.empty()) return PlaceOfOwner(event);
  return {.key = KeyOf(fmt::format("{}/r{}/repository", event.origin.host, event.repository_id)),
          .name = LabelOf(event) + "/repository",
          .type = "repository",
          .id = event.repository_id};
}

EntityPlace PlaceOfEntity(const Event& event) {
  const std::string_view name = event.origin.event;
  if (event.repository_id.empty())
    return {PlaceOfOwner(event), fmt::format("{}: without a repository", name),
            event.payload.Find("repository.id").has_value()};
  if (!IsDocumented(name)) {
    for (const EventRow& row : UnknownEventTable())
      if (auto place = PlaceAt(event, row.kind, row.path))
        return {*std::move(place), RuleText(row, "an unknown event"), false};
    return {PlaceOfRepository(event), "an unknown event: repository", false};
  }
  const EventRow* const row = RowFor(event);
  if (row && row->kind == Kind::kRepository)
    return {PlaceOfRepository(event), RuleText(*row, name), false};
  if (row)
    if (auto place = PlaceAt(event, row->kind, row->path))
      return {*std::move(place), RuleText(*row, name), false};
  return {PlaceOfRepository(event), fmt::format("{}: repository, because its id is missing", name),
          true};
}

std::optional<Place> PlaceOfKind(const Event& event, Kind kind) {
  if (kind == Kind::kRepository) {
    if (event.repository_id.empty()) return std::nullopt;
    return PlaceOfRepository(event);
  }
  if (kind == Kind::kOrganization) {
    if (event.organization_id.empty()) return std::nullopt;
    return Place{.key = KeyOf(fmt::format("{}/o{}", event.origin.host, event.organization_id)),
                 .name = (event.organization.empty() ? event.organization_id : event.organization) +
                         "/organization",
                 .type = "organization",
                 .id = event.organization_id};
  }
  const EventRow* const row = RowFor(event);
  if (row && row->kind == kind) return PlaceAt(event, kind, row->path);
  for (const std::string_view path : RowOf(kind).paths)
    if (auto place = PlaceAt(event, kind, path)) return place;
  return std::nullopt;
}

Place PlaceOfThread(const Event& event, std::string_view repository_id, std::string_view repository,
                    std::string_view number) {
  const KindRow& kind = RowOf(Kind::kPullRequest);
  return {
      .key = KeyOf(fmt::format("{}/r{}/{}/{}", event.origin.host, repository_id, kind.key, number)),
      .name = Shown(fmt::format("{}/{}/{}", repository, kind.word, number)),
      .type = std::string(kind.word),
      .id = std::string(number)};
}

}  // namespace tenure::webhooks::rules
