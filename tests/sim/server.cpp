#include "sim/server.hpp"

#include "db/migrations.hpp"
#include "db/sqlite/engine.hpp"

namespace tenure::sim {

void WriteHandler::WriteItems(db::Transaction& /*tx*/, Items items) {
  for (auto* item : items) item->reply = WriteReply();
}

void Watch::Before(std::string_view step) {
  if (before) before(step);
}

void Watch::After(std::string_view step) {
  if (step == "begin") at = {real_.WallMs(), real_.BootMs()};
}

Server::Server(base::ManualClock& clock) : clock_(clock), watch_(clock) {
  // The engine has the file to itself while it lives.
  db::Migrate(*db::sqlite::MakeEngine(dir_.path(), watch_, metrics_));
  Open();
}

Server::~Server() {
  crashing_ = true;
  watch_.before = nullptr;
}

void Server::Open() {
  store_ = std::make_unique<db::Store>(db::sqlite::MakeEngine(dir_.path(), watch_, metrics_),
                                       db::StoreOptions{}, clock_, metrics_);
  store_->engine().CheckIdentity();
  store_->SetGuard(guard_);
  store_->Open();
  store_->WriteLane(0).connection().SetHook(&watch_);
  wake_ = std::make_unique<wake::Registry>(clock_);
  leases_ = std::make_unique<leases::Leases>(*store_, *wake_, "server", clock_, metrics_);
  tasks_ = std::make_unique<tasks::Tasks>(*store_, *wake_, "server", clock_, metrics_);
}

void Server::Drive() {
  do {
    for (bool any = true; any;) {
      any = false;
      for (db::Lane* lane : store_->AllLanes()) any |= lane->RunOnce();
    }
  } while (wake_->RunDue() > 0);
}

void Server::Crash() {
  crashing_ = true;
  tasks_.reset();
  leases_.reset();
  wake_.reset();
  store_.reset();
  crashing_ = false;
  Open();
}

void Server::Write(base::Fence fence, base::UniqueFunction<db::Result<WriteReply>> done) {
  base::Caller caller(nullptr, {std::move(fence)});
  store_->WriteLane(0).Submit(std::make_unique<WriteHandler::ItemType>(
      write_, std::move(caller), 0, WriteRequest(), std::move(done)));
}

}  // namespace tenure::sim
