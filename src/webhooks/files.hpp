#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/given.hpp"
#include "config/settings.hpp"
#include "webhooks/bots/read.hpp"
#include "webhooks/webhooks.hpp"

namespace tenure::webhooks {

/// A file that somebody names. Throws base::UserError with its path.
std::string ReadNamedFile(const std::string& path, std::size_t most_bytes);

/// A file of bots, with warnings of secrets that cannot be read here. Throws as ReadNamedFile.
bots::Reading ReadBotsFile(const std::string& path, std::int64_t max_history_ms);

// The files of `queues.files`, one of each tenant.

/// Says what is wrong with them, all of it.
void CheckFiles(const config::Settings& settings, config::Problems& problems);
/// At a start: puts them in force where their tenant has none yet. Throws base::UserError that says
/// what differs where it has another.
void UseFiles(Webhooks& webhooks, const config::Settings& settings);
/// Puts them in force, for all processes at once. Says what that changes, a sentence each.
std::vector<std::string> ApplyFiles(Webhooks& webhooks, const config::Settings& settings);

}  // namespace tenure::webhooks
