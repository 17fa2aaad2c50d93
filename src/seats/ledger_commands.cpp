#include "seats/ledger_commands.hpp"

#include <string>

#include <fmt/format.h>

#include "cli/question.hpp"
#include "config/printable.hpp"

namespace tenure::seats {
namespace {

using cli::JsonRow;
using config::Printable;

/// Which store keeps heartbeats, and what that means.
std::string LedgerText(const cli::Answer& answer, const cli::Given&) {
  const JsonRow row = JsonRow::Parse(answer.body);
  std::string text;
  if (row.Text("keeps") == "redis")
    text = fmt::format(
        "A Redis ({}) keeps heartbeats of seats, as the {}. since this store was made. ",
        Printable(row.Text("redis")), row.Number("epoch"));
  else
    text = "The store keeps heartbeats of seats. ";
  text += row.Bool("uses")
              ? fmt::format(
                    "This process uses the Redis, and may go on for {} s without the "
                    "store.",
                    row.Number("authority_seconds"))
              : fmt::format("This process asks the store: {}.", Printable(row.Text("trouble")));
  if (!row.Text("frozen_until").empty())
    text += fmt::format(
        " The Redis has changed: seats of machines that crashed before are kept until {} at the "
        "latest, and no other change counts before.",
        Printable(row.Text("frozen_until")));
  if (!row.Text("last_used_at").empty())
    text += fmt::format(" A process said last at {} that it uses the Redis.",
                        Printable(row.Text("last_used_at")));
  return text + '\n';
}

constexpr std::string_view kRetireNotes =
    R"(From now on all processes send heartbeats to the store, until the freeze is over (the time that is
printed); then a Redis that still answers is taken up again. Nobody loses a seat. Stop the Redis, or
leave seats.redis.url empty, before that.
)";

}  // namespace

cli::Commands LedgerCommands() {
  using namespace cli;  // the words of its tables
  return {Asking({.words = "seat ledger",
                  .summary = "Say which store keeps heartbeats of seats",
                  .path = "/api/v1/seat-ledger",
                  .print = LedgerText}),
          Asking({.words = "seat ledger retire",
                  .summary = "Send heartbeats of seats to the store, before a Redis is maintained",
                  .notes = std::string(kRetireNotes),
                  .method = http::Method::kPost,
                  .on_record = true,
                  .path = "/api/v1/seat-ledger/retire",
                  .print = LedgerText})};
}

}  // namespace tenure::seats
