// What is counted of ordered queues, for operators only.

#include <sstream>

#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;
using telemetry::Audience;
using testing::HasSubstr;
using testing::Not;

class ProbeContract : public QueuesContract {
 protected:
  std::string Text(Audience audience = Audience::kOperators) {
    a_.queues().probe()->Counted(a_.Call(a_.queues(), &Queues::Count, {}));
    std::istringstream lines(store_.metrics().Text(audience));
    std::string text;
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("queue_")) text += line + "\n";
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, ProbeContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(ProbeContract, TurnsAndMessagesAreCountedByWhatBecameOfThem) {
  a_.Declare({.max_concurrent_sessions = 4, .max_delivery_count = 2, .depth_threshold = 1});
  NewMessage about = a_.Of("k");
  about.name = "acme/shop/issue/7";
  about.entity = "issue";
  a_.Send({about, about, a_.Of("l"), a_.Of("m"), a_.Of("m")});
  const AcceptReply accepted = a_.Accept(a_.Ask(2));
  ASSERT_EQ(accepted.sessions.size(), 2u);
  clock().Advance(2'000);
  a_.Complete(accepted.sessions[0], std::ssize(accepted.sessions[0].messages));
  a_.Fail(accepted.sessions[1], 1);
  const std::string text = Text();
  for (const char* line :
       {"queue_messages_total{bot_name=\"q\",outcome=\"sent\"} 5",
        "queue_messages_total{bot_name=\"q\",outcome=\"retried\"} 1",
        "queue_session_duration_count{bot_name=\"q\",session_outcome=\"drained\"} 1",
        "queue_session_duration_bucket{bot_name=\"q\",session_outcome=\"abandoned\",le=\"5\"} 1",
        "queue_session_duration_bucket{bot_name=\"q\",session_outcome=\"abandoned\",le=\"1\"} 0",
        "queue_active_sessions{bot_name=\"q\",ordering_scope=\"entity\"} 0",
        "queue_ready_sessions{bot_name=\"q\"} 2", "queue_depth_over_threshold{bot_name=\"q\"} 1",
        "queue_concurrent_session_utilization{bot_name=\"q\"} 0",
        "queue_oldest_ready_seconds{bot_name=\"q\"} 2", "queue_full{bot_name=\"q\"} 0"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, HasSubstr("queue_session_message_count_sum{bot_name=\"q\",entity_type="));
  EXPECT_THAT(Text(Audience::kAnybody), Not(HasSubstr("bot_name")));
}

TEST_P(ProbeContract, ATurnAndWhatWasHandledInItAreSpans) {
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  a_.Declare({.max_delivery_count = 1, .on_dead_letter = DeadLetterPolicy::kSkip});
  NewMessage message = a_.Of("k");
  message.trace = kTrace;
  a_.Send({message, a_.Of("k"), message});
  const HeldSession held = a_.AcceptOne();
  clock().Advance(2'000);
  a_.Complete(held, 2);
  clock().Advance(1'000);
  a_.Fail(held, 3);
  std::vector<std::string> seen;
  for (const telemetry::SpanRecord& span : a_.tracer().Take(100)) {
    std::string text = span.name;
    for (const auto& [key, value] : span.attributes) {
      const auto* const word = std::get_if<std::string>(&value);
      if (key == "message.result" || key == "session.outcome" || key == "session.id")
        text += " " + *word;
      if (key == "message.delivery_count" || key == "session.messages")
        text += " " + std::to_string(std::get<std::int64_t>(value));
    }
    if (!span.parent_span_id.empty()) text += " below " + span.parent_span_id;
    text += " " + std::to_string((span.end_unix_ns - span.start_unix_ns) / 1'000'000'000) + " s";
    seen.push_back(text);
  }
  EXPECT_THAT(seen, testing::ElementsAre("message_processing 1 done below 00f067aa0ba902b7 2 s",
                                         "session_lifecycle k dead 2 3 s",
                                         "message_processing 1 failed below 00f067aa0ba902b7 1 s"));
}

TEST_P(ProbeContract, TimeOutsAreCountedAndTheirShareIsThatOfFiveMinutes) {
  a_.Declare({.max_delivery_count = 1});
  a_.Send("k");
  a_.Send("l");
  a_.Complete(a_.AcceptOne(), 1);
  AcceptRequest brief = a_.Ask();
  brief.lease_ms = 1'000;
  a_.Accept(brief);
  clock().Advance(1'000);
  EXPECT_TRUE(a_.Accept(a_.Ask()).sessions.empty()) << "it is parked";
  std::string text = Text();
  EXPECT_THAT(text,
              HasSubstr("queue_session_timeouts_total{bot_name=\"q\",timeout_reason=\"lease\"} 1"));
  EXPECT_THAT(text,
              HasSubstr("queue_session_timeout_rate{bot_name=\"q\",timeout_reason=\"lease\"} 50"));
  EXPECT_THAT(text, HasSubstr("queue_parked_sessions{bot_name=\"q\"} 1"));
  EXPECT_THAT(text, HasSubstr("queue_messages_total{bot_name=\"q\",outcome=\"parked\"} 1"));
  clock().Advance(10 * 60'000);
  EXPECT_THAT(Text(), Not(HasSubstr("queue_session_timeout_rate{bot")));

  a_.Declare({}, "another rule");
  EXPECT_THAT(Text(), HasSubstr("queue_generation_blocked{bot_name=\"q\"} 1"));
}

/// The first two hundred were shown, whoever made them: the others were "other" for as long as the process lived.
TEST(QueueProbe, QueuesThatNobodyUsesHideNoneThatIsUsed) {
  telemetry::Registry metrics;
  Probe probe(metrics);
  FiguresReply figures;
  for (int i = 0; i < 300; ++i)
    figures.queues.push_back({.tenant = "big", .name = std::to_string(i)});
  figures.queues.push_back({.tenant = "small", .name = "busy", .messages = 7});
  probe.Counted(figures);
  EXPECT_THAT(metrics.Text(Audience::kOperators), HasSubstr("queue_messages{bot_name=\"busy\"} 7"));
}

}  // namespace
}  // namespace tenure::queues
