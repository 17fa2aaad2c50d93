// Installs the library, builds the examples and the programs of the pages against it as another
// project would, and runs them on real stores.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "docs/page.hpp"
#include "support/azure_stores.hpp"
#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::package {
namespace {

using support::Process;
using support::ProcessOptions;
using support::RunCommand;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The examples, built once for all tests.
class Examples : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RunCommand({.argv = {"cmake", "--install", Env("PACKAGE_BUILD_DIR"), "--prefix", Prefix(),
                         "--component", "library"}});
    Build(Env("TENURE_SOURCE_DIR") + "/examples", BuildDir());
  }

  /// Builds a CMake project that finds the installed library.
  static void Build(const std::string& project, const std::string& folder) {
    const std::string sanitize = Env("PACKAGE_SANITIZE");
    RunCommand({.argv = {"cmake", "-S", project, "-B", folder, "-G", "Ninja",
                         "-DCMAKE_PREFIX_PATH=" + Prefix(),
                         "-DCMAKE_CXX_COMPILER=" + Env("PACKAGE_COMPILER"),
                         "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
                         "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" +
                             (sanitize.empty() ? "" : " -fsanitize=" + sanitize)}},
               std::chrono::minutes(5));
    RunCommand({.argv = {"cmake", "--build", folder}}, std::chrono::minutes(5));
  }

  static const support::TempDir& Dir() {
    static const support::TempDir dir;
    return dir;
  }
  static std::string Prefix() { return (Dir().path() / "prefix").string(); }
  static std::string BuildDir() { return (Dir().path() / "build").string(); }
  static ProcessOptions Example(std::vector<std::string> argv) {
    argv.front() = BuildDir() + "/" + argv.front();
    return {.argv = std::move(argv)};
  }
  std::string SqliteUrl() const { return "sqlite://" + (own_.path() / "leases.db").string(); }
  static std::string PostgresUrl() {
    return support::SharedPostgres().Url(support::SharedPostgres().CreateDatabase());
  }

 private:
  support::TempDir own_;
};

TEST_F(Examples, LeadersTakeTurns) {
  for (const std::string& url : {SqliteUrl(), PostgresUrl()}) {
    Process first(Example({"leader", url, "2"}));
    Process second(Example({"leader", url, "2"}));
    EXPECT_EQ(first.Wait(), 0) << first.Output();
    EXPECT_EQ(second.Wait(), 0) << second.Output();
    first.WaitForLine("leading with fence");
    second.WaitForLine("leading with fence");
  }
}

TEST_F(Examples, PartitionsAreSharedOut) {
  const std::string output = RunCommand(Example({"partitioned_work", PostgresUrl(), "4"}));
  EXPECT_NE(output.find("done with 4 of 4"), std::string::npos) << output;
}

TEST_F(Examples, ASingletonServiceRunsOncePerGridTime) {
  const std::string url = SqliteUrl();
  Process first(Example({"singleton_service", url, "2"}));
  const std::string second = RunCommand(Example({"singleton_service", url, "2"}));
  EXPECT_EQ(first.Wait(), 0);
  // The nominal times of all runs are different.
  std::multiset<std::string> nominals;
  for (const std::string& output : {first.Output(), second}) {
    for (std::size_t at = 0; (at = output.find("runs for ", at)) != std::string::npos; ++at)
      nominals.insert(output.substr(at + 9, output.find(' ', at + 9) - at - 9));
  }
  EXPECT_GE(nominals.size(), 4u);
  EXPECT_EQ(nominals.size(), std::set<std::string>(nominals.begin(), nominals.end()).size());
}

