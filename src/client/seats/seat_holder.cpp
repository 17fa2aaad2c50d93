#include "tenure/seats/seat_holder.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/operator_url.hpp"
#include "client/checks.hpp"
#include "client/seats/fork_guard.hpp"
#include "client/seats/machine_id.hpp"
#include "client/seats/seat_core.hpp"

namespace tenure::seats {
namespace {

const std::string kNoMachine;

SeatOptions Completed(SeatOptions options) {
  if (options.user_agent.empty())
    options.user_agent = fmt::format("{} tenure/{}", options.application, TENURE_VERSION);
  client::CheckSeatOptions(options);
  return options;
}

client::ServerAddress ServerOf(const SeatOptions& options) {
  client::Address address = client::ParseAddress(options.server, "seats");
  auto* const server = std::get_if<client::ServerAddress>(&address);
  if (server == nullptr)
    throw std::invalid_argument("seats are given by a server: http(s)://[token@]host:port");
  if (!options.insecure && base::IsClearText(server->base_url))
    throw std::invalid_argument(
        fmt::format("the licence's key would be sent to {} in clear text: use https://, or set the "
                    "option `insecure`",
                    server->base_url));
  server->ca_file = options.ca_file;
  return std::move(*server);
}

std::shared_ptr<client::SeatServer> SharedServerOf(const SeatOptions& options) {
  return client::SharedSeatServer(ServerOf(options), {.clock = options.clock,
                                                      .call_timeout = options.call_timeout,
                                                      .on_trouble = options.on_trouble});
}

}  // namespace

std::string_view ToText(SeatState state) {
  switch (state) {
    case SeatState::kNone:
      return "none";
    case SeatState::kOk:
      return "ok";
    case SeatState::kAtRisk:
      return "at_risk";
    case SeatState::kLost:
      return "lost";
    case SeatState::kReleased:
      return "released";
  }
  return "lost";
}

std::string_view ToText(LossReason reason) {
  switch (reason) {
    case LossReason::kExpired:
      return "expired";
    case LossReason::kReleased:
      return "released";
    case LossReason::kResumedElsewhere:
      return "resumed_elsewhere";
    case LossReason::kRevoked:
      return "revoked";
    case LossReason::kLicenseSuspended:
      return "license_suspended";
    case LossReason::kLicenseRevoked:
      return "license_revoked";
    case LossReason::kLicenseExpired:
      return "license_expired";
    case LossReason::kUnknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view ToText(NoSeat::Reason reason) {
  switch (reason) {
    case NoSeat::Reason::kInUse:
      return "in_use";
    case NoSeat::Reason::kRevoked:
      return "revoked";
    case NoSeat::Reason::kFrozen:
      return "frozen";
    case NoSeat::Reason::kMachineHeld:
      return "machine_held";
    case NoSeat::Reason::kExpired:
      return "license_expired";
    case NoSeat::Reason::kNotFound:
      return "license_not_found";
    case NoSeat::Reason::kStopped:
      return "stopped";
    case NoSeat::Reason::kRefused:
      return "refused";
  }
  return "refused";
}

/// The server outlives the core: what a handler does with the core is over when the server is gone.
class SeatHolder::Impl {
 public:
  Impl(const SeatOptions& given, SeatEvents events, std::shared_ptr<client::SeatServer> shared)
      : server(std::move(shared)), generation(client::ForkGeneration()) {
    client::WatchForks();
    SeatOptions options = Completed(given);
    std::unique_ptr<client::StateFile> file;
    if (!options.state_file.empty()) file = std::make_unique<client::StateFile>(options.state_file);
    std::string machine =
        client::ChooseMachineId(options, file ? file->memory().machine_id : std::string());
    core = std::make_shared<client::SeatCore>(std::move(options), std::move(events), *server,
                                              std::move(file), std::move(machine));
  }

  bool is_ours() const noexcept { return generation == client::ForkGeneration(); }

  const std::shared_ptr<client::SeatServer> server;
  std::shared_ptr<client::SeatCore> core;
  const std::uint64_t generation;
};

SeatHolder::SeatHolder(const SeatOptions& options, SeatEvents events)
    : impl_(std::make_shared<Impl>(options, std::move(events), SharedServerOf(options))) {}

SeatHolder::SeatHolder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

SeatHolder::~SeatHolder() {
  if (impl_->is_ours()) {
    impl_->core->Shutdown();
    return;
  }
  // In a child: its threads are not here, and its locks may be held for ever. It stays where it is.
  static auto* const left_alone = std::make_unique<std::vector<std::shared_ptr<Impl>>>().release();
  left_alone->push_back(std::move(impl_));
}

AcquireOutcome SeatHolder::Acquire(const std::stop_token& stop) {
  if (!impl_->is_ours())
    throw SeatError("this holder was made before a fork; the child makes its own", false);
  return impl_->core->Acquire(stop);
}

bool SeatHolder::IsHeld() const noexcept { return impl_->is_ours() && impl_->core->IsHeld(); }

Milliseconds SeatHolder::Remaining() const noexcept {
  return impl_->is_ours() ? impl_->core->Remaining() : Milliseconds(0);
}

SeatState SeatHolder::state() const {
  return impl_->is_ours() ? impl_->core->state() : SeatState::kNone;
}

std::optional<Seat> SeatHolder::seat() const {
  return impl_->is_ours() ? impl_->core->seat() : std::nullopt;
}

std::optional<SeatLost> SeatHolder::loss() const {
  return impl_->is_ours() ? impl_->core->loss() : std::nullopt;
}

const std::string& SeatHolder::machine_id() const {
  return impl_->is_ours() ? impl_->core->machine_id() : kNoMachine;
}

std::stop_token SeatHolder::token() const {
  return impl_->is_ours() ? impl_->core->token() : std::stop_token();
}

Released SeatHolder::Close() { return impl_->is_ours() ? impl_->core->Close() : Released{}; }

}  // namespace tenure::seats

namespace tenure::client {

std::unique_ptr<seats::SeatHolder> MakeSeatHolder(const seats::SeatOptions& options,
                                                  seats::SeatEvents events,
                                                  std::shared_ptr<SeatServer> server) {
  return std::make_unique<seats::SeatHolder>(
      std::make_shared<seats::SeatHolder::Impl>(options, std::move(events), std::move(server)));
}

}  // namespace tenure::client
