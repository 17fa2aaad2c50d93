#include "stepped/kept_connections.hpp"

#include <utility>

#include "db/postgres/connection.hpp"

namespace tenure::stepped {

class KeptConnections::LentConnection final : public db::Connection {
 public:
  LentConnection(KeptConnections& owner, db::Access access, std::unique_ptr<db::Connection> own)
      : owner_(owner), access_(access), own_(std::move(own)) {}
  ~LentConnection() override {
    own_->SetHook(nullptr);
    if (rests_ && own_->IsOpen()) owner_.idle_[access_].push_back(std::move(own_));
  }
  db::Connection& own() { return *own_; }

  void Open() override {
    if (!own_->IsOpen()) own_->Open();
    rests_ = true;
  }
  bool IsOpen() const override { return own_->IsOpen(); }
  void Close() noexcept override { own_->Close(); }
  void CheckPeer() noexcept override { own_->CheckPeer(); }

  void Begin(db::Access access) override {
    rests_ = false;
    own_->SetHook(hook_);
    own_->Begin(access);
  }
  std::size_t Send(const db::Query& query, std::span<const db::Param> params) override {
    return own_->Send(query, params);
  }
  std::size_t SendClock() override { return own_->SendClock(); }
  db::Rows Receive(std::size_t statement) override { return own_->Receive(statement); }
  std::int64_t ReceiveClock(std::size_t statement) override {
    return own_->ReceiveClock(statement);
  }
  void Commit() override {
    own_->Commit();
    rests_ = true;
  }
  void Rollback() noexcept override {
    own_->Rollback();
    rests_ = true;
  }

 private:
  KeptConnections& owner_;
  const db::Access access_;
  std::unique_ptr<db::Connection> own_;
  bool rests_ = false;  // between two transactions
};

class KeptConnections::Loan final : public db::Engine {
 public:
  explicit Loan(KeptConnections& owner) : owner_(owner) {}

  std::string_view name() const override { return owner_.engine_->name(); }
  std::string place() const override { return owner_.engine_->place(); }
  int max_write_lanes() const override { return owner_.engine_->max_write_lanes(); }
  std::unique_ptr<db::Connection> NewConnection(db::Access access) override {
    auto& idle = owner_.idle_[access];
    std::unique_ptr<db::Connection> own;
    if (idle.empty()) {
      own = owner_.engine_->NewConnection(access);
    } else {
      own = std::move(idle.back());
      idle.pop_back();
    }
    return std::make_unique<LentConnection>(owner_, access, std::move(own));
  }
  std::unique_ptr<db::Maintenance> BeginMaintenance() override {
    return owner_.engine_->BeginMaintenance();
  }
  std::unique_ptr<db::Feed> NewFeed(db::FeedEvents events) override {
    return owner_.engine_->NewFeed(std::move(events));
  }
  std::string_view TextOf(const db::Query& query) const override {
    return owner_.engine_->TextOf(query);
  }
  void CheckIdentity() override { owner_.engine_->CheckIdentity(); }
  bool SurvivesFailover() const override { return owner_.engine_->SurvivesFailover(); }
  std::int64_t incarnation() const override { return owner_.engine_->incarnation(); }

 private:
  KeptConnections& owner_;
};

KeptConnections::KeptConnections(std::unique_ptr<db::Engine> engine) : engine_(std::move(engine)) {}
KeptConnections::~KeptConnections() = default;

std::unique_ptr<db::Engine> KeptConnections::Lend() { return std::make_unique<Loan>(*this); }

int BackendPidOf(db::Connection& lent) {
  auto& own = dynamic_cast<KeptConnections::LentConnection&>(lent).own();
  return dynamic_cast<db::postgres::PostgresConnection&>(own).backend_pid();
}

}  // namespace tenure::stepped
