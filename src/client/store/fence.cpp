#include "tenure/leases/fence.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "client/address.hpp"
#include "client/failure.hpp"
#include "db/migrations.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "db/transaction.hpp"
#include "leases/fence_check.hpp"
#include "leases_sql/queries.hpp"

namespace tenure::leases {

class FenceFile::Impl {
 public:
  explicit Impl(const std::filesystem::path& path)
      : engine_(db::sqlite::MakeSharedEngine(path, base::SystemClock(), metrics_, &sql::kEndAll)) {
    db::Migrate(*engine_);
    connection_ = engine_->NewConnection(db::Access::kWrite);
  }

  db::Connection& connection() {
    if (!connection_->IsOpen()) connection_->Open();
    return *connection_;
  }

 private:
  telemetry::Registry metrics_;
  const std::unique_ptr<db::Engine> engine_;
  std::unique_ptr<db::Connection> connection_;
};

namespace {

std::filesystem::path PathOf(std::string_view url) {
  const client::Address address = client::ParseAddress(url, "fences");
  if (const auto* file = std::get_if<client::SqliteAddress>(&address)) return file->path;
  throw std::invalid_argument("fences of a file are at sqlite:///path/to/file");
}

}  // namespace

FenceFile::FenceFile(std::string_view url)
    : impl_(client::LeaseCall({}, [&] { return std::make_unique<Impl>(PathOf(url)); })) {}

FenceFile::~FenceFile() = default;

void FenceFile::While(std::string_view name, std::int64_t fence,
                      const std::function<void()>& work) {
  const LeaseError::About about{std::string(name), fence, false};
  // A write transaction that is never committed: there is nothing to commit, and its lock ends with
  // it.
  const auto transaction = client::LeaseCall(about, [&] {
    return std::make_unique<db::Transaction>(impl_->connection(), db::Access::kWrite);
  });
  const base::Fence wanted{"default", std::string(name), fence};
  const bool live = client::LeaseCall(about, [&] {
    return bool(LeaseFenceCheck().Check(*transaction, {&wanted, 1}).front());
  });
  if (!live) throw LostError(fmt::format("fence {} of lease \"{}\" is stale", fence, name), about);
  work();
}

}  // namespace tenure::leases
