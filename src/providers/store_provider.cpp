#include "providers/store_provider.hpp"

#include <unistd.h>

#include <functional>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/uuid.hpp"
#include "db/feed.hpp"
#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "db/store.hpp"
#include "db_sql/queries.hpp"
#include "leases_sql/queries.hpp"
#include "providers/store_session.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::providers {
namespace {

std::span<const db::Query* const> Queries() {
  static const std::vector<const db::Query*> all = [] {
    std::vector<const db::Query*> queries;
    for (const auto module : {db::sql::All(), leases::sql::All(), tasks::sql::All()})
      queries.insert(queries.end(), module.begin(), module.end());
    return queries;
  }();
  return all;
}

/// "host:pid:random", with a new random part for each provider: tickets and notifications are told
/// apart by it.
std::string ProcessName() {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}:{}:{}", host, getpid(), base::RandomHex(4));
}

/// What the sessions of a provider share: the news of other processes, and who waits.
class Hub {
 public:
  using NewEngine = std::function<std::unique_ptr<db::Engine>(telemetry::Registry&)>;

  explicit Hub(NewEngine new_engine)
      : new_engine_(std::move(new_engine)), feed_engine_(new_engine_(metrics_)) {
    db::Migrate(*feed_engine_);
    feed_engine_->CheckIdentity();
    wake_.Start();
    feed_ = feed_engine_->NewFeed(
        {.on_payload = [this](std::string_view payload) { wake_.SignalAll(payload); },
         .on_gap = [this] { wake_.SignalAll(leases::kRecheckKey); }});
    if (feed_) feed_->Start();
  }
  ~Hub() {
    if (feed_) feed_->Stop();
    wake_.Stop();
  }
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  std::unique_ptr<db::Engine> Engine() { return new_engine_(metrics_); }
  wake::Registry& wake() { return wake_; }
  telemetry::Registry& metrics() { return metrics_; }
  const std::string& process() const { return process_; }

  /// News are polled for, where they must be, only while somebody waits.
  void Waiting(bool begins) {
    if (!feed_) return;
    const std::lock_guard lock(mutex_);
    waiting_ += begins ? 1 : -1;
    if (waiting_ == (begins ? 1 : 0)) feed_->SetInterested(begins);
  }

 private:
  const std::string process_ = ProcessName();
  telemetry::Registry metrics_;
  wake::Registry wake_{base::SystemClock()};
  const NewEngine new_engine_;
  const std::unique_ptr<db::Engine> feed_engine_;
  std::unique_ptr<db::Feed> feed_;
  std::mutex mutex_;
  int waiting_ = 0;  // guarded by mutex_
};

/// A session's own lanes: a thread and a connection for changes, and another pair for looks. They
/// connect with their first call, so renewals never share a connection with anything else.
class OwnStack final : public Stack {
 public:
  explicit OwnStack(std::shared_ptr<Hub> hub)
      : hub_(std::move(hub)),
        store_(hub_->Engine(), Lanes(), base::SystemClock(), hub_->metrics()),
        leases_(store_, hub_->wake(), hub_->process(), base::SystemClock(), hub_->metrics()),
        tasks_(store_, hub_->wake(), hub_->process(), base::SystemClock(), hub_->metrics()) {
    store_.Start();
  }
  ~OwnStack() override {
    leases_.StopWaiting();
    store_.Stop();
  }

  leases::Leases& leases() override { return leases_; }
  tasks::Tasks& tasks() override { return tasks_; }
  void Waiting(bool begins) override { hub_->Waiting(begins); }

 private:
  static db::StoreOptions Lanes() {
    db::StoreOptions options;
    options.write_lanes = 1;
    return options;
  }

  const std::shared_ptr<Hub> hub_;
  db::Store store_;
  leases::Leases leases_;
  tasks::Tasks tasks_;
};

class StoreProvider final : public leases::Provider {
 public:
  StoreProvider(std::string name, leases::Guarantees guarantees, Hub::NewEngine new_engine)
      : name_(std::move(name)),
        guarantees_(guarantees),
        hub_(std::make_shared<Hub>(std::move(new_engine))) {}

  std::string_view name() const override { return name_; }
  leases::Guarantees guarantees() const override { return guarantees_; }
  std::unique_ptr<leases::Session> Connect() override {
    return MakeStoreSession(std::make_shared<OwnStack>(hub_), "default");
  }

 private:
  const std::string name_;
  const leases::Guarantees guarantees_;
  const std::shared_ptr<Hub> hub_;
};

std::unique_ptr<leases::Provider> Open(std::string name, leases::Guarantees guarantees,
                                       Hub::NewEngine new_engine) {
  try {
    return std::make_unique<StoreProvider>(std::move(name), guarantees, std::move(new_engine));
  } catch (const base::Fault& fault) {
    throw leases::ProviderUnavailable(fault.what(), {});
  } catch (const base::UserError& error) {
    throw leases::ProviderUnavailable(error.what(), {});
  }
}

constexpr leases::Guarantees kAll{.durable_fence = true,
                                  .store_time = true,
                                  .fifo = true,
                                  .push = true,
                                  .enforced_fence = true,
                                  .tasks = true,
                                  .crosses_hosts = true};

}  // namespace

std::unique_ptr<leases::Provider> OpenPostgres(const std::string& url) {
  return Open("postgres", kAll, [url](telemetry::Registry& metrics) {
    db::postgres::ConnectionOptions options;
    options.url = url;
    options.queries = Queries();
    return db::postgres::MakeEngine(std::move(options), "", metrics);
  });
}

std::unique_ptr<leases::Provider> OpenSqlite(const std::filesystem::path& path) {
  leases::Guarantees guarantees = kAll;
  guarantees.crosses_hosts = false;
  return Open("sqlite", guarantees, [path](telemetry::Registry& metrics) {
    return db::sqlite::MakeSharedEngine(path, base::SystemClock(), metrics, &leases::sql::kEndAll);
  });
}

}  // namespace tenure::providers
