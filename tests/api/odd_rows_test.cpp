// Rows as no program of ours writes them, put into the store by hand: the server answers what it
// can, in JSON, goes on with the rows beside them, and lives.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/github.hpp"
#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "api/sqlite_file.hpp"
#include "api/store_under_test.hpp"
#include "support/long_run.hpp"
#include "support/odd_families.hpp"

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

using support::FamilyOf;
using support::OddFamily;

class OddRows : public testing::TestWithParam<Engine> {
 protected:
  struct Column {
    std::string table, name, type;
  };
  struct Request {
    std::string method, target, body;
    support::HttpHeaders headers{};
  };

  std::string Table(const std::string& name) const {
    return is_postgres_ ? "tenure." + name : name;
  }
  std::string Kept(const std::string& name) const { return Table("odd_" + name); }

  /// Tables of ours, without what says which tables there are.
  std::vector<Column> Columns() {
    const std::string list = Execute(
        is_postgres_
            ? "select string_agg(table_name || ' ' || column_name || ' ' || data_type, E'\\n' "
              "order by table_name, ordinal_position) from information_schema.columns "
              "where table_schema = 'tenure' and table_name not in ('migrations', 'settings') "
              "and table_name not like 'odd%'"
            : "select group_concat(m.name || ' ' || p.name || ' ' || p.type, char(10)) "
              "from sqlite_master m, pragma_table_info(m.name) p where m.type = 'table' "
              "and m.name not in ('migrations', 'settings') "
              "and m.name not like 'odd%' and m.name not like 'sqlite%'");
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

  /// Of what both engines have, each tries half of the values: the code that reads a row is the same. All of them with
  /// TENURE_TEST_LONG.
  bool IsTheOthers(const Column& column, std::size_t value) const {
    const bool is_shared = column.type == "bigint" || column.type == "INTEGER" ||
                           column.type == "text" || column.type == "TEXT";
    const std::size_t half = std::hash<std::string>()(column.table + "." + column.name) + value;
    return is_shared && (half % 2 == 0) == is_postgres_;
  }

  std::unique_ptr<support::ServerProcess> Serve(std::vector<std::string> flags) const {
    if (is_postgres_) return store_.Serve(std::move(flags));
    return std::make_unique<support::ServerProcess>(
        support::ServerOptions{.data_dir = folder_.path(), .flags = std::move(flags)});
  }

  /// Something in every table, and for each operation a request that speaks of it.
  void Fill() {
    const Api api(*server_);
    const SampleRequests samples(api);
    for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
      const auto request = samples.RequestOf(method, path);
      requests_.push_back({method, request.target, request.body, request.headers});
    }
    const Topic topic(api);
    requests_.push_back({"POST", "/api/v1/messages", topic.Message(R"(,"headers":{"a":1})")});
    requests_.push_back({"POST", "/api/v1/messages", topic.Message(R"(,"dedup_key":"k")")});
    requests_.push_back(
        {"POST", "/api/v1/messages", topic.Message(), {{"Idempotency-Key", "again"}}});
    requests_.push_back({"POST", "/api/v1/messages/claim", topic.ClaimBody(R"(,"max":3)")});
    requests_.push_back({"GET", topic.Path(), ""});
    const Topic failed(api);
    failed.Send();
    failed.Report("fail", failed.Take());
    for (const Request& request : requests_)
      if (request.method != "GET")
        api.Call(request.method, request.target, request.body, request.headers);
    AllowEverything();
    columns_ = Columns();
    for (const Column& column : columns_)
      if (tables_.insert(column.table).second) Keep(column.table);
  }
  /// Whoever put such rows there did not ask the triggers that keep some tables append-only.
  void AllowEverything() {
    if (is_postgres_) {
      session_.emplace(store_.url());
      session_->Execute("set client_min_messages = error");
      session_->Execute("set session_replication_role = replica");
      session_->Execute(
          session_->Execute("select string_agg(format('alter table %s disable trigger %I', "
                            "tgrelid::regclass, tgname), ';') from pg_trigger where tgenabled = "
                            "'A'"));
    } else {
      Execute(Execute(
          "select group_concat('drop trigger ' || name, ';') from sqlite_master where type = "
          "'trigger'"));
    }
  }
  /// How the table is, for Restore. One that nothing is in gets a row of plain values, in the same
  /// transaction, since the server may take it away at once.
  void Keep(const std::string& table) {
    const std::string keep =
        "create table " + Kept(table) + " as select * from " + Table(table) + "; commit";
    if (Execute("select count(*) from " + Table(table)) == "0") {
      std::string names, values;
      for (const Column& column : columns_) {
        if (column.table != table) continue;
        names += (names.empty() ? "" : ", ") + column.name;
        values += (values.empty() ? "" : ", ") + PlainOf(column.type);
      }
      const std::string refusal =
          RefusalOf("begin; insert into " + Table(table) + " (" + names + ")" + Overriding() +
                    " values (" + values + "); " + keep);
      if (refusal.empty()) return;
      ADD_FAILURE() << table << " has no row, and cannot have a plain one: " << refusal;
    }
    Execute("begin; " + keep);
  }
  static std::string PlainOf(const std::string& type) {
    if (type == "text" || type == "TEXT") return "'x'";
    if (type == "uuid") return "'" + NewUuid() + "'";
    if (type == "bytea") return "'\\x7b7d'";
    if (type == "BLOB") return "x'" + HexOf(NewUuid()) + "'";
    if (type == "boolean") return "false";
    return "1";
  }
  std::string Overriding() const { return is_postgres_ ? " overriding system value" : ""; }
  /// All tables of these families.
  void Restore(const std::set<const OddFamily*>& families) {
    std::string back = "begin";
    for (const std::string& table : tables_)
      if (families.contains(&FamilyOf(table)))
        back += "; delete from " + Table(table) + "; insert into " + Table(table) + Overriding() +
                " select * from " + Kept(table);
    // The server works on meanwhile, and may have made the same row again.
    std::string refusal;
    try {
      Eventually("the rows are as before", [&] {
        refusal = RefusalOf(back + "; commit");
        return refusal.empty();
      });
    } catch (const std::exception& error) {
      FAIL() << error.what() << ": " << refusal;
    }
  }
  std::string Execute(const std::string& sql) {
    if (!is_postgres_) {
      if (!file_) file_.emplace(folder_ / "tenure.db");
      return file_->Execute(sql);
    }
    return session_ ? session_->Execute(sql) : store_.Execute(sql);
  }
  std::string RefusalOf(const std::string& sql) {
    try {
      Execute(sql);
      return "";
    } catch (const std::exception& error) {
      const std::string refusal = error.what();
      if (session_) session_->Execute("rollback");
      return refusal;
    }
  }

