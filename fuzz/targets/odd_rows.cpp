// Rows as no program of ours writes them, in any table of a server that runs in this process, and then every route that
// reads it: whatever stands in a store is input.
//
// An input is lines: `table.column=value` changes every row of that table. A value is `null`, `i:` with an integer,
// `x:` with the digits of bytes, or `t:` with a text. A name that no table has stands for one that there is, so that
// changed inputs still say something.
//
// Demanded: the server lives and goes on, and each answer is JSON.

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "app/service.hpp"
#include "base/error.hpp"
#include "base/json_view.hpp"
#include "base/log.hpp"
#include "http/client.hpp"
#include "support/odd_families.hpp"
#include "target.hpp"

namespace {

using namespace tenure;
using http::Method;

constexpr std::size_t kMostLines = 8;
constexpr const char* kId = "00000000-0000-4000-8000-000000000001";

/// The store's file, past the program.
class File {
 public:
  explicit File(const std::string& path) {
    TENURE_CHECK(sqlite3_open_v2(path.c_str(), &raw_, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK,
                 path);
    sqlite3_busy_timeout(raw_, 10'000);
  }
  ~File() { sqlite3_close(raw_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// False when a constraint refuses it.
  bool Try(const std::string& sql) {
    if (sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return true;
    sqlite3_exec(raw_, "rollback", nullptr, nullptr, nullptr);
    return false;
  }
  void Run(const std::string& sql) {
    // Whoever works in the background may have made the same row again meanwhile.
    for (int tries = 0; tries < 100; ++tries) {
      if (Try(sql)) return;
      usleep(10'000);
    }
    base::Panic(sqlite3_errmsg(raw_) + (" in: " + sql), __FILE__, __LINE__);
  }
  std::vector<std::vector<std::string>> Ask(const std::string& sql) {
    std::vector<std::vector<std::string>> rows;
    const auto keep = [](void* out, int columns, char** values, char**) {
      auto& row = static_cast<std::vector<std::vector<std::string>>*>(out)->emplace_back();
      for (int i = 0; i < columns; ++i) row.emplace_back(values[i] ? values[i] : "");
      return 0;
    };
    TENURE_CHECK(sqlite3_exec(raw_, sql.c_str(), keep, &rows, nullptr) == SQLITE_OK,
                 sqlite3_errmsg(raw_) + (" in: " + sql));
    return rows;
  }

 private:
  sqlite3* raw_ = nullptr;
};

struct Column {
  std::string table, name, type;
};

/// A server with something in every table.
class World {
 public:
  World() {
    base::SetLogSink([](auto&&...) {});
    TENURE_CHECK(mkdtemp(folder_.data()) != nullptr, "no folder");
    const std::string keys = folder_ + "/keys";
    std::ofstream(keys) << "k:a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=\n";
    std::filesystem::permissions(keys, std::filesystem::perms::owner_read);
    config::Settings settings;
    settings.listen.port = 0;
    settings.data = folder_ + "/data";
    settings.usage.interval_ms = 1'000;
    settings.sessions.expiry_interval_ms = 100;
    settings.messages.poll_max_ms = 50;
    settings.push.allow = {*base::AllowedHost::Parse("private 127.0.0.1")};
    settings.secrets.key_file = keys;
    service_ = std::make_unique<app::Service>(settings, "fuzz");
    service_->Start();
    client_.emplace(http::ClientOptions{.base_url = service_->Url()});
    file_.emplace(settings.data + "/tenure.db");
    Fill();
    Keep();
  }
  ~World() {
    service_->Stop();
    file_.reset();
    std::filesystem::remove_all(folder_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Feed(std::string_view input) {
    std::set<const support::OddFamily*> changed;
    for (std::size_t lines = 0; lines < kMostLines && !input.empty(); ++lines) {
      const std::string_view line = input.substr(0, input.find('\n'));
      input.remove_prefix(std::min(line.size() + 1, input.size()));
      const std::size_t equals = std::min(line.find('='), line.size());
      const Column& column = ColumnOf(line.substr(0, equals));
      const std::string value = ValueOf(line.substr(std::min(equals + 1, line.size())));
      if (file_->Try("update " + column.table + " set " + column.name + " = " + value))
        changed.insert(&support::FamilyOf(column.table));
    }
    if (changed.empty()) return;
    for (const http::Route& route : service_->router().routes()) AskIfRead(route, changed);
    TENURE_CHECK(client_->Send(Method::kGet, "/livez").status == 200, "the server does not live");
    for (const auto& [table, family] : families_)
      if (changed.contains(family))
        file_->Run("begin; delete from " + table + "; insert into " + table +
                   " select * from odd_" + table + "; commit");
  }

 private:
  std::string Call(Method method, const std::string& target, const std::string& body = "",
                   const http::Client::Headers& headers = {}) {
    std::optional<std::string> json;
    if (method != Method::kGet && method != Method::kHead) json = body.empty() ? "{}" : body;
    const http::ClientResponse answer = client_->Send(method, target, json, headers);
    const auto type = answer.FindHeader("Content-Type").value_or("");
    // A payload is given back as it came; a page is none of these answers.
    const bool is_json =
        type.find("json") != std::string_view::npos && !target.ends_with("/payload");
    TENURE_CHECK(!is_json || answer.body.empty() || base::JsonView::Parse(answer.body),
                 target + " answers " + answer.body);
    return answer.body;
  }
  /// What stands first behind `"name":` in an answer.
  static std::string Of(const std::string& body, const std::string& name) {
    const std::size_t at = body.find("\"" + name + "\":");
    if (at == std::string::npos) return "0";
    std::size_t begin = at + name.size() + 3;
    if (body[begin] == '"') ++begin;
    return body.substr(begin, body.find_first_of("\",}]", begin) - begin);
  }

  void Fill() {
    const std::string id = kId;
    const std::string session = Call(Method::kPut, "/sessions",
                                     R"({"userObjectId":")" + id + R"(","tenantObjectId":")" + id +
                                         R"(","capacityId":")" + id + R"(","sessionKind":1})");
    ids_["/sessions"] = ids_["/api/v1/why/session"] = Of(session, "sessionId");
    const std::string lease = R"({"term":")" + id + R"(","ttl_ms":600000,"holder":"me"})";
    Call(Method::kPost, "/api/v1/leases/n/acquire", lease);
    Call(Method::kPost, "/api/v1/leases/m/acquire", lease);
    Call(Method::kPost, "/api/v1/leases/m/break", R"({"reason":"a test"})");
    Call(Method::kPost, "/api/v1/tasks/n/claim",
         R"({"term":")" + id + R"(","holder":"me","interval_ms":1000,"lock_timeout_ms":600000})");
    Call(Method::kPost, "/api/v1/inbox/begin", R"({"source":"n","message_id":"n"})");
    FillMessages();
    Call(Method::kPut, "/api/v1/jobs/n", R"({"topic":"jobs","cron":"* * * * *"})");
    Call(Method::kPost, "/api/v1/jobs/n/trigger");
    Call(Method::kPut, "/api/v1/subscriptions/n",
         R"({"topic":"pushed","url":"https://127.0.0.1:1/hook"})");
    FillSeats();
    FillQueues();
  }
  void FillMessages() {
    const std::string messages = "/api/v1/messages";
    const std::string message =
        R"({"topic":"n","payload":{"n":1},"headers":{"a":"b"},"dedup_key":)";
    const std::string claim = R"({"topics":["n"],"owner":"me"})";
    const auto report = [&](const char* how) {
      const std::string held = Call(Method::kPost, messages + "/claim", claim);
      Call(Method::kPost, messages + how,
           R"({"claims":[{"id":")" + Of(held, "id") + R"(","fence":)" + Of(held, "fence") + "}]}");
    };
    Call(Method::kPatch, "/api/v1/topics/n", R"({"retention_ms":600000})");
    for (const char* key : {"\"a\"}", "\"b\"}"}) {
      Call(Method::kPost, messages, message + key);
      report(key[1] == 'a' ? "/ack" : "/fail");
    }
    const std::string last =
        Call(Method::kPost, messages, message + "\"c\"}", {{"Idempotency-Key", "k"}});
    Call(Method::kPost, messages + "/claim", claim);
    const std::string timer =
        Call(Method::kPost, "/api/v1/timers", R"({"topic":"n","payload":1,"delay_ms":600000})");
    ids_[messages] = ids_["/api/v1/why/message"] = Of(last, "id");
    ids_["/api/v1/timers"] = Of(timer, "id");
    const auto dead = file_->Ask("select lower(hex(id)) from dead_letters limit 1");
    if (!dead.empty()) ids_["/api/v1/dead-letters"] = Dashed(dead[0][0]);
  }
  void FillSeats() {
    const std::string licenses = "/api/v1/licenses";
    Call(Method::kPost, "/api/v1/organizations",
         R"({"id":")" + std::string(kId) + R"(","name":"A"})");
    ids_["/api/v1/organizations"] = kId;
    const std::string license = Call(Method::kPost, licenses, R"({"seats":1})");
    const auto ask = [&](const std::string& machine) {
      return Call(Method::kPost, licenses + "/acquire",
                  R"({"license_key":")" + Of(license, "license_key") + R"(","machine_id":")" +
                      machine + R"(","wait_seconds":1})");
    };
    ids_[licenses] = ids_["/api/v1/why/license"] = Of(license, "id");
    ids_[licenses + "/sessions"] = ids_["/api/v1/why/seat"] = Of(ask("a"), "session_id");
    tickets_ = Of(ask("b"), "ticket");
  }
  void FillQueues() {
    Call(Method::kPut, "/api/v1/bots",
         R"({"sources":[],"bots":[{"name":"n","events":[],"ordering_scope":"custom"}]})");
    const std::string queue = "/api/v1/queues/n";
    std::string sent;
    int number = 0;
    for (const char* key : {"a", "a", "b", "b"})
      sent = Call(Method::kPost, queue + "/messages",
                  R"({"session_key":")" + std::string(key) +
                      R"(","payload":{"n":1},"dedup_key":")" + std::to_string(++number) + "\"}");
    ids_["/api/v1/queues"] = ids_["/api/v1/why/queue-session"] = Of(sent, "session");
    const std::string held = Call(Method::kPost, queue + "/accept", R"({"consumer":"me"})");
    const std::string its =
        R"({"session":")" + Of(held, "session") + R"(","fence":)" + Of(held, "fence");
    Call(Method::kPost, queue + "/dead-letter",
         R"({"sessions":[)" + its + R"(,"sequence":1,"error":"no"}]})");
    Call(Method::kPost, queue + "/accept", R"({"consumer":"me"})");
  }

  /// How every table is; one that nothing is in gets a plain row.
  void Keep() {
    for (const auto& row : file_->Ask(
             "select m.name, p.name, p.type from sqlite_master m, pragma_table_info(m.name) p "
             "where m.type = 'table' and m.name not in ('migrations', 'settings') "
             "and m.name not like 'sqlite%' order by 1, p.cid"))
      columns_.push_back({row[0], row[1], row[2]});
    for (const auto& row : file_->Ask("select name from sqlite_master where type = 'trigger'"))
      file_->Run("drop trigger " + row[0]);
    for (const Column& column : columns_) {
      if (!families_.emplace(column.table, &support::FamilyOf(column.table)).second) continue;
      const std::string table = column.table;
      if (file_->Ask("select 1 from " + table + " limit 1").empty()) {
        std::string values;
        for (const Column& each : columns_)
          if (each.table == table)
            values +=
                std::string(values.empty() ? "" : ", ") + (each.type == "TEXT"   ? "'x'"
                                                           : each.type == "BLOB" ? "zeroblob(16)"
                                                                                 : "1");
        file_->Run("begin; insert into " + table + " values (" + values + "); create table odd_" +
                   table + " as select * from " + table + "; commit");
        continue;
      }
      file_->Run("create table odd_" + table + " as select * from " + table);
    }
  }

  const Column& ColumnOf(std::string_view name) const {
    for (const Column& column : columns_)
      if (name == column.table + "." + column.name) return column;
    return columns_[std::hash<std::string_view>()(name) % columns_.size()];
  }
  /// As SQL has it.
  static std::string ValueOf(std::string_view text) {
    const std::string_view rest = text.substr(std::min<std::size_t>(2, text.size()));
    if (text.starts_with("i:")) {
      const std::string digits(rest.substr(0, 30));
      return std::to_string(std::strtoll(digits.c_str(), nullptr, 10));
    }
    if (!text.starts_with("t:") && !text.starts_with("x:")) return "null";
    std::string hex;
    for (const char c : rest) {
      if (text[0] == 't') {
        constexpr std::string_view kDigits = "0123456789abcdef";
        hex += kDigits[static_cast<unsigned char>(c) >> 4];
        hex += kDigits[static_cast<unsigned char>(c) & 15];
      } else if (std::isxdigit(static_cast<unsigned char>(c)) != 0) {
        hex += c;
      }
    }
    if (hex.size() % 2 != 0) hex.pop_back();
    return text[0] == 't' ? "cast(x'" + hex + "' as text)" : "x'" + hex + "'";
  }
  static std::string Dashed(std::string hex) {
    for (const std::size_t at : {8U, 13U, 18U, 23U}) hex.insert(at, "-");
    return hex;
  }

  void AskIfRead(const http::Route& route, const std::set<const support::OddFamily*>& changed) {
    if (route.page) return;
    bool read = false;
    for (const support::OddFamily* family : changed) read |= family->Reads(route.pattern);
    if (!read) return;
    std::string target, body;
    std::string_view rest = route.pattern;
    while (!rest.empty()) {
      const std::size_t slash = rest.find('/', 1);
      const std::string_view segment = rest.substr(0, slash);
      target += segment.find('{') == std::string_view::npos ? std::string(segment)
                                                            : "/" + Named(segment, target);
      rest.remove_prefix(segment.size());
    }
    if (target == "/api/v1/search") target += "?q=n";
    Call(route.method, target, BodyOf(target));
  }
  std::string Named(std::string_view segment, const std::string& before) const {
    if (segment == "/{window}") return "1";
    if (segment == "/{ticket}") return tickets_;
    if (before.ends_with("/why/inbox")) return "n%2Fn";
    if (segment != "/{id}") return "n";
    // The longest beginning of the path that something is known of.
    for (std::string path = before; !path.empty(); path.resize(path.rfind('/')))
      if (const auto found = ids_.find(path); found != ids_.end()) return found->second;
    return kId;
  }
  /// Of what takes from a table; the others are asked with nothing.
  static std::string BodyOf(const std::string& target) {
    if (target == "/api/v1/messages/claim") return R"({"topics":["n"],"owner":"me","max":3})";
    if (target == "/api/v1/messages") return R"({"topic":"n","payload":1,"dedup_key":"a"})";
    if (target == "/api/v1/inbox/begin") return R"({"source":"n","message_id":"n"})";
    if (target == "/api/v1/queues/n/accept") return R"({"consumer":"me"})";
    if (target == "/api/v1/queues/n/messages") return R"({"session_key":"a","payload":1})";
    if (target.ends_with("/acquire") && target.find("leases") != std::string::npos)
      return R"({"term":")" + std::string(kId) + R"(","ttl_ms":600000,"holder":"me"})";
    if (target.ends_with("/claim"))
      return R"({"term":")" + std::string(kId) +
             R"(","holder":"me","interval_ms":1000,"lock_timeout_ms":1000})";
    if (target == "/api/v1/jobs/n") return R"({"topic":"jobs","cron":"* * * * *"})";
    return "{}";
  }

  std::string folder_ = "/dev/shm/tenure-odd-rows-XXXXXX";
  std::unique_ptr<app::Service> service_;
  std::optional<http::Client> client_;
  std::optional<File> file_;
  std::map<std::string, std::string> ids_;  // of things, by the path above them
  std::string tickets_;
  std::vector<Column> columns_;
  std::map<std::string, const support::OddFamily*> families_;  // of tables
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World* const world = [] {
    static std::unique_ptr<World> kept;
    kept = std::make_unique<World>();
    std::atexit([] { kept.reset(); });  // before what it stands on
    return kept.get();
  }();
  world->Feed(fuzz::AsText(data, size));
  return 0;
}
