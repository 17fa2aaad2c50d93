#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tenure/seats/options.hpp"

namespace tenure::client {

/// Where this machine says who it is; tests put files of their own in their place.
struct MachineFiles {
  std::string machine_id = "/etc/machine-id";
  std::string older_machine_id = "/var/lib/dbus/machine-id";
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
};

/// The id under which a holder with these options asks. `remembered`: that of its state file, if
/// any. Throws std::invalid_argument for one that no server would take.
///
/// What is derived is a hash: the machine's own id is meant to stay on the machine.
std::string ChooseMachineId(const seats::SeatOptions& options, std::string_view remembered,
                            const MachineFiles& files = {});

}  // namespace tenure::client
