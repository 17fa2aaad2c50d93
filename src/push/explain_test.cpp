#include "push/explain.hpp"

#include <gmock/gmock.h>

namespace tenure::push {
namespace {

constexpr std::int64_t kWhyNow = 1'767'265'200'000;  // 2026-01-01T11:00:00Z

struct WhyCase {
  std::string_view code;
  Subscription row;
  std::string sentence;
  std::string next;
};

TEST(WhySubscription, SaysHowItsEndpointDoesAndWhatItWaitsFor) {
  Subscription row;
  row.name = "billing";
  row.topic = "orders";
  Subscription delivered = row;
  delivered.holder = "web-1";
  delivered.expires_ms = kWhyNow + 10'000;
  delivered.last_ms = kWhyNow - 60'000;
  delivered.delivered = 7;
  Subscription off = row;
  off.enabled = false;
  Subscription gone = row;
  gone.gone_ms = kWhyNow - 60'000;
  Subscription pausing = delivered;
  pausing.circuit.next_ms = kWhyNow + 30'000;
  Subscription failing = pausing;
  failing.circuit.failures = 2;
  failing.failed = 2;
  failing.last_error = "503 from\nbehind";
  Subscription open = failing;
  open.circuit.failures = 12;
  const std::string end = " `tenure why topic orders` tells of its messages.";
  const std::vector<WhyCase> cases{
      {"nobody", row, "Nobody delivers billing at this moment. Nothing was sent yet.",
       "A process with push does within 10 seconds."},
      {"delivered", delivered,
       "The subscription billing is delivered by web-1. The last request ended at "
       "2026-01-01T10:59:00.000Z: acknowledged. 7 delivered, 0 failed.",
       "Messages of its topic are sent as they become ready."},
      {"disabled", off,
       "The subscription billing is disabled by whoever put it. Nothing was sent yet.",
       "A PUT with enabled true goes on."},
      {"gone", gone,
       "The subscription billing is disabled: its endpoint said at 2026-01-01T10:59:00.000Z that "
       "it "
       "is gone (410). Nothing was sent yet.",
       "A PUT with enabled true, or with another url, goes on."},
      {"backing_off", pausing,
       "The endpoint of billing asked for a pause. The last request ended at "
       "2026-01-01T10:59:00.000Z: acknowledged. 7 delivered, 0 failed.",
       "The next message is sent at 2026-01-01T11:00:30.000Z."},
      {"backing_off", failing,
       "The endpoint of billing failed 2 times in a row. The last request ended at "
       "2026-01-01T10:59:00.000Z: 503 from behind. 7 delivered, 2 failed.",
       "The next message is sent at 2026-01-01T11:00:30.000Z."},
      {"open", open,
       "The circuit of billing is open after 12 failures of its endpoint in a row. The last "
       "request "
       "ended at 2026-01-01T10:59:00.000Z: 503 from behind. 7 delivered, 2 failed.",
       "One message is sent as a probe at 2026-01-01T11:00:30.000Z, and nothing else until one is "
       "acknowledged."},
  };
  for (const WhyCase& each : cases) {
    const explain::Explanation why = Explain(each.row, kWhyNow);
    EXPECT_EQ(why.because.front().code, each.code);
    EXPECT_EQ(why.Sentence(), each.sentence + end);
    EXPECT_EQ(why.next.text, each.next);
  }
}

}  // namespace
}  // namespace tenure::push
