#include "audit/capability.hpp"
#include "cli/question.hpp"

namespace tenure::audit {
namespace {

constexpr std::string_view kListNotes =
    R"(What operators did, newest first: breaks, redrives, pauses, factors, migrations; and who was
refused what belongs to another tenant. It takes the scope `admin`. The tenant `-` is a command
on the store itself, by a user of its machine; the person `-` is not known.

Examples:
  tenure audit list --act lease.break
  tenure audit list --person ada --from 2026-01-31T00:00:00Z --all --json
)";

}  // namespace

cli::Commands Commands() {
  using namespace cli;  // the words of its table
  return {Listing(
      {.words = "audit list",
       .summary = "List what was done, when and by whom",
       .notes = std::string(kListNotes),
       .flags =
           {Value("--act", "ACT", "Only this act, such as lease.break.").As("act"),
            Value("--person", "NAME", "Only what this person did.").As("person"),
            Value("--object", "NAME", "Only what was done to it: a lease, a topic.").As("object"),
            Value("--tenant", "TENANT", "Only what this tenant's people did.").As("tenant"),
            Value("--from", "TIME", "Not before: 2026-01-31T12:00:00Z.", Time).As("from"),
            Value("--to", "TIME", "Before that time.", Time).As("to")},
       .path = "/api/v1/audit",
       .columns = {{"TIME", 24, "at"},
                   {"ACT", 15, "act"},
                   {"OBJECT", 16, "object", OrDash},
                   {"PERSON", 8, "person", OrDash},
                   {"TENANT", 8, "tenant", OrDash},
                   {"DETAIL", 10, "detail"}},
       .nothing = "nothing was done",
       .part = Part::kLookAfter})};
}

}  // namespace tenure::audit
