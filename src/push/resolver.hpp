#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "push/target.hpp"

namespace tenure::push {

/// What a look-up found.
struct Resolved {
  std::vector<HostAddress> addresses{};
  std::string error{};  ///< not empty: why there are none
};

/// All addresses of a host, by the system's resolver. Blocks for as long as that takes.
Resolved LookUp(const std::string& host);
/// The addresses of this machine's own interfaces.
std::vector<HostAddress> OwnAddresses();

/// Looks names up beside whoever asks, so that a name server which does not answer delays only those
/// who ask for its names: a host has one look-up at a time, on a thread of its own, and everybody who
/// asks for that host meanwhile shares it.
///
/// What was found is used for `kKeptMs`: whoever asks connects to an address of the very list that
/// was judged, so an answer that changes in between changes nothing.
///
/// Life: construct, Stop. A look-up that is under way when it stops ends by itself and tells nobody.
///
/// Threads: any. `done` runs exactly once, on a thread of this class or before `Find` returns; it must
/// be short.
class Resolver {
 public:
  using LookUpFunction = std::function<Resolved(const std::string& host)>;
  using Done = base::UniqueFunction<Resolved>;

  static constexpr std::size_t kMostThreads = 64;
  static constexpr std::int64_t kKeptMs = 5'000;

  explicit Resolver(LookUpFunction look_up = LookUp,
                    const base::Clock& clock = base::SystemClock());
  ~Resolver() { Stop(); }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Answered with an error when it takes longer than `timeout_ms`.
  void Find(const std::string& host, std::int64_t timeout_ms, Done done);
  void Stop();

 private:
  struct State;
  static void Serve(const std::shared_ptr<State>& state, std::string host);
  static void Expire(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace tenure::push
