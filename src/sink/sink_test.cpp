#include "sink/sink.hpp"

#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "http/client.hpp"
#include "support/temp_dir.hpp"

namespace tenure::sink {
namespace {

using http::Client;
using http::ClientResponse;
using http::Method;
using testing::HasSubstr;

constexpr const char* kSinkSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";

std::string RecordOf(int window, std::string_view usage = "0.000046") {
  return fmt::format(R"({{"recordId":"{0}-{1}","sessionId":"{1}",)"
                     R"("userObjectId":"11111111-1111-4111-8111-111111111111",)"
                     R"("tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
                     R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":2,)"
                     R"("windowStartUtc":"2026-01-01T00:00:00.000Z",)"
                     R"("windowEndUtc":"2026-01-01T00:01:00.000Z","usage":{2}}})",
                     window, kSinkSession, usage);
}

class SinkTest : public testing::Test {
 protected:
  void Open(std::string_view faults = "", std::string token = "") {
    sink_.emplace(SinkOptions{.port = 0,
                              .directory = folder_.path(),
                              .token = std::move(token),
                              .faults = Faults::Parse(faults),
                              .fault_seed = 7});
    sink_->Start();
  }
  Client NewClient(std::string token = "") const {
    return Client({.base_url = fmt::format("http://127.0.0.1:{}", sink_->port()),
                   .timeout_ms = 20'000,
                   .token = std::move(token)});
  }
  ClientResponse Post(const std::string& records) {
    Client client = NewClient();
    return client.Send(Method::kPost, "/usages", "[" + records + "]");
  }
  std::string Get(std::string_view path) {
    Client client = NewClient();
    return client.Send(Method::kGet, path).body;
  }

  support::TempDir folder_;
  std::optional<Sink> sink_;
};

TEST_F(SinkTest, TellsWhatItAppliedAndWhatThereIs) {
  Open();
  const ClientResponse answer = Post(RecordOf(1) + "," + RecordOf(2));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"applied":2,"duplicate":0})");
  EXPECT_EQ(Post(RecordOf(2) + "," + RecordOf(3)).body, R"({"applied":1,"duplicate":1})");
  EXPECT_EQ(Get("/totals"),
            R"({"items":[{"records":3,"usage":0.000138}],"nextCursor":null,"conflicts":0})");
  EXPECT_EQ(
      Get("/totals?by=user"),
      R"({"items":[{"userObjectId":"11111111-1111-4111-8111-111111111111","records":3,"usage":0.000138}],"nextCursor":null,"conflicts":0})");
  EXPECT_EQ(Get(fmt::format("/records?sessionId={}&limit=1", kSinkSession)),
            fmt::format(R"({{"items":[{}],"nextCursor":"1"}})", RecordOf(1)));
  EXPECT_EQ(Get(fmt::format("/records?sessionId={}&limit=2&cursor=1", kSinkSession)),
            fmt::format(R"({{"items":[{},{}],"nextCursor":null}})", RecordOf(2), RecordOf(3)));
  EXPECT_THAT(Get("/totals?by=planet"), HasSubstr("must be all, session"));
  EXPECT_THAT(Get("/records"), HasSubstr("is required"));
  const Summary summary = sink_->Look(10);
  EXPECT_EQ(summary.all.usage, 138);
  EXPECT_EQ(summary.duplicates, 1);
  EXPECT_EQ(summary.groups.size(), 3U);
}

TEST_F(SinkTest, ARecordThatContradictsIs422AndNeverChangesATotal) {
  Open();
  Post(RecordOf(1));
  const ClientResponse answer = Post(RecordOf(2) + "," + RecordOf(1, "0.000047"));
  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.body, HasSubstr("urn:tenure:problem:usage-conflict"));
  EXPECT_THAT(answer.body, HasSubstr(fmt::format("1-{} was applied before", kSinkSession)));
  EXPECT_EQ(Get("/totals"),
            R"({"items":[{"records":1,"usage":0.000046}],"nextCursor":null,"conflicts":1})");
}

