#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::webhooks::rules {

/// What an event is about: the last but one part of a key, the word in a bots file
/// (`entity: KIND`), and the entity type of messages and metrics.
enum class Kind : std::uint8_t {
  kPullRequest,
  kIssue,
  kDiscussion,
  kDeployment,
  kCheckRun,
  kCheckSuite,
  kWorkflowRun,
  kMergeGroup,
  kCommit,
  kCodeScanningAlert,
  kDependabotAlert,
  kSecretScanningAlert,
  kRef,
  kRelease,
  kOrganization,
  kRepository,
};

/// How a kind is written, and where its id is found in an event that the table does not place.
struct KindRow {
  Kind kind;
  std::string_view word;  ///< printed, and in a bots file: "pull_request"
  std::string_view key;   ///< in keys: "thread"; issues and pull requests share their numbers
  bool text_id = false;   ///< the id is a text (a commit), not a whole number
  std::vector<std::string_view> paths = {};  ///< the first that is there
};

/// One row of the routing table: which part of the payload of an event is its entity.
///
/// The one place that knows it: routing, `explain` and the table in docs/webhooks.md are made of
/// these rows.
struct EventRow {
  std::string_view event;
  Kind kind = Kind::kRepository;
  std::string_view path = {};    ///< of the id; empty for kRepository
  std::string_view action = {};  ///< only actions that begin so
};

/// Every event that GitHub documents, in alphabetical order; those that are about a repository, or
/// about something without one, among them.
std::span<const EventRow> EventTable();
/// The rows of one event; none when this version does not know it.
std::span<const EventRow> RowsOf(std::string_view event);
inline bool IsDocumented(std::string_view event) { return !RowsOf(event).empty(); }
const std::vector<std::string>& DocumentedEvents();

std::span<const KindRow> KindTable();
const KindRow& RowOf(Kind kind);
inline std::string_view ToText(Kind kind) { return RowOf(kind).word; }
std::optional<Kind> KindOf(std::string_view word);

/// What an unknown event is tried for, in this order.
std::span<const EventRow> UnknownEventTable();

/// The keys of what has no repository: the first that is there.
struct OwnerRow {
  std::string_view path;     ///< of a whole number; empty: of the hook, or the source
  std::string_view key;      ///< "o{organization.id}"
  std::string_view printed;  ///< "{org}/organization"
  std::string_view label;    ///< the path of its name
  std::string_view word;     ///< entity type
  char letter;
};
std::span<const OwnerRow> OwnerTable();

/// The routing table as docs/webhooks.md prints it (Markdown).
std::string RoutingTableText();

}  // namespace tenure::webhooks::rules