TEST_F(Examples, EachOrderIsInvoicedOnce) {
  const std::string database = support::SharedPostgres().CreateDatabase();
  const std::string url = support::SharedPostgres().Url(database);
  // As docs/messages.md made it, in the same database.
  support::SharedPostgres().Execute(database,
                                    "create table orders (id int primary key, amount int)");
  RunCommand(Example({"outbox_worker", url, "order", "20"}));
  Process worker(Example({"outbox_worker", url, "invoice", "50"}));
  RunCommand(Example({"outbox_worker", url, "order", "30"}));
  EXPECT_EQ(worker.Wait(), 0) << worker.Output();
  EXPECT_EQ(
      support::SharedPostgres().Execute(
          database, "select count(*) || ' ' || count(distinct message) from example_invoices"),
      "50 50");
}

/// A server that gives seats.
class Licensor {
 public:
  std::string url() const { return server_.Url(); }
  /// The key of a new licence.
  std::string NewKey(int seats) const {
    const std::string body = "{\"seats\":" + std::to_string(seats) + "}";
    return server_.Call("POST", "/api/v1/licenses", body, {{"Content-Type", "application/json"}})
        .Json()["license_key"]
        .Text();
  }

 private:
  const support::ServerProcess server_;
};

TEST_F(Examples, OfThreeProgramsAndTwoSeatsOneStandsInLine) {
  const Licensor licensor;
  const std::string key = licensor.NewKey(2);
  const auto program = [&] {
    ProcessOptions options = Example({"licensed_app", licensor.url(), "100"});
    options.environment = {{"TENURE_LICENSE", key}};
    return options;
  };
  Process first(program());
  Process second(program());
  Process third(program());
  for (Process* each : {&first, &second, &third}) EXPECT_EQ(each->Wait(), 0) << each->Output();
}

