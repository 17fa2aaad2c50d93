#include "messages/topic_commands.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "config/printable.hpp"
#include "messages/message.hpp"

namespace tenure::messages {
namespace {

using cli::Answer;
using cli::Given;
using cli::JsonRow;
using std::string_view;
using Now = std::optional<std::int64_t>;

constexpr string_view kTopicPath = "/api/v1/topics/{TOPIC}";

std::string Span(const JsonRow& settings, string_view field, Now) {
  return base::DurationText(std::max<std::int64_t>(settings.Number(field), 0));
}
std::string Limit(const JsonRow& settings, string_view field, Now) {
  const std::int64_t most = settings.Number(field);
  return most == 0 ? "none" : std::to_string(most);
}

std::string Oldest(const JsonRow& topic, string_view field, Now) {
  return topic.Text("oldest_at").empty() ? "-" : base::SpanText(topic.Number(field));
}
std::string Paused(const JsonRow& topic, string_view field, Now now_ms) {
  return topic.Text("paused") == "true" ? cli::OrDash(topic, field, now_ms) : "-";
}

std::string TopicName(const cli::Flag& flag, const std::string& text) {
  if (!text.empty() && text.size() <= kMaxTopicBytes) return text;
  throw cli::UsageError(fmt::format("{} has 1 to {} bytes", flag.name, kMaxTopicBytes));
}

cli::Flag TopicArgument() {
  return cli::Argument("TOPIC", "The topic.", TopicName).Named({"/api/v1/topics?limit=500"});
}

/// A block: the topic itself, and how its messages are treated.
std::string ShowTopic(const Answer& answer, const Given& given) {
  static const cli::Print topic = cli::Block(16, {{"topic", "name"},
                                                  {"ready", "ready"},
                                                  {"claimed", "claimed"},
                                                  {"dead", "dead"},
                                                  {"oldest since", "oldest_at"},
                                                  {"asked for", "asked_at"},
                                                  {"paused since", "paused_at"},
                                                  {"paused because", "paused_reason"}});
  static const cli::Print settings = cli::Block(16, {{"max attempts", "max_attempts", Limit},
                                                     {"max crashes", "max_crashes", Limit},
                                                     {"lease", "lease_ms", Span},
                                                     {"retention", "retention_ms", Span},
                                                     {"backoff", "backoff_ms", Span},
                                                     {"backoff max", "backoff_max_ms", Span},
                                                     {"dedup", "dedup_ms", Span}});
  Answer of_settings = answer;
  of_settings.body = JsonRow::Parse(answer.body).Text("settings");
  return topic(answer, given) + settings(of_settings, given);
}

/// What another check takes, or "default", which is sent as null.
cli::Check OrDefault(cli::Check check) {
  return [check = std::move(check)](const cli::Flag& flag, const std::string& text) {
    return text == "default" ? std::string("null") : check(flag, text);
  };
}

constexpr std::int64_t kYearMs = 366LL * 86'400'000;

cli::Flags TopicSettingFlags() {
  using namespace cli;  // the words of its table
  const Check count = OrDefault(Number(0, 1'000'000));
  const Check span = OrDefault(Duration({0, kYearMs}));
  return {
      Value("--max-attempts", "N", "Reported failures until it is dead; 0: no limit.", count)
          .AsJson("max_attempts"),
      Value("--max-crashes", "N", "Claims that ended without a word; 0: no limit.", count)
          .AsJson("max_crashes"),
      Value("--lease", "DURATION", "How long a claim is held without an extension.", span)
          .AsJson("lease_ms"),
      Value("--retention", "DURATION", "How long finished ones are kept; 0s: not at all.", span)
          .AsJson("retention_ms"),
      Value("--backoff", "DURATION", "The wait before the second attempt.", span)
          .AsJson("backoff_ms"),
      Value("--backoff-max", "DURATION", "The longest wait before any.", span)
          .AsJson("backoff_max_ms"),
      Value("--dedup", "DURATION", "How long a dedup_key is remembered.", span).AsJson("dedup_ms")};
}

void RefuseNoSetting(const Given& given) {
  for (const cli::Flag& flag : TopicSettingFlags())
    if (given.Has(flag.name)) return;
  throw cli::UsageError("one of the settings must say what changes");
}

constexpr string_view kListNotes =
    R"(Topics come in the order of their names. OLDEST is for how long the first of the ready ones has
been ready; ASKED is when a worker last asked for messages of the topic.

Examples:
  tenure topic list
  tenure topic list --all --json | jq -r '.items[] | select(.dead > 0) | .name'
  tenure topic list --watch
)";

constexpr string_view kSetNotes =
    R"(What is not named stays as it is; `default` takes a setting back to the server's own. A topic
that has no messages yet is made.

Examples:
  tenure topic set payments --max-attempts 5 --backoff 30s
  tenure topic set payments --max-attempts default
)";

