#include "telemetry/trace.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::telemetry {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHeader = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Traced {
  base::ManualClock clock{1'700'000'000'000};
  Registry metrics;
  Tracer tracer;

  explicit Traced(std::size_t capacity = 10) : tracer(capacity, clock, metrics) {}
};

TEST(TraceParent, IsReadAndWrittenBack) {
  const auto parent = ParseTraceParent(kHeader);
  ASSERT_TRUE(parent);
  EXPECT_EQ(parent->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(parent->span_id, "00f067aa0ba902b7");
  EXPECT_TRUE(parent->sampled);
  EXPECT_EQ(FormatTraceParent(*parent), kHeader);
}

TEST(TraceParent, OfItsFlagsOnlyTheLastBitSaysThatItIsSampled) {
  const auto sampled = [](const std::string& flags) {
    return ParseTraceParent(std::string(kHeader.substr(0, 53)) + flags)->sampled;
  };
  for (const char* flags : {"01", "03", "ff", "0b"}) EXPECT_TRUE(sampled(flags)) << flags;
  for (const char* flags : {"00", "10", "fe", "0a"}) EXPECT_FALSE(sampled(flags)) << flags;
}

TEST(TraceParent, ALaterVersionIsReadAsFarAsThisOneGoes) {
  const std::string later = "cc" + std::string(kHeader.substr(2));
  EXPECT_EQ(ParseTraceParent(later), ParseTraceParent(kHeader));
  EXPECT_EQ(ParseTraceParent(later + "-what-comes-then"), ParseTraceParent(kHeader));
  EXPECT_EQ(ParseTraceParent(later + "x"), std::nullopt);
}

TEST(TraceParent, WhateverIsWrongInItMakesItNone) {
  for (const char* text : {
           "",
           "00",
           "-",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
           " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
           "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
       })
    EXPECT_EQ(ParseTraceParent(text), std::nullopt) << text;
  // Cut off anywhere, or with any one character replaced by what never stands there.
  for (std::size_t i = 0; i < kHeader.size(); ++i) {
    EXPECT_EQ(ParseTraceParent(kHeader.substr(0, i)), std::nullopt) << i;
    for (const char wrong : {'\0', ' ', 'G', '\xff'}) {
      std::string text(kHeader);
      text[i] = wrong;
      EXPECT_EQ(ParseTraceParent(text), std::nullopt) << i;
    }
  }
}

TEST(TraceScope, AThreadWorksForTheInnermostTraceThatIsOne) {
  EXPECT_EQ(TraceScope::Current(), nullptr);
  {
    const TraceScope outer(ParseTraceParent(kHeader));
    const TraceScope none(std::nullopt);
    ASSERT_NE(TraceScope::Current(), nullptr);
    EXPECT_EQ(FormatTraceParent(*TraceScope::Current()), kHeader);
    {
      auto other = ParseTraceParent(kHeader);
      other->span_id = "1111111111111111";
      const TraceScope inner(other);
      EXPECT_EQ(TraceScope::Current()->span_id, "1111111111111111");
    }
    EXPECT_EQ(FormatTraceParent(*TraceScope::Current()), kHeader);
    std::thread([] { EXPECT_EQ(TraceScope::Current(), nullptr); }).join();
  }
  EXPECT_EQ(TraceScope::Current(), nullptr);
}

TEST(Tracer, WhenItIsOffThereAreNoSpans) {
  Traced off(0);
  Span span = off.tracer.Start("Lease.Acquire", ParseTraceParent(kHeader));
  EXPECT_FALSE(span);
  span.Set("lease.name", "a");
  span.Fail();
  span.End();
  EXPECT_TRUE(off.tracer.Take(10).empty());
}

TEST(Tracer, ASpanHangsBelowItsParentAndKeepsTheLastOfEachAttribute) {
  Traced on;
  {
    Span span = on.tracer.Start("Lease.Acquire", ParseTraceParent(kHeader));
    span.Set("lease.result", "refused");
    span.Set("lease.result", "granted");
    span.Set("lease.count", 3);
  }
  const auto spans = on.tracer.Take(10);
  ASSERT_EQ(spans.size(), 1U);
  const SpanRecord& span = spans[0];
  EXPECT_EQ(span.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span.parent_span_id, "00f067aa0ba902b7");
  EXPECT_EQ(span.span_id.size(), 16U);
  EXPECT_NE(span.span_id, span.parent_span_id);
  EXPECT_EQ(span.start_unix_ns, 1'700'000'000'000'000'000);
  EXPECT_GE(span.end_unix_ns, span.start_unix_ns);
  ASSERT_EQ(span.attributes.size(), 2U);
  EXPECT_EQ(std::get<std::string>(span.attributes[0].second), "granted");
  EXPECT_FALSE(span.failed);
}

TEST(Tracer, WithoutAParentATraceBeginsAndWithAnUnsampledOneNothingIsRecorded) {
  Traced on;
  on.tracer.Start("a", std::nullopt).End();
  on.tracer.Start("b", std::nullopt).End();
  auto unsampled = ParseTraceParent(kHeader);
  unsampled->sampled = false;
  EXPECT_FALSE(on.tracer.Start("c", unsampled));
  const auto spans = on.tracer.Take(10);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].parent_span_id, "");
  EXPECT_EQ(spans[0].trace_id.size(), 32U);
  EXPECT_NE(spans[0].trace_id, spans[1].trace_id);
}

