#include "webhooks/files.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/read_file.hpp"
#include "server/capability.hpp"
#include "webhooks/bots/change.hpp"
#include "webhooks/secrets.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::string_view kSetting = "queues.files";
/// Each waits for 2 s (lock_bots.sql).
constexpr int kTries = 15;

/// All that is wrong with one file, a line each.
std::vector<std::string> MistakesOf(const bots::Reading& reading, const std::string& path) {
  std::vector<std::string> lines;
  for (const bots::Mistake& mistake : reading.mistakes)
    lines.push_back(bots::ToText(mistake, path));
  return lines;
}

/// The file of a setting. Throws when it is not in order.
bots::Reading ReadListed(const std::string& path, const config::Settings& settings) {
  bots::Reading reading = ReadBotsFile(path, settings.webhooks.retention_ms);
  for (const bots::Mistake& warning : reading.warnings)
    base::LogWarn("webhooks.bots", bots::ToText(warning, path));
  std::string wrong;
  for (const std::string& line : MistakesOf(reading, path))
    wrong += (wrong.empty() ? "" : "\n") + line;
  if (!wrong.empty()) throw base::UserError(wrong);
  return reading;
}

ApplyReply Apply(Webhooks& webhooks, const std::string& path, const config::Settings& settings,
                 bool only_first) {
  bots::Reading reading = ReadListed(path, settings);
  ApplyRequest request;
  request.content = bots::ToJson(reading.file);
  request.file = std::move(reading.file);
  request.only_first = only_first;
  for (int left = kTries;; --left) {
    try {
      ApplyReply reply = server::Await(webhooks.Apply, request);
      if (reply.kind == ApplyReply::Kind::kSourceTaken)
        throw base::UserError(
            fmt::format("{}: another tenant has a source named {}", path, reply.name));
      return reply;
    } catch (const base::Fault& fault) {  // whoever routes went on meanwhile
      if (fault.kind() != base::FaultKind::kContended || left == 1) throw;
    }
  }
}

}  // namespace

std::string ReadNamedFile(const std::string& path, std::size_t most_bytes) {
  try {
    return base::ReadWholeFile(path, most_bytes);
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{} {}", path, error.what()));
  }
}

bots::Reading ReadBotsFile(const std::string& path, std::int64_t max_history_ms) {
  return bots::ReadYaml(ReadNamedFile(path, bots::kMaxFileBytes + 1),
                        {.max_history_ms = max_history_ms, .can_read = CanRead});
}

void CheckFiles(const config::Settings& settings, config::Problems& problems) {
  const auto wrong = [&](std::string text) {
    problems.push_back({std::string(kSetting), std::move(text)});
  };
  std::map<std::string, std::string> paths;  // by tenant
  for (const std::string& path : settings.queues.files) {
    try {
      const bots::Reading reading = ReadBotsFile(path, settings.webhooks.retention_ms);
      for (std::string& line : MistakesOf(reading, path)) wrong(std::move(line));
      const auto [first, fresh] = paths.insert({reading.file.tenant, path});
      if (!fresh)
        wrong(
            fmt::format("{} and {} are both of the tenant {}", first->second, path, first->first));
    } catch (const base::UserError& error) {
      wrong(error.what());
    }
  }
}

void UseFiles(Webhooks& webhooks, const config::Settings& settings) {
  for (const std::string& path : settings.queues.files) {
    const ApplyReply reply = Apply(webhooks, path, settings, true);
    if (!reply.kept || reply.changes.empty()) continue;
    std::string text =
        fmt::format("{} is not what is in force (revision {}):", path, reply.revision);
    for (const bots::Change& change : reply.changes)
      text += fmt::format("\n  {}: {}", change.name, change.detail);
    throw base::UserError(text + fmt::format("\n`tenure queue apply {}` puts it in force.", path));
  }
}

std::vector<std::string> ApplyFiles(Webhooks& webhooks, const config::Settings& settings) {
  std::vector<std::string> sentences;
  for (const std::string& path : settings.queues.files) {
    const ApplyReply reply = Apply(webhooks, path, settings, false);
    for (const bots::Change& change : reply.changes)
      sentences.push_back(fmt::format("{}: {}", change.name, change.detail));
    sentences.push_back(fmt::format("{} is in force (revision {}).", path, reply.revision));
  }
  return sentences;
}

}  // namespace tenure::webhooks
