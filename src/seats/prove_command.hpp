#pragma once

#include <functional>
#include <memory>

#include "cli/command.hpp"
#include "seats/log_source.hpp"
#include "seats/prove.hpp"

namespace tenure::seats {

/// A way to a store without a server, for those who know the settings: the flags that name it, and
/// what they open. Null when none of them was given.
struct StoreLogs {
  cli::Flags flags{};
  std::function<std::unique_ptr<LogSource>(const cli::Given&)> open{};
};

/// `tenure seat prove` and `tenure seat export`.
cli::Commands LogCommands(const StoreLogs& store);

/// What `prove` prints of one licence, for people and for programs.
std::string ProofText(const Proof& proof);
std::string ProofJson(const Proof& proof);

}  // namespace tenure::seats