TEST(Tracer, WhatDoesNotFitIsDroppedAndCounted) {
  Traced on(2);
  for (const char* name : {"a", "b", "c"}) on.tracer.Start(name, std::nullopt).End();
  EXPECT_THAT(on.metrics.Text(),
              HasSubstr("tenure_trace_spans_dropped_total{reason=\"queue_full\"} 1\n"));
  EXPECT_EQ(on.tracer.Take(1).at(0).name, "a");
  on.tracer.Start("d", std::nullopt).End();
  const auto rest = on.tracer.Take(10);
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].name, "b");
  EXPECT_EQ(rest[1].name, "d");
}

TEST(Tracer, ASpanThatIsReplacedOrMovedEndsOnce) {
  Traced on;
  Span first = on.tracer.Start("a", std::nullopt);
  first = on.tracer.Start("b", std::nullopt);
  Span second = std::move(first);
  second.End();
  second.End();
  EXPECT_EQ(on.tracer.Take(10).size(), 2U);
}

TEST(Tracer, ThreadsMayFinishSpansWhileOthersTakeThem) {
  Traced on(1'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) on.tracer.Start("a", std::nullopt).End();
    });
  std::size_t taken = 0;
  while (taken < 800) taken += on.tracer.Take(7).size();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(taken, 800U);
}

TEST(Otlp, ABatchIsWrittenAsTheProtocolHasIt) {
  SpanRecord span{.name = "Lease.Acquire",
                  .trace_id = "4bf92f3577b34da6a3ce929d0e0e4736",
                  .span_id = "00f067aa0ba902b7",
                  .parent_span_id = "b7ad6b7169203331",
                  .start_unix_ns = 1'700'000'000'000'000'000,
                  .end_unix_ns = 1'700'000'000'001'500'000,
                  .failed = true};
  span.attributes.emplace_back("lease.name", "a \"name\"");
  span.attributes.emplace_back("lease.count", std::int64_t{3});
  const std::string body = OtlpJson({&span, 1}, "host:1:abcd");
  EXPECT_THAT(body, HasSubstr(R"({"key":"service.name","value":{"stringValue":"tenure"}})"));
  EXPECT_THAT(body,
              HasSubstr(R"({"key":"service.instance.id","value":{"stringValue":"host:1:abcd"}})"));
  EXPECT_THAT(
      body,
      testing::EndsWith(
          R"("scopeSpans":[{"scope":{"name":"tenure"},"spans":[{)"
          R"("traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
          R"("parentSpanId":"b7ad6b7169203331","name":"Lease.Acquire","kind":2,)"
          R"("startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000001500000",)"
          R"("attributes":[{"key":"lease.name","value":{"stringValue":"a \"name\""}},)"
          R"({"key":"lease.count","value":{"intValue":"3"}}],"status":{"code":2}}]}]}]})"));
}

TEST(Otlp, ASpanWithoutAParentHasNoneAndOneThatWentWellHasNoStatus) {
  const SpanRecord span{.name = "a", .trace_id = "1", .span_id = "2"};
  const std::string body = OtlpJson({&span, 1}, "i");
  EXPECT_THAT(body, Not(HasSubstr("parentSpanId")));
  EXPECT_THAT(body, HasSubstr(R"("status":{})"));
}

}  // namespace
}  // namespace tenure::telemetry
