#include <fmt/format.h>

#include "cli/question.hpp"
#include "push/capability.hpp"
#include "push/subscription.hpp"

namespace tenure::push {
namespace {

using cli::Flags;
using std::string_view;

std::string SubscriptionName(const cli::Flag& flag, const std::string& text) {
  if (IsSubscriptionName(text)) return text;
  throw cli::UsageError(
      fmt::format("{} is 1 to {} of A-Z a-z 0-9 . _ -", flag.name, kMaxNameBytes));
}

cli::Print SubscriptionBlock() {
  return cli::Block(14, {{"subscription", "name"},
                         {"topic", "topic"},
                         {"url", "url"},
                         {"secret", "secret"},
                         {"state", "state"},
                         {"enabled", "enabled"},
                         {"gone since", "gone_at"},
                         {"next try", "next_try_at"},
                         {"failures", "failures"},
                         {"last status", "last_status"},
                         {"last error", "last_error"},
                         {"last request", "last_at"},
                         {"delivered", "delivered"},
                         {"failed", "failed"},
                         {"delivered by", "delivered_by"},
                         {"in flight", "max_in_flight"},
                         {"timeout ms", "timeout_ms"},
                         {"format", "format"},
                         {"headers", "header_names"},
                         {"revision", "revision"},
                         {"created", "created_at"},
                         {"changed", "updated_at"}});
}

constexpr string_view kPutNotes =
    R"(Hands the messages of TOPIC to URL; those of a queue, queue:NAME, session by session. Without
--secret one is made for a new subscription, and printed this once. What is left out is as its
default says, except for the secret and headers, which stay.

Example:
  tenure subscription put billing orders https://hooks.example.com/orders
  tenure subscription put triage queue:triage https://hooks.example.com/triage
)";

Flags NameFlag() {
  return {cli::Argument("NAME", "The subscription.", SubscriptionName)
              .Named({"/api/v1/subscriptions?limit=500"})};
}

Flags PutFlags() {
  using namespace cli;  // the words of its table
  return NameFlag() +
         Flags{Argument("TOPIC", "The topic, or queue:NAME: a queue.").As("topic"),
               Argument("URL", "The endpoint, https://….").As("url"),
               Value("--secret", "SECRET", "whsec_ and base64 of 24 to 64 bytes.").As("secret"),
               Value("--max-in-flight", "N", "Requests at a time [16].", Number(1, kMostInFlight))
                   .AsJson("max_in_flight"),
               Value("--timeout", "DURATION", "Of a request [10s].",
                     Duration({kLeastTimeoutMs, kMostTimeoutMs}))
                   .AsJson("timeout_ms"),
               Value("--format", "binary|structured", "Of the event [binary].", Word).As("format"),
               Value("--headers", "JSON", "Further headers, an object; their values are secrets.",
                     Json)
                   .AsJson("headers"),
               Value("--enabled", "true|false",
                     "true: go on, also after a 410; false: do not deliver.", Json)
                   .AsJson("enabled")};
}

}  // namespace

cli::Commands Commands() {
  using namespace cli;  // the words of its tables
  const string_view path = "/api/v1/subscriptions/{NAME}";
  return {
      Listing({.words = "subscription list",
               .summary = "List subscriptions, and how their endpoints do",
               .notes = "They come in the order of their names.\n\nExamples:\n"
                        "  tenure subscription list\n"
                        "  tenure subscription list --all --json | jq -r '.items[] | "
                        "select(.state != \"ok\") | .name'\n",
               .path = "/api/v1/subscriptions",
               .columns = {{"SUBSCRIPTION", 20, "name"},
                           {"TOPIC", 16, "topic"},
                           {"STATE", 11, "state"},
                           {"DELIVERED", 9, "delivered"},
                           {"FAILED", 6, "failed"},
                           {"LAST", kAgoWidth, "last_at", Ago},
                           {"URL", 20, "url"},
                           {"LAST ERROR", 10, "last_error", OrDash, {}, true}},
               .nothing = "no subscriptions"}),
      Asking({.words = "subscription show",
              .summary = "Show one subscription",
              .notes = "Its secret and the values of its headers are not shown. Exit code 3 when "
                       "there is none.\n\nExample:\n  tenure subscription show billing\n",
              .flags = NameFlag(),
              .path = path,
              .print = SubscriptionBlock()}),
      Asking({.words = "subscription put",
              .summary = "Hand the messages of a topic to an endpoint",
              .notes = std::string(kPutNotes),
              .flags = PutFlags(),
              .method = http::Method::kPut,
              .on_record = true,
              .path = path,
              .print = SubscriptionBlock()}),
      Asking({.words = "subscription delete",
              .summary = "Hand out no messages to its endpoint any more",
              .notes = "What is under way ends; the messages that are left stay ready.\n\n"
                       "Example:\n  tenure subscription delete billing\n",
              .flags = NameFlag(),
              .method = http::Method::kDelete,
              .on_record = true,
              .path = path,
              .print = Sentence("{NAME} is deleted")}),
      Asking(
          {.words = "subscription rotate",
           .summary = "Sign with a new secret, and for 24 h with the old one too",
           .notes = "Prints the new secret, this once.\n\nExample:\n"
                    "  tenure subscription rotate billing\n",
           .flags =
               NameFlag() +
               Flags{Value("--secret", "SECRET", "This one, not one that is made.").As("secret")},
           .method = http::Method::kPost,
           .on_record = true,
           .path = "/api/v1/subscriptions/{NAME}/rotate",
           .print = Sentence("{secret}")}),
      Asking({.words = "subscription test",
              .summary = "Send a ping to its endpoint, and show what came back",
              .notes = "The ping is signed, has the type tenure.ping and is no message. It is "
                       "sent also when the\nsubscription is disabled.\n\nExample:\n"
                       "  tenure subscription test billing\n",
              .flags = NameFlag(),
              .method = http::Method::kPost,
              .on_record = true,
              .path = "/api/v1/subscriptions/{NAME}/test",
              .print = Block(
                  8, {{"status", "status"}, {"ms", "ms"}, {"body", "body"}, {"error", "error"}})}),
      Asking({.words = "why subscription",
              .summary = "Say how a subscription's endpoint does, and what it waits for",
              .notes = "Exit code 3 when there is none.\n\nExample:\n"
                       "  tenure why subscription billing\n",
              .flags = NameFlag(),
              .path = "/api/v1/why/subscription/{NAME}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace tenure::push