  /// All at once, over one connection. Nobody minds what is answered, as long as it is JSON.
  void AskAbout(const std::set<const OddFamily*>& families, const std::string& why) {
    std::vector<const Request*> asked;
    std::string bytes;
    for (const Request& request : requests_) {
      if (std::ranges::none_of(families, [&](auto* each) { return each->Reads(request.target); }))
        continue;
      asked.push_back(&request);
      bytes += support::FormatRequest(server_->Port(), request.method, request.target, request.body,
                                      request.headers);
    }
    support::HttpConnection connection(server_->Port(), std::chrono::seconds(60));
    connection.Send(bytes);
    for (const Request* each : asked) {
      const HttpResponse response = connection.ReadResponse();
      // A webhook's payload is given back as it is.
      const bool is_verbatim = each->target.ends_with("/payload");
      if (each->target == "/metrics" || is_verbatim || response.body.empty()) continue;
      EXPECT_NO_THROW(Json::Parse(response.body))
          << each->method << ' ' << each->target << ": " << response.body << '\n'
          << why;
    }
    ASSERT_EQ(connection.Call("GET", "/livez").status, 200) << why;
  }

  const bool is_postgres_ = GetParam() == Engine::kPostgres;
  const StoreUnderTest store_{GetParam()};
  // SQLite: many small commits, whose place on a disk nobody is interested in here.
  const support::TempDir folder_{support::Storage::kMemory};
  // What works in the background does so all the time: it meets the rows too.
  const std::unique_ptr<support::ServerProcess> server_ = Serve(
      PushSettings::Flags({"--set", "usage.interval=1s", "--set", "sessions.expiry_interval=100ms",
                           "--set", "messages.poll_max=50ms"}));
  // A connection for each change would be dear.
  std::optional<SqliteFile> file_;
  std::optional<SqlSession> session_;
  std::vector<Request> requests_;
  std::vector<Column> columns_;
  std::set<std::string> tables_;
};

INSTANTIATE_TEST_SUITE_P(Each, OddRows, EachEngine(), EngineName);

/// One column of one table at a time, for each value that a constraint does not refuse.
TEST_P(OddRows, EndNoProcess) {
  Fill();
  int changes = 0;
  std::set<std::string> changed;
  for (const Column& column : columns_) {
    const auto& values = OddValuesOf(column);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!support::IsLongRun() && IsTheOthers(column, i)) continue;
      const std::string& value = values[i];
      std::string change = "update " + Table(column.table) + " set " + column.name + " = " + value;
      if (!RefusalOf(change).empty()) {
        // A key, of which all rows cannot have the same: one of them, once in a table.
        if (!is_postgres_ || changed.contains(column.table)) continue;
        change += " where ctid = (select ctid from " + Table(column.table) + " limit 1)";
        if (!RefusalOf(change).empty()) continue;
      }
      ++changes;
      changed.insert(column.table);
      const std::set<const OddFamily*> family{&FamilyOf(column.table)};
      ASSERT_NO_FATAL_FAILURE(AskAbout(family, change));
      ASSERT_NO_FATAL_FAILURE(Restore(family));
    }
  }
  EXPECT_GT(changes, 200);
  EXPECT_EQ(changed, tables_) << "every table is seen with odd rows";
  for (const std::string& table : tables_)
    EXPECT_NE(Execute("select count(*) from " + Kept(table)), "0") << table << " has no row";
}

