#include "inbox/explain.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "inbox/entry_id.hpp"

namespace tenure::inbox {
namespace {

using base::UtcText;
using explain::Explanation;
using explain::Shown;

std::string ErrorText(const MessageRow& row) {
  return row.error.empty() ? "nobody said why" : Shown(row.error);
}

void AddClaimed(Explanation& out, const MessageRow& row, const std::string& name,
                std::int64_t now_ms) {
  if (row.lease_until_ms > now_ms) {
    out.Because({.code = "claimed",
                 .text = fmt::format("A worker processes {} since {}, with fence {}.", name,
                                     UtcText(row.updated_ms), row.fence),
                 .since_ms = row.updated_ms,
                 .until_ms = row.lease_until_ms});
    out.next = {fmt::format("If it tells no end until {}, the next delivery is told to process it.",
                            UtcText(row.lease_until_ms)),
                row.lease_until_ms};
    return;
  }
  out.Because({.code = "lapsed",
               .text = fmt::format("The worker that was told to process {} had until {}, and has "
                                   "not told the end.",
                                   name, UtcText(row.lease_until_ms)),
               .since_ms = row.lease_until_ms});
  out.next = {"The next delivery by its source is told to process it.", 0};
}

void AddEnd(Explanation& out, const MessageRow& row, const std::string& name) {
  if (row.state == State::kDone) {
    out.Because({.code = "done",
                 .text = fmt::format("{} was done at {}.", name, UtcText(row.updated_ms)),
                 .since_ms = row.updated_ms});
    out.next = {"Whoever delivers it again is told so, and gets its result.", 0};
    return;
  }
  out.Because({.code = "dead",
               .text = fmt::format("{} was given up at {} ({}).", name, UtcText(row.updated_ms),
                                   ErrorText(row)),
               .since_ms = row.updated_ms});
  out.next = {"No delivery of it is told to process it any more.", 0};
}

/// Failures and crashes so far.
void AddTries(Explanation& out, const MessageRow& row) {
  if (row.attempts == 0 && row.crashes == 0) return;
  out.Because(
      {.code = "tries",
       .text = fmt::format("{} reported, and {} ended without a word.",
                           explain::Counted(row.attempts, "One failure was", "failures were"),
                           explain::Counted(row.crashes, "one claim", "claims"))});
}

}  // namespace

std::string_view Standing(const MessageRow& row, std::int64_t now_ms) {
  if (row.state == State::kClaimed && row.lease_until_ms <= now_ms) return "lapsed";
  return ToText(row.state);
}

Explanation Explain(const MessageKey& key, const MessageRow& row, std::int64_t now_ms) {
  const std::string name =
      fmt::format("Message {} of {}", Shown(key.message_id), Shown(key.source));
  Explanation out{.kind = "inbox",
                  .id = EntryId(key),
                  .state = std::string(Standing(row, now_ms)),
                  .docs = "docs/inbox.md"};
  switch (row.state) {
    case State::kClaimed:
      AddClaimed(out, row,
                 fmt::format("message {} of {}", Shown(key.message_id), Shown(key.source)), now_ms);
      break;
    case State::kRetrying:
      out.Because({.code = "retrying",
                   .text = fmt::format("{} failed at {} ({}).", name, UtcText(row.updated_ms),
                                       ErrorText(row)),
                   .since_ms = row.updated_ms,
                   .until_ms = row.not_before_ms});
      out.next = {fmt::format("The first delivery from {} on is told to process it.",
                              UtcText(row.not_before_ms)),
                  row.not_before_ms};
      break;
    default:
      AddEnd(out, row, name);
  }
  AddTries(out, row);
  return out;
}

}  // namespace tenure::inbox
