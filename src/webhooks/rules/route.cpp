#include "webhooks/rules/route.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "webhooks/rules/key_text.hpp"

namespace tenure::webhooks::rules {
namespace {

/// More pull requests than a check of GitHub lists: one delivery does not become any number of
/// messages.
constexpr std::size_t kMaxCopies = 100;
constexpr std::size_t kMaxShareBytes = 200;

/// A scalar as a part of a key. Nothing for what is missing, empty, or no scalar.
std::optional<std::string> ValueAt(const Payload& payload, std::string_view path) {
  const auto value = payload.Find(path);
  if (!value) return std::nullopt;
  switch (value->kind()) {
    case base::JsonView::Kind::kString: {
      const std::string text = value->Text().value_or("");
      return text.empty() ? std::nullopt : std::optional(EncodePart(text));
    }
    case base::JsonView::Kind::kNumber:
    case base::JsonView::Kind::kTrue:
    case base::JsonView::Kind::kFalse:
      return EncodePart(value->text());
    default:
      return std::nullopt;
  }
}

std::optional<std::string> Placeholder(const Event& event, std::string_view name) {
  if (name == "$event") return EncodePart(event.origin.event);
  if (name == "$entity") return PlaceOfEntity(event).place.key;
  if (name == "$repository") return PlaceOfRepository(event).key;
  return ValueAt(event.payload, name == "$action" ? "action" : name);
}

std::optional<Place> PlaceByTemplate(const Event& event, const KeyTemplate& key) {
  auto text = key.Render([&](std::string_view name) { return Placeholder(event, name); });
  if (!text) return std::nullopt;
  Place place{
      .key = KeyOf(std::move(*text)), .name = {}, .type = event.entity.type, .id = event.entity.id};
  place.name = place.key;
  return place;
}

bool FitsAny(const std::vector<EventPattern>& patterns, const Event& event) {
  return Judge(patterns, event.origin.event, event.action).passes;
}

/// "owner/name" of the repository that a listed pull request is based on. Its payload has an API
/// address and a name without the owner.
std::string NameOfBase(const Event& event, const base::JsonView& repository, std::string_view id) {
  if (id == event.repository_id && !event.repository.empty()) return event.repository;
  const auto url = repository.Find("url");
  const std::string text = url ? url->Text().value_or("") : "";
  constexpr std::string_view kMark = "/repos/";
  const std::size_t at = text.rfind(kMark);
  if (at == std::string::npos) return fmt::format("r{}", id);
  return base::Printable(std::string_view(text).substr(at + kMark.size()));
}

/// The sessions of the pull requests that a check or a workflow run lists, each once; none for
/// other events.
std::vector<Place> ListedPullRequests(const Event& event) {
  const std::string_view name = event.origin.event;
  std::vector<Place> places;
  if (name != "check_run" && name != "check_suite" && name != "workflow_run") return places;
  const auto list = event.payload.Find(fmt::format("{}.pull_requests", name));
  if (!list || list->kind() != base::JsonView::Kind::kArray) return places;
  for (const base::JsonView& each : list->Values()) {
    const auto number = each.Find("number");
    const auto base = each.Find("base");
    const auto repository = base ? base->Find("repo") : std::nullopt;
    const auto id = repository ? repository->Find("id") : std::nullopt;
    const auto id_text = id ? IdOf(*id) : std::nullopt;
    const auto number_text = number ? IdOf(*number) : std::nullopt;
    if (!id_text || !number_text || places.size() >= kMaxCopies) continue;
    Place place =
        PlaceOfThread(event, *id_text, NameOfBase(event, *repository, *id_text), *number_text);
    const bool known = std::any_of(places.begin(), places.end(),
                                   [&](const Place& other) { return other.key == place.key; });
    if (!known) places.push_back(std::move(place));
  }
  return places;
}

/// The login of the owner, or the whole name, in one spelling; what an event without a repository
/// belongs to. A label: it decides whose turn it is, and no order.
std::string ShareOf(const Event& event, FairBy fair_by) {
  std::string share;
  if (fair_by == FairBy::kNone) return share;
  if (!event.repository.empty())
    share = fair_by == FairBy::kRepository ? event.repository
                                           : event.repository.substr(0, event.repository.find('/'));
  else if (!event.organization.empty())
    share = event.organization;
  else
    share = fmt::format("{}/{}", event.entity.type, event.entity.id);
  for (char& c : share)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::string(base::CutText(share, kMaxShareBytes));
}

/// The bot's own rules for single events; nothing when none is for this one. `fell_back`: one was,
/// and did not apply.
std::optional<Routed> ByOverride(const Routing& routing, const Event& event, bool& fell_back) {
  for (std::size_t i = 0; i < routing.routes.size(); ++i) {
    const Override& rule = routing.routes[i];
    if (!FitsAny(rule.events, event)) continue;
    const auto* const kind = std::get_if<Kind>(&rule.key);
    const auto* const key = std::get_if<KeyTemplate>(&rule.key);
    auto place = kind ? PlaceOfKind(event, *kind) : PlaceByTemplate(event, *key);
    fell_back = !place;
    if (!place) return std::nullopt;
    return Routed{.places = {*std::move(place)},
                  .rule = fmt::format("routes[{}]: {}", i, kind ? ToText(*kind) : key->text()),
                  .fell_back = false,
                  .share = {}};
  }
  return std::nullopt;
}

Routed ByScope(const Routing& routing, const Event& event) {
  if (routing.scope == Scope::kRepository)
    return {.places = {PlaceOfRepository(event)},
            .rule = event.repository_id.empty() ? "scope repository: without a repository"
                                                : "scope repository",
            .fell_back = false,
            .share = {}};
  if (routing.scope == Scope::kCustom && routing.session_key)
    if (auto place = PlaceByTemplate(event, *routing.session_key))
      return {.places = {*std::move(place)},
              .rule = fmt::format("session_key: {}", routing.session_key->text()),
              .fell_back = false,
              .share = {}};
  EntityPlace entity = PlaceOfEntity(event);
  return {.places = {std::move(entity.place)},
          .rule = std::move(entity.rule),
          .fell_back = entity.fell_back || routing.scope == Scope::kCustom,
          .share = {}};
}

Routed ByRules(const Routing& routing, const Event& event) {
  bool fell_back = false;
  if (auto routed = ByOverride(routing, event, fell_back)) return *std::move(routed);
  if (fell_back) {
    EntityPlace entity = PlaceOfEntity(event);
    return {.places = {std::move(entity.place)},
            .rule = std::move(entity.rule),
            .fell_back = true,
            .share = {}};
  }
  if (routing.checks_to_pull_requests) {
    auto places = ListedPullRequests(event);
    if (!places.empty())
      return {.places = std::move(places),
              .rule = fmt::format("{}: its pull requests", event.origin.event),
              .fell_back = false,
              .share = {}};
  }
  return ByScope(routing, event);
}

}  // namespace

std::string_view ToText(Scope scope) {
  constexpr std::array<std::string_view, 4> kWords = {"none", "entity", "repository", "custom"};
  return kWords.at(static_cast<std::size_t>(scope));
}

std::string_view ToText(FairBy fair_by) {
  constexpr std::array<std::string_view, 3> kWords = {"owner", "repository", "none"};
  return kWords.at(static_cast<std::size_t>(fair_by));
}

Match Matches(const Routing& routing, const Event& event) {
  const Origin& from = event.origin;
  if (routing.events.empty()) return {false, "it gets no events"};
  if (!routing.sources.empty() && std::find(routing.sources.begin(), routing.sources.end(),
                                            from.source) == routing.sources.end())
    return {false, fmt::format("the source {} is none of its sources", from.source)};
  const Verdict of_event = Judge(routing.events, from.event, event.action);
  if (!of_event.passes)
    return {false, of_event.by ? fmt::format("the pattern {}", *of_event.by)
                               : "no pattern of its events fits"};
  const Verdict of_repository =
      Judge(routing.repositories, event.repository.empty() ? event.organization : event.repository);
  if (!of_repository.passes)
    return {false, of_repository.by ? fmt::format("the pattern {}", *of_repository.by)
                                    : "no pattern of its repositories fits"};
  return {true, of_event.by ? fmt::format("the pattern {}", *of_event.by) : "it gets every event"};
}

Routed Route(const Routing& routing, const Event& event) {
  if (routing.scope == Scope::kNone)
    return {.places = {{.key = {}, .name = {}, .type = event.entity.type, .id = event.entity.id}},
            .rule = "scope none",
            .fell_back = false,
            .share = {}};
  Routed routed = ByRules(routing, event);
  routed.share = ShareOf(event, routing.fair_by);
  return routed;
}

}  // namespace tenure::webhooks::rules