TEST_F(SinkTest, BadRecordsAre400AndNothingIsApplied) {
  Open();
  const ClientResponse answer = Post(RecordOf(1) + "," + RecordOf(2, "1"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("records[1].usage"));
  EXPECT_EQ(Get("/totals"), R"({"items":[],"nextCursor":null,"conflicts":0})");
}

TEST_F(SinkTest, ConcurrentSendersOfTheSameRecordsApplyEachOnce) {
  Open();
  std::atomic<int> refused = 0;
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t)
    senders.emplace_back([&] {
      Client client = NewClient();
      for (int window = 1; window <= 25; ++window)
        if (client.Send(Method::kPost, "/usages", "[" + RecordOf(window) + "]").status != 200)
          ++refused;
    });
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(refused.load(), 0);
  EXPECT_EQ(sink_->Look(1).all.records, 25);
  EXPECT_EQ(sink_->Look(1).all.usage, 25 * 46);
  EXPECT_EQ(sink_->Look(1).duplicates, 75);
}

TEST_F(SinkTest, TheBooksAreThereAfterARestart) {
  Open();
  Post(RecordOf(1));
  sink_.reset();
  Open();
  EXPECT_EQ(Post(RecordOf(1)).body, R"({"applied":0,"duplicate":1})");
  EXPECT_EQ(sink_->Look(1).all.usage, 46);
}

TEST_F(SinkTest, MisbehavesAsItIsTold) {
  Open("drop-after:1");
  EXPECT_THROW(Post(RecordOf(1)), base::Fault);
  EXPECT_EQ(sink_->Look(1).all.records, 1) << "applied, though nobody was told";
  Client client = NewClient();
  const auto put = [&](std::string_view faults) {
    return client.Send(Method::kPut, "/faults", fmt::format(R"({{"faults":"{}"}})", faults));
  };
  EXPECT_EQ(put("drop-before:1").body, R"({"faults":"drop-before:1"})");
  EXPECT_THROW(Post(RecordOf(2)), base::Fault);
  EXPECT_EQ(put("503:1").status, 200);
  EXPECT_EQ(Post(RecordOf(2)).FindHeader("Retry-After"), "1");
  EXPECT_EQ(put(fmt::format("refuse-session:{}=413", kSinkSession)).status, 200);
  EXPECT_EQ(Post(RecordOf(2)).status, 413);
  EXPECT_EQ(sink_->Look(1).all.records, 1);
  EXPECT_THAT(put("nonsense").body, HasSubstr("nonsense"));
  EXPECT_EQ(Get("/faults"), fmt::format(R"({{"faults":"refuse-session:{}=413"}})", kSinkSession));
  EXPECT_EQ(put("").status, 200);
  EXPECT_EQ(Post(RecordOf(2)).status, 200);
}

TEST_F(SinkTest, ARequestThatHangsEndsWithItsClientOrWithTheReceiver) {
  Open("hang:1");
  Client impatient = NewClient();
  EXPECT_THROW(impatient.Send(Method::kPost, "/usages", "[" + RecordOf(1) + "]", {}, 100),
               base::Fault);
  std::atomic<bool> sent = false;
  std::thread patient([&] {
    Client client = NewClient();
    sent = true;
    sent.notify_all();
    EXPECT_THROW(client.Send(Method::kPost, "/usages", "[" + RecordOf(1) + "]"), base::Fault);
  });
  sent.wait(false);
  sink_->Stop();
  patient.join();
  EXPECT_EQ(sink_->Look(1).all.records, 0);
}

TEST_F(SinkTest, WithATokenNobodyIsServedWithoutIt) {
  Open("", "open-sesame");
  Client right = NewClient("open-sesame");
  EXPECT_EQ(right.Send(Method::kPost, "/usages", "[" + RecordOf(1) + "]").status, 200);
  EXPECT_EQ(right.Send(Method::kGet, "/totals").status, 200);
  for (const char* token : {"", "open-sesamf", "open-sesame2", "o"}) {
    Client wrong = NewClient(token);
    EXPECT_EQ(wrong.Send(Method::kPost, "/usages", "[" + RecordOf(2) + "]").status, 401) << token;
    EXPECT_EQ(wrong.Send(Method::kGet, "/totals").status, 401) << token;
  }
}

}  // namespace
}  // namespace tenure::sink
