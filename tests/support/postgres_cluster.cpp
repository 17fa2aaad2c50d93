#include "support/postgres_cluster.hpp"

#include <cstdlib>
#include <memory>
#include <stdexcept>

#include <libpq-fe.h>

namespace tenure::support {
namespace {

constexpr const char* kReady = "database system is ready to accept connections";

/// Where Debian has the server's programs; the variable is for other systems.
std::filesystem::path Program(std::string_view name) {
  const char* configured = std::getenv("TENURE_POSTGRES_BIN");
  return std::filesystem::path(configured != nullptr ? configured : "/usr/lib/postgresql/15/bin") /
         name;
}

/// English messages: we wait for one of them.
const std::vector<std::pair<std::string, std::string>> kEnvironment = {{"LC_ALL", "C.UTF-8"}};

}  // namespace

SqlSession::SqlSession(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()));
}

std::string SqlSession::Execute(const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), sql.c_str()),
                                                             &PQclear);
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(connection_.get()) + ("in: " + sql));
  if (PQntuples(result.get()) == 0 || PQnfields(result.get()) == 0) return {};
  return PQgetvalue(result.get(), 0, 0);
}

std::string SqlSession::RefusalOf(const std::string& sql) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), sql.c_str()),
                                                             &PQclear);
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

PostgresCluster::PostgresCluster(PostgresOptions options)
    : options_(std::move(options)),
      dir_(options_.durable ? Storage::kDisk : Storage::kMemory),
      data_(dir_ / "data"),
      user_(UnprivilegedUser()) {
  if (user_) dir_.GiveTo(user_->uid, user_->gid);
  InitialiseData();
  Start();
}

PostgresCluster::~PostgresCluster() {
  // The data goes away with us, so nothing needs to be written. SIGQUIT, unlike SIGKILL, lets the
  // postmaster end its children and free its shared memory.
  try {
    if (IsRunning()) Stop(StopMode::kImmediate);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the Process kills it for good
  }
}

void PostgresCluster::InitialiseData() {
  RunCommand({.argv = {Program("initdb"), "-D", data_, "-U", "postgres", "--locale=C.UTF-8", "-E",
                       "UTF8", "--auth=trust", "--no-sync", "--no-instructions"},
              .environment = kEnvironment,
              .working_dir = dir_.path(),
              .user = user_});
}

std::string PostgresCluster::Url(std::string_view database) const {
  return "postgresql://postgres@127.0.0.1:" + std::to_string(port()) + "/" + std::string(database);
}

std::string PostgresCluster::CreateDatabase(std::string_view like) {
  const auto name = "test_" + std::to_string(++databases_);
  // Copying the template's files is quicker than logging its pages as long as nothing is synced.
  Execute("postgres", "CREATE DATABASE " + name + " TEMPLATE " + std::string(like) +
                          (options_.durable ? "" : " STRATEGY file_copy"));
  return name;
}

void PostgresCluster::DropDatabase(std::string_view database) {
  Execute("postgres", "DROP DATABASE " + std::string(database) + " WITH (FORCE)");
}

std::string PostgresCluster::Execute(std::string_view database, const std::string& sql) const {
  return SqlSession(Url(database)).Execute(sql);
}

void PostgresCluster::Start() {
  std::vector<std::string> argv = {Program("postgres"), "-D", data_};
  const auto set = [&argv](const std::string& setting) {
    argv.insert(argv.end(), {"-c", setting});
  };
  set("port=" + std::to_string(port()));
  set("listen_addresses=127.0.0.1");
  set("unix_socket_directories=" + dir_.path().string());
  set("max_connections=200");
  set("jit=off");
  set("logging_collector=off");
  set("log_line_prefix=%m [%p] ");
  if (!options_.durable) {
    set("fsync=off");
    set("full_page_writes=off");
  }
  for (const auto& setting : options_.settings) set(setting);

  server_ = std::make_unique<Process>(ProcessOptions{.argv = std::move(argv),
                                                     .environment = kEnvironment,
                                                     .working_dir = dir_.path(),
                                                     .user = user_,
                                                     .output = dir_ / "postgres.log",
                                                     .parent_death_signal = SIGQUIT});
  server_->WaitForLine(kReady);
}

void PostgresCluster::Stop(StopMode mode) {
  server_->Kill(mode == StopMode::kFast ? SIGINT : SIGQUIT);
  server_->Wait();
}

void PostgresCluster::Restart(StopMode mode) {
  Stop(mode);
  Start();
}

int PostgresCluster::KillAllBackends() {
  return std::stoi(Execute("postgres",
                           "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity "
                           "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"));
}

bool PostgresCluster::IsRunning() { return server_ != nullptr && server_->IsRunning(); }

PostgresCluster& SharedPostgres() {
  static PostgresCluster cluster;
  return cluster;
}

}  // namespace tenure::support
