// Rows as no program of ours writes them, put into the store by hand: the server answers what it
// can, in JSON, goes on with the rows beside them, and lives.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

/// What no program of ours would write, by type. Numbers stay below what a few additions overflow:
/// that wraps in a release, and ends what is built with sanitizers.
const std::map<std::string, std::vector<std::string>> kOddInPostgres{
    {"bigint",
     {"-1000000000000000000", "-62135596800000", "-1", "0", "253402300800000",
      "1000000000000000000", "null"}},
    {"integer", {"-2147483648", "-1", "0", "2147483647"}},
    {"smallint", {"-32768", "-1", "0", "32767"}},
    {"text", {"''", "'{'", "E'\\x01'", "repeat('x', 3000)"}},
    {"uuid", {"'00000000-0000-0000-0000-000000000000'", "null"}},
    {"bytea", {"''", "'\\x00'", "'\\xff7b'"}},
};
const std::map<std::string, std::vector<std::string>> kOddInSqlite{
    {"INTEGER",
     {"-1000000000000000000", "-62135596800000", "-1", "0", "253402300800000",
      "1000000000000000000", "null"}},
    {"TEXT", {"''", "'{'", "cast(x'22ff01' as text)", "null"}},
    {"BLOB", {"x''", "x'ff'", "zeroblob(16)", "zeroblob(17)", "null"}},
};

/// By the beginning of a table's name: where what is in it is seen. Of the others everything.
const std::vector<std::pair<std::string, std::vector<std::string>>> kSeenAt{
    {"session", {"/sessions", "/usage"}},
    {"usage", {"/usage"}},
    {"lease", {"/api/v1/leases"}},
    {"license", {"/api/v1/licenses"}},
    {"seat", {"/api/v1/licenses"}},
    {"organization", {"/api/v1/organizations", "/api/v1/licenses"}},
    {"task", {"/api/v1/tasks"}},
    {"inbox", {"/api/v1/inbox"}},
    {"message", {"/api/v1/messages", "/api/v1/timers", "/api/v1/topics"}},
    {"webhook", {"/api/v1/webhooks"}},
    {"bot_files", {"/api/v1/bots", "/api/v1/webhooks"}},
    {"unsorted", {"/api/v1/messages", "/api/v1/topics"}},
    {"finished", {"/api/v1/messages"}},
    {"dead", {"/api/v1/dead-letters", "/api/v1/messages"}},
    {"subscription", {"/api/v1/subscriptions"}},
    {"topic", {"/api/v1/messages", "/api/v1/timers", "/api/v1/topics", "/api/v1/dead-letters"}},
};

class OddRows : public testing::TestWithParam<Engine> {
 protected:
  struct Column {
    std::string table, name, type;
  };
  struct Request {
    std::string method, target, body;
  };

  std::string Table(const std::string& name) const {
    return is_postgres_ ? "tenure." + name : name;
  }
  std::string Kept(const std::string& name) const { return Table("odd_" + name); }

  /// Tables of ours, without what triggers keep append-only and what says which tables there are.
  std::vector<Column> Columns() const {
    const std::string list = store_.Execute(
        is_postgres_
            ? "select string_agg(table_name || ' ' || column_name || ' ' || data_type, E'\\n' "
              "order by table_name, ordinal_position) from information_schema.columns "
              "where table_schema = 'tenure' and table_name not in ('migrations', 'settings') "
              "and table_name not like 'audit%' and table_name not like 'odd%'"
            : "select group_concat(m.name || ' ' || p.name || ' ' || p.type, char(10)) "
              "from sqlite_master m, pragma_table_info(m.name) p where m.type = 'table' "
              "and m.name not in ('migrations', 'settings', 'store', 'clock') "
              "and m.name not like 'audit%' and m.name not like 'odd%' and m.name not like "
              "'sqlite%'");
    std::vector<Column> columns;
    std::istringstream lines(list);
    for (Column each;
         lines >> each.table >> each.name && std::getline(lines >> std::ws, each.type);)
      columns.push_back(each);
    return columns;
  }
  const std::vector<std::string>& OddValuesOf(const Column& column) const {
    static const std::vector<std::string> kNone;
    const auto& odd = is_postgres_ ? kOddInPostgres : kOddInSqlite;
    const auto found = odd.find(column.type);
    return found == odd.end() ? kNone : found->second;
  }