TEST_F(Examples, ABotSeesTheMessagesOfEachSessionInTheirOrder) {
  const support::ServerProcess server{{}};
  const auto call = [&](const char* method, const std::string& path, const std::string& body) {
    return server.Call(method, path, body, {{"Content-Type", "application/json"}}).status;
  };
  ASSERT_EQ(call("PUT", "/api/v1/bots",
                 R"({"sources":[],"bots":[{"name":"b","events":[],"ordering_scope":"custom"}]})"),
            200);
  for (const char* key : {"k", "l", "k", "l", "k"})
    ASSERT_EQ(call("POST", "/api/v1/queues/b/messages",
                   std::string(R"({"session_key":")") + key + R"(","payload":1})"),
              201);
  std::string k, l;
  std::istringstream lines(RunCommand(Example({"ordered_bot", server.Url(), "b", "5"})));
  for (std::string line; std::getline(lines, line);) (line[0] == 'k' ? k : l) += line + "\n";
  EXPECT_EQ(k, "k 1, 1 seen\nk 2, 2 seen\nk 3, 3 seen\n");
  EXPECT_EQ(l, "l 1, 1 seen\nl 2, 2 seen\n");
}

/// A program of a page and where it stands.
struct PageProgram {
  std::string place;  ///< "leases.md:159"
  std::string name;   ///< of its file and target
  docs::Program program;
};

std::vector<PageProgram> ProgramsOfThePages() {
  std::vector<PageProgram> programs;
  for (const auto& path : docs::AllPages())
    for (docs::Program& program : docs::ParsePage(support::ReadFile(path)).programs) {
      const std::string line = std::to_string(program.line);
      programs.push_back({path.filename().string() + ":" + line, path.stem().string() + "_" + line,
                          std::move(program)});
    }
  return programs;
}

TEST_F(Examples, TheProgramsOfThePagesCompileAndPrintWhatTheySay) {
  const auto programs = ProgramsOfThePages();
  const Licensor licensor;
  const support::RedisServer redis;
  std::optional<support::Azurite> blobs;
  std::optional<support::CosmosServer> documents;
  if (support::HasAzureStoresAndTime()) {  // ./test installs them
    blobs.emplace();
    documents.emplace();
  }
  ASSERT_GE(programs.size(), 2u);
  const support::TempDir project;
  std::ofstream lists(project / "CMakeLists.txt");
  lists << "cmake_minimum_required(VERSION 3.25)\nproject(pages LANGUAGES CXX)\n"
           "set(CMAKE_CXX_STANDARD 20)\nfind_package(tenure REQUIRED)\n";
  for (const PageProgram& each : programs) {
    std::ofstream(project / (each.name + ".cpp")) << each.program.text;
    lists << "add_executable(" << each.name << " " << each.name << ".cpp)\n"
          << "target_link_libraries(" << each.name << " PRIVATE tenure::tenure)\n";
  }
  lists.close();
  const std::string built = (project / "build").string();
  Build(project.path().string(), built);
  for (const PageProgram& each : programs) {
    SCOPED_TRACE(each.place);
    if (each.name.starts_with("lease-stores-azure") && !blobs) continue;
    const auto output = docs::SplitLines(RunCommand(
        {.argv = {built + "/" + each.name},
         .environment = {
             {"DATABASE_URL", PostgresUrl()},
             {"REDIS_URL", redis.Url()},
             {"AZBLOB_URL", blobs ? blobs->Url("leases", "create=1") : ""},
             {"TENURE_AZURE_CONNECTION_STRING", blobs ? blobs->ConnectionString() : ""},
             {"COSMOS_URL", documents ? documents->Url("leases", "create=1") : ""},
             {"COSMOS_CONNECTION_STRING", documents ? documents->ConnectionString() : ""},
             {"TENURE_SERVER", licensor.url()},
             {"TENURE_LICENSE", licensor.NewKey(1)}}}));
    EXPECT_TRUE(docs::Matches(each.program.expected, output))
        << docs::Difference(each.program.expected, output);
  }
}

TEST_F(Examples, AStaleWriteOfAPausedLeaderBounces) {
  const std::string database = support::SharedPostgres().CreateDatabase();
  const std::string url = support::SharedPostgres().Url(database);
  Process paused(Example({"fenced_writer", url, "--stop-before-write"}));
  paused.WaitForLine("leads with fence 1$");
  // It is stopped, or about to be; its renewals end with it, and the next one takes over.
  Process next(Example({"fenced_writer", url}));
  next.WaitForLine("wrote with fence 2$");
  EXPECT_EQ(next.Wait(), 0);
  paused.Kill(SIGCONT);
  paused.WaitForLine("refused: fence 1 is stale \\(TN001\\)");
  EXPECT_EQ(paused.Wait(), 3);
  EXPECT_EQ(support::SharedPostgres().Execute(database,
                                              "select string_agg(fence::text, ',') from writes"),
            "2");
}

/// The program as `cmake --install` puts it.
TEST(InstalledProgram, HasItsManualAndItsCompletions) {
  const support::TempDir dir;
  const std::string prefix = (dir.path() / "prefix").string();
  RunCommand({.argv = {"cmake", "--install", Env("PACKAGE_BUILD_DIR"), "--prefix", prefix,
                       "--component", "program"}});
  EXPECT_EQ(RunCommand({.argv = {prefix + "/bin/tenure", "--version"}}).substr(0, 7), "tenure ");
  for (const char* file : {"bash-completion/completions/tenure", "zsh/vendor-completions/_tenure",
                           "fish/vendor_completions.d/tenure.fish", "man/man5/tenure.yaml.5"})
    EXPECT_TRUE(std::filesystem::exists(prefix + "/share/" + file)) << file;
  int pages = 0;
  for (const auto& page : std::filesystem::recursive_directory_iterator(prefix + "/share/man"))
    pages += page.is_regular_file() ? 1 : 0;
  EXPECT_GT(pages, 100) << "one for each command";
}

TEST(InstalledProgram, NothingIsWrongWithItsManualPages) {
  const support::TempDir dir;
  const std::string manual = (dir.path() / "manual").string();
  RunCommand({.argv = {support::TenureBinary(), "manual", "pages", manual}});
  // In one folder each page finds those that it refers to.
  EXPECT_EQ(RunCommand({.argv = {"sh", "-c", "cp man5/* man1; cd man1; mandoc -Tlint * || true"},
                        .working_dir = manual}),
            "");
}

}  // namespace
}  // namespace tenure::package
