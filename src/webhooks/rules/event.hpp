#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "webhooks/rules/payload.hpp"
#include "webhooks/rules/table.hpp"

namespace tenure::webhooks::rules {

/// Where a webhook came from, by its headers and by the source that it was sent to.
struct Origin {
  std::string_view source;  ///< its name in the bots file
  std::string_view host;    ///< "github.com": the first part of every key
  std::string_view hook;    ///< X-GitHub-Hook-ID; empty when it is missing
  std::string_view event;   ///< X-GitHub-Event
};

/// What an event is about, whoever asks.
struct Entity {
  std::string type;      ///< "pull_request", "repository", "organization" …
  std::string id;        ///< "7"; of a repository its id
  std::string previous;  ///< of a transferred issue: the printed name that it had; else empty
};

/// What is read of an event once, for storing and searching it and for all bots.
struct Event {
  Event(const Origin& from, const Payload& body);

  const Origin& origin;
  const Payload& payload;
  std::string action;         ///< empty: it has none
  std::string repository_id;  ///< digits; empty: there is none
  std::string repository;     ///< "owner/name" as it is spelt now; empty: there is none
  std::string organization;   ///< its login
  std::string organization_id;
  std::string sender;  ///< login
  std::string sender_id;
  std::string installation_id;
  Entity entity;
};

/// A session of a bot's queue, by ids; and its name for people.
struct Place {
  std::string key;
  std::string name;
  std::string type;  ///< of the entity
  std::string id;    ///< of the entity, as its payload has it
};

/// The session of scope `entity`. `fell_back`: what the table wants is not there.
struct EntityPlace {
  Place place;
  std::string rule;
  bool fell_back = false;
};
EntityPlace PlaceOfEntity(const Event& event);
/// The session of scope `repository`; of an event without one, what it belongs to.
Place PlaceOfRepository(const Event& event);
/// The session of a kind that a bots file names; nothing when the event has no such thing.
std::optional<Place> PlaceOfKind(const Event& event, Kind kind);
/// Below another repository than the event's, for pull requests that a check lists.
Place PlaceOfThread(const Event& event, std::string_view repository_id, std::string_view repository,
                    std::string_view number);

}  // namespace tenure::webhooks::rules
