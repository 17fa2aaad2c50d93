#include "cli/question.hpp"
#include "inbox/capability.hpp"

namespace tenure::inbox {

cli::Commands Commands() {
  using namespace cli;  // the words of its table
  return {
      Asking({.words = "inbox show",
              .summary = "Show where an inbound message stands",
              .notes = "SOURCE and ID are those under which it was begun. Exit code 3 when it "
                       "never was.\n\nExample:\n  tenure inbox show stripe evt_1NG8Du2eZvKYlo2C\n",
              .flags = {Argument("SOURCE", "Where it comes from."),
                        Argument("ID", "What it is called there.")},
              .path = "/api/v1/inbox/{SOURCE}/{ID}",
              .print = Block(10, {{"source", "source"},
                                  {"message", "message_id"},
                                  {"state", "state"},
                                  {"fence", "fence"},
                                  {"until", "until"},
                                  {"attempts", "attempts"},
                                  {"crashes", "crashes"},
                                  {"received", "received_at"},
                                  {"updated", "updated_at"},
                                  {"error", "error"},
                                  {"result", "result"}})}),
      Listing({.words = "inbox list",
               .summary = "List inbound messages",
               .notes = "By source, then by message. A claim whose time has passed is lapsed: the "
                        "next delivery is told\nto process it.\n\nExample:\n"
                        "  tenure inbox list --source stripe --state dead\n",
               .flags = {Value("--source", "NAME", "Only those of this source.").As("source"),
                         Value("--state", "claimed|retrying|done|dead", "Only those.", Word)
                             .As("state")},
               .path = "/api/v1/inbox",
               .columns = {{"SOURCE", 12, "source"},
                           {"MESSAGE", 30, "message_id"},
                           {"STATE", 8, "state"},
                           {"ATTEMPTS", 8, "attempts"},
                           {"CRASHES", 7, "crashes"},
                           {"UPDATED", kAgoWidth, "updated_at", Ago},
                           {"ERROR", 0, "error", OrDash}},
               .nothing = "no inbound messages"}),
      Asking({.words = "why inbox",
              .summary = "Say where an inbound message stands, and what it waits for",
              .notes = "It is named SOURCE/MESSAGE; a slash of the source is written as %2F. Exit "
                       "code 3 when it\nwas never begun.\n\nExample:\n"
                       "  tenure why inbox stripe/evt_1NG8Du2eZvKYlo2C\n",
              .flags = {Argument("ID", "The message: SOURCE/MESSAGE.")},
              .path = "/api/v1/why/inbox/{ID}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace tenure::inbox