/// Several columns of several tables at once, row by row: by chance, from a seed.
TEST_P(OddRows, ByChanceEndNoProcess) {
  Fill();
  const int rounds = support::IsLongRun() ? 2'000 : 10;
  for (int seed = 1; seed <= rounds; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto any = [&](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::string why = "seed " + std::to_string(seed);
    std::set<const OddFamily*> changed;
    for (int i = 0; i < 24; ++i) {
      const Column& column = columns_[any(columns_.size())];
      const auto& values = OddValuesOf(column);
      if (values.empty()) continue;
      const std::string change = "update " + Table(column.table) + " set " + column.name + " = " +
                                 values[any(values.size())] + " where " +
                                 (is_postgres_ ? "random() < 0.5" : "random() > 0");
      if (!RefusalOf(change).empty()) continue;
      why += "\n" + change;
      changed.insert(&FamilyOf(column.table));
    }
    ASSERT_NO_FATAL_FAILURE(AskAbout(changed, why));
    ASSERT_NO_FATAL_FAILURE(Restore(changed));
  }
}

TEST_P(OddRows, AMessageThatIsNoneStopsNoOtherOfItsTopic) {
  const Api api(*server_);
  const Topic topic(api);
  topic.Send();
  const std::string bad = is_postgres_ ? "payload = '\\xff', headers = '{'" : "id = x'0102'";
  Execute("update " + Table("messages") + " set " + bad);
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
  Execute("update " + Table("messages") + " set due_ms = 1, topic_id = 12345");
  const Topic topic(api);
  topic.SetTimer(1);
  Eventually("the other one is due", [&] { return topic.Claim().Json()["messages"].Size() == 1; });
}

TEST_P(OddRows, ATopicWithLinesOfNoPriorityIsServed) {
  const Api api(*server_);
  const Topic topic(api);
  topic.Send();
  Execute("update " + Table("topics") + " set lines = -1, backoff_ms = 0, max_attempts = 0");
  const Claimed claimed = topic.Take();
  Execute("update " + Table("messages") + " set attempts = 2147483646");
  EXPECT_EQ(topic.Report("abandon", claimed)["done"].Size(), 1U);
}

/// All tenants' webhooks stopped, and no server started again.
TEST_P(OddRows, AFileOfBotsThatIsNoneStopsNoOtherTenantsWebhooks) {
  const GitHub github;
  const std::string bots = github.Bots(R"({"name":"b","events":["*"],"ordering_scope":"entity"})");
  ASSERT_EQ(Api(*server_).Call("PUT", "/api/v1/bots", bots).status, 200);
  Execute("insert into " + Table("bot_files") + " values (1000, 'bad', '{', 0, '')");
  EXPECT_EQ(github.Post(Api(*server_), {}).status, 200);
  server_->Terminate();
  const auto again = Serve({"--set", "usage.interval=1s"});
  EXPECT_EQ(github.Post(Api(*again), {}).status, 200);
  EXPECT_EQ(Api(*again).Call("PUT", "/api/v1/bots", bots).status, 200);
}

TEST_P(OddRows, ATaskWithoutAnIntervalIsFinished) {
  const Api api(*server_);
  const std::string task = "/api/v1/tasks/" + NewUuid();
  const Json lock = api.Call("POST", task + "/claim",
                             R"({"term":")" + NewUuid() +
                                 R"(","holder":"me","interval_ms":1000,"lock_timeout_ms":60000})")
                        .Json()["lock"];
  Execute("update " + Table("tasks") +
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
  Execute("alter table tenure.unsorted_messages drop constraint unsorted_messages_due_ms");
  const std::string twice = "('" + NewUuid() + "', 'bad', 'bad', 10, 1";
  Execute(insert + early + rest + ", " + twice + rest + ", " + twice + rest);
  const Topic topic{Api(*server_)};
  Execute("select tenure.enqueue('" + topic.name() + "', '1')");
  Eventually("the good one is sorted",
             [&] { return topic.Claim().Json()["messages"].Size() == 1; });
  EXPECT_EQ(Execute("select count(*) from tenure.unsorted_messages"), "0");
}

}  // namespace
}  // namespace tenure::api
