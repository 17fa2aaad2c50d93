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
                                  {"result", "result"}})})};
}

}  // namespace tenure::inbox