  /// Something in every table, and for each operation a request that speaks of it.
  void Fill() {
    const Api api(*server_);
    const SampleRequests samples(api);
    for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
      const auto request = samples.RequestOf(method, path);
      requests_.push_back({method, request.target, request.body});
    }
    const Topic topic(api);
    requests_.push_back({"POST", "/api/v1/messages", topic.Message(R"(,"headers":{"a":1})")});
    requests_.push_back({"POST", "/api/v1/messages", topic.Message(R"(,"dedup_key":"k")")});
    requests_.push_back({"POST", "/api/v1/messages/claim", topic.ClaimBody(R"(,"max":3)")});
    requests_.push_back({"GET", topic.Path(), ""});
    const Topic failed(api);
    failed.Send();
    failed.Report("fail", failed.Take());
    for (const Request& request : requests_)
      if (request.method != "GET") api.Call(request.method, request.target, request.body);
    for (const Column& column : Columns())
      if (kept_.insert(column.table).second)
        store_.Execute("create table " + Kept(column.table) + " as select * from " +
                       Table(column.table));
  }
  void Restore(const std::string& table) const {
    const std::string back = "begin; delete from " + Table(table) + "; insert into " +
                             Table(table) + (is_postgres_ ? " overriding system value" : "") +
                             " select * from " + Kept(table) + "; commit";
    // The server works on meanwhile, and may have made the same row again.
    Eventually("the rows are as before", [&] { return RefusalOf(back).empty(); });
  }
  std::string RefusalOf(const std::string& sql) const {
    try {
      store_.Execute(sql);
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  static bool IsSeenAt(const std::string& table, const std::string& target) {
    for (const auto& [prefix, places] : kSeenAt)
      if (table.starts_with(prefix))
        return std::ranges::any_of(places, [&](const auto& at) { return target.starts_with(at); });
    return true;
  }
  /// Nobody minds what is answered, as long as it is JSON.
  void AskAbout(const std::string& table, const std::string& why) {
    support::HttpConnection connection(server_->Port());
    for (const auto& [method, target, body] : requests_) {
      if (!IsSeenAt(table, target)) continue;
      connection.Send(support::FormatRequest(server_->Port(), method, target, body));
      const HttpResponse response = connection.ReadResponse();
      if (target == "/metrics" || response.body.empty()) continue;
      EXPECT_NO_THROW(Json::Parse(response.body))
          << method << ' ' << target << ": " << response.body << '\n'
          << why;
    }
    ASSERT_EQ(connection.Call("GET", "/livez").status, 200) << why;
  }

  const bool is_postgres_ = GetParam() == Engine::kPostgres;
  const StoreUnderTest store_{GetParam()};
  // What works in the background does so all the time: it meets the rows too.
  const std::unique_ptr<support::ServerProcess> server_ = store_.Serve(
      PushSettings::Flags({"--set", "usage.interval=1s", "--set", "sessions.expiry_interval=100ms",
                           "--set", "messages.poll_max=50ms"}));
  std::vector<Request> requests_;
  std::set<std::string> kept_;
};

INSTANTIATE_TEST_SUITE_P(Each, OddRows, EachEngine(), EngineName);

TEST_P(OddRows, EndNoProcess) {
  Fill();
  int changes = 0;
  for (const Column& column : Columns())
    for (const std::string& value : OddValuesOf(column)) {
      const std::string change =
          "update " + Table(column.table) + " set " + column.name + " = " + value;
      // What a constraint refuses cannot be there.
      if (!RefusalOf(change).empty()) continue;
      ++changes;
      ASSERT_NO_FATAL_FAILURE(AskAbout(column.table, change));
      Restore(column.table);
    }
  EXPECT_GT(changes, 200);
}

/// Several columns of several tables at once, row by row: by chance, from a seed.
TEST_P(OddRows, ByChanceEndNoProcess) {
  Fill();
  const std::vector<Column> columns = Columns();
  const int rounds = std::getenv("TENURE_TEST_LONG") ? 2'000 : 5;
  for (int seed = 1; seed <= rounds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto any = [&](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::string why = "seed " + std::to_string(seed);
    std::set<std::string> changed;
    for (int i = 0; i < 12; ++i) {
      const Column& column = columns[any(columns.size())];
      const auto& values = OddValuesOf(column);
      if (values.empty()) continue;
      const std::string change = "update " + Table(column.table) + " set " + column.name + " = " +
                                 values[any(values.size())] + " where " +
                                 (is_postgres_ ? "random() < 0.5" : "random() > 0");
      if (!RefusalOf(change).empty()) continue;
      why += "\n" + change;
      changed.insert(column.table);
    }
    ASSERT_NO_FATAL_FAILURE(AskAbout("everything", why));
    for (const std::string& table : changed) Restore(table);
  }
}

TEST_P(OddRows, AMessageThatIsNoneStopsNoOtherOfItsTopic) {
  const Api api(*server_);
  const Topic topic(api);
  topic.Send();
  const std::string bad = is_postgres_ ? "payload = '\\xff', headers = '{'" : "id = x'0102'";
  store_.Execute("update " + Table("messages") + " set " + bad);
  const std::string good = topic.Send();
  const HttpResponse claimed = topic.Claim(R"(,"max":10)");
  ASSERT_EQ(claimed.status, 200) << claimed.body;
  const Json messages = claimed.Json()["messages"];
  bool found = false;
  for (const Json& each : messages.Elements()) {
    found = found || each["id"].Text() == good;
    if (each["id"].Text() == good) continue;
    EXPECT_TRUE(each.Has("payload_base64")) << claimed.body;
  }
  EXPECT_TRUE(found) << claimed.body;
}

TEST_P(OddRows, ATimerWithoutATopicHoldsUpNoOther) {
  const Api api(*server_);
  const Topic orphan(api);
  orphan.SetTimer(60'000);
  store_.Execute("update " + Table("messages") + " set due_ms = 1, topic_id = 12345");
  const Topic topic(api);
  topic.SetTimer(1);
  Eventually("the other one is due", [&] { return topic.Claim().Json()["messages"].Size() == 1; });
}

TEST_P(OddRows, ATopicWithLinesOfNoPriorityIsServed) {
  const Api api(*server_);
  const Topic topic(api);
  topic.Send();
  store_.Execute("update " + Table("topics") + " set lines = -1, backoff_ms = 0, max_attempts = 0");
  const Claimed claimed = topic.Take();
  store_.Execute("update " + Table("messages") + " set attempts = 2147483646");
  EXPECT_EQ(topic.Report("abandon", claimed)["done"].Size(), 1U);
}

TEST_P(OddRows, ATaskWithoutAnIntervalIsFinished) {
  const Api api(*server_);
  const std::string task = "/api/v1/tasks/" + NewUuid();
  const Json lock = api.Call("POST", task + "/claim",
                             R"({"term":")" + NewUuid() +
                                 R"(","holder":"me","interval_ms":1000,"lock_timeout_ms":60000})")
                        .Json()["lock"];
  store_.Execute("update " + Table("tasks") +
                 " set interval_ms = 0, failures = -5, next_ms = -1000000000000000000");
  const HttpResponse finished = api.Call("POST", task + "/finish", GrantJson(lock));
  EXPECT_EQ(finished.status, 200) << finished.body;
}

class OddRowsAside : public OddRows {};
INSTANTIATE_TEST_SUITE_P(Each, OddRowsAside, testing::Values(Engine::kPostgres), EngineName);

TEST_P(OddRowsAside, StopNoOtherTenantsSorting) {
  const std::string insert =
      "insert into tenure.unsorted_messages (id, tenant, topic, line, due_ms, enqueued_ms, "
      "payload_kind, payload, correlation_id, headers, trace, dedup_key) values ";
  const std::string rest = ", 1, 0, '1', '', '', '', '')";
  const std::string early = "(gen_random_uuid(), 'bad', 'bad', 10, -1000000000000000000";
  EXPECT_NE(RefusalOf(insert + early + rest), "") << "the column is checked";
  // As it may be from before there was a check.
  store_.Execute("alter table tenure.unsorted_messages drop constraint unsorted_messages_due_ms");
  const std::string twice = "('" + NewUuid() + "', 'bad', 'bad', 10, 1";
  store_.Execute(insert + early + rest + ", " + twice + rest + ", " + twice + rest);
  const Topic topic{Api(*server_)};
  store_.Execute("select tenure.enqueue('" + topic.name() + "', '1')");
  Eventually("the good one is sorted",
             [&] { return topic.Claim().Json()["messages"].Size() == 1; });
  EXPECT_EQ(store_.Execute("select count(*) from tenure.unsorted_messages"), "0");
}

}  // namespace
}  // namespace tenure::api
