#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "tenure/clock.hpp"

namespace tenure::seats {

using Milliseconds = std::chrono::milliseconds;

/// What a machine id that is not given stands for.
enum class MachineScope {
  kMachine,  ///< this machine, also after a restart
  kBoot,     ///< this machine until it boots again: for images that are copied while they run
  kProcess,  ///< this process alone: for containers and clones
};

/// How a seat is held. Only `server` and `license_key` must be given.
struct SeatOptions {
  std::string server{};       ///< "http(s)://[token@]host:port"
  std::string license_key{};  ///< is sent to the server and never written anywhere
  std::string ca_file{};      ///< whose certificates count, in PEM; empty: the system's
  bool insecure = false;      ///< http:// only: key and token may cross a network in clear text

  /// Your program's name: part of a derived machine id, so that two programs of one machine do not
  /// take a seat of one licence from each other; and of the user agent that operators see.
  std::string application = "application";
  /// Empty: derived from /etc/machine-id and the application, so that it tells nobody the machine's
  /// own id; where there is none, random and kept in the state file.
  std::string machine_id{};
  MachineScope machine_scope = MachineScope::kMachine;
  /// Several processes of one machine that want a seat each: what tells them apart.
  std::string instance{};
  /// A file of this holder's own. With it a program that was restarted resumes its seat, and vouches
  /// that the process before it is over: it is locked while a holder lives. Empty: none.
  std::string state_file{};

  std::string metadata{};    ///< for people: a JSON object
  std::string user_agent{};  ///< for people; empty: the application and the library's version

  /// How long `Acquire` stands in line when all seats are taken.
  Milliseconds wait{0};
  /// Without waiting: how often it asks again when all are taken, each time after the time that the
  /// server names.
  int tries_when_in_use = 3;
  /// Whether a seat that was lost is acquired anew. Never after it was resumed elsewhere (a clone of
  /// this machine has it, and the two would take it from each other for ever) or revoked.
  bool acquire_again = true;

  /// How long one request may take at most; heartbeats take less where the deadline asks for it.
  Milliseconds call_timeout{5'000};
  /// Troubles with the server, which the library goes on trying to reach: it says so here each time,
  /// and from time to time in the log (tenure/log.hpp). Called where the events are: return soon.
  /// Holders that share a server share the first one's.
  std::function<void(const std::string&)> on_trouble{};
  const Clock* clock = nullptr;  ///< null: the machine's
};

}  // namespace tenure::seats
