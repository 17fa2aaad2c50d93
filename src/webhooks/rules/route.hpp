#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "webhooks/rules/event.hpp"
#include "webhooks/rules/key_template.hpp"
#include "webhooks/rules/pattern.hpp"
#include "webhooks/rules/table.hpp"

namespace tenure::webhooks::rules {

/// What a bot's messages are ordered by. The values stand in the store.
enum class Scope : std::uint8_t {
  kNone = 0,        ///< nothing: its messages have no session
  kEntity = 1,      ///< the pull request, the issue …
  kRepository = 2,  ///< the repository
  kCustom = 3,      ///< a key that its file writes
};
std::string_view ToText(Scope scope);

/// What shares the consumers' attention with others in turn. The values stand in the store.
enum class FairBy : std::uint8_t { kOwner = 0, kRepository = 1, kNone = 2 };
std::string_view ToText(FairBy fair_by);

/// A rule of a bot for some events, before its scope.
struct Override {
  std::vector<EventPattern> events;
  std::variant<Kind, KeyTemplate> key;
};

/// All that decides which events a bot gets, and into which session each goes.
struct Routing {
  std::vector<EventPattern> events;             ///< empty: it gets none
  std::vector<std::string> sources;             ///< empty: all
  std::vector<RepositoryPattern> repositories;  ///< empty: all
  Scope scope = Scope::kNone;
  std::optional<KeyTemplate> session_key;  ///< of kCustom
  std::vector<Override> routes;
  bool checks_to_pull_requests = false;
  FairBy fair_by = FairBy::kOwner;
};

/// Whether a bot gets an event, and why.
struct Match {
  bool matches = false;
  std::string why;  ///< "the pattern issues.*", "no pattern of events fits"
};
Match Matches(const Routing& routing, const Event& event);

/// Where a bot's messages of one event go. An ordered queue never gets a message without a key:
/// what no rule of its own keys falls back to the entity, the repository, and what the event
/// belongs to.
struct Routed {
  std::vector<Place> places;  ///< one; of a check that lists several pull requests one for each
  std::string rule;           ///< which rule said so
  bool fell_back = false;     ///< the one that was wanted did not apply
  std::string share;          ///< with whom these messages stand in turn
};
/// REQUIRES: it matches.
Routed Route(const Routing& routing, const Event& event);

}  // namespace tenure::webhooks::rules