cli::Commands TopicLooks() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "topic list",
               .summary = "List topics, and how full they are",
               .notes = std::string(kListNotes),
               .path = "/api/v1/topics",
               .columns = {{"TOPIC", 24, "name"},
                           {"READY", 7, "ready"},
                           {"CLAIMED", 7, "claimed"},
                           {"DEAD", 6, "dead"},
                           {"OLDEST", 8, "oldest_age_ms", Oldest},
                           {"ASKED", kAgoWidth, "asked_at", Ago},
                           {"PAUSED", 6, "paused_reason", Paused}},
               .nothing = "no topics",
               .top = {"topics", "topic"},
               .also = "message list"}),
      Asking({.words = "topic show",
              .summary = "Show one topic and its settings",
              .notes = "Exit code 3 when there is no such topic. `tenure why topic TOPIC` says "
                       "it in sentences.\n\nExample:\n  tenure topic show orders\n",
              .flags = {TopicArgument()},
              .path = kTopicPath,
              .print = ShowTopic}),
      Listing({.words = "topic messages",
               .summary = "List the messages of a topic",
               .notes =
                   "In the order in which they are handed out: who has them, who failed at them. "
                   "Dead ones are in\n`tenure message dead --topic TOPIC`.\n\nExample:\n"
                   "  tenure topic messages orders --state claimed\n",
               .flags = {TopicArgument().As("topic"),
                         Value("--state", "ready|claimed|waiting",
                               "Only those; `waiting` is for their time [ready and claimed].", Word)
                             .As("state")},
               .path = "/api/v1/messages",
               .columns = {{"MESSAGE", 36, "id"},
                           {"STATE", 7, "state"},
                           {"OWNER", 16, "owner", OrDash},
                           {"FAILED", 6, "attempts"},
                           {"ENQUEUED", kAgoWidth, "enqueued_at", Ago},
                           {.heading = "LAST ERROR",
                            .width = 10,
                            .field = "last_error",
                            .cell = OrDash,
                            .is_spare = true}},
               .nothing = "no messages"}),
      Asking({.words = "why topic",
              .summary = "Say what the messages of a topic wait for",
              .notes = "How many are ready and for how long, who asks for them, and how many were "
                       "given up. Exit\ncode 3 when there is no such topic.\n\nExample:\n"
                       "  tenure why topic orders\n",
              .flags = {TopicArgument()},
              .path = "/api/v1/why/topic/{TOPIC}",
              .print = Explained(),
              .part = Part::kExplain})};
}

cli::Commands TopicActs() {
  using namespace cli;  // the words of its tables
  return {Asking({.words = "topic pause",
                  .summary = "Hand out no messages of a topic for now",
                  .notes = "Messages are still taken and kept; what is in somebody's hands may be "
                           "finished.\n\nExample:\n"
                           "  tenure topic pause payments --reason \"the bank is closed\"\n",
                  .flags = {TopicArgument(),
                            Required("--reason", "TEXT", "Why; `tenure why message` tells it.")
                                .As("reason")},
                  .method = http::Method::kPatch,
                  .path = kTopicPath,
                  .fixed = R"("paused":true)",
                  .print = Sentence("{TOPIC} is paused"),
                  .also = "message pause"}),
          Asking({.words = "topic resume",
                  .summary = "Hand out the messages of a paused topic again",
                  .notes = "Example:\n  tenure topic resume payments\n",
                  .flags = {TopicArgument()},
                  .method = http::Method::kPatch,
                  .on_record = true,
                  .path = kTopicPath,
                  .fixed = R"("paused":false)",
                  .print = Sentence("{TOPIC} goes on"),
                  .also = "message resume"}),
          Asking({.words = "topic set",
                  .summary = "Change how the messages of a topic are treated",
                  .notes = std::string(kSetNotes),
                  .flags = Flags{TopicArgument()} + TopicSettingFlags(),
                  .method = http::Method::kPatch,
                  .on_record = true,
                  .path = kTopicPath,
                  .print = ShowTopic,
                  .refuse = RefuseNoSetting})};
}

}  // namespace

cli::Commands TopicCommands() { return TopicLooks() + TopicActs(); }

}  // namespace tenure::messages
