#include "webhooks/secrets.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::size_t kMaxSecretBytes = 4'096;

/// Without the line's end that editors write.
std::string WithoutLineEnd(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string ReadSecret(const bots::SecretPlace& place) {
  if (place.kind == bots::SecretPlace::Kind::kEnvironment) {
    const char* const value = std::getenv(place.name.c_str());
    return value ? value : "";
  }
  // Whatever else has a name could keep us waiting for ever: a pipe that nobody writes into, a terminal.
  std::error_code error;
  if (!std::filesystem::is_regular_file(place.name, error)) return {};
  try {
    return WithoutLineEnd(base::ReadWholeFile(place.name, kMaxSecretBytes));
  } catch (const base::UserError&) {
    return {};
  }
}

}  // namespace

bool CanRead(const bots::SecretPlace& place) { return !ReadSecret(place).empty(); }

void SecretKeeper::Read(const Snapshot& bots) {
  std::map<std::string, Secrets, std::less<>> read;
  std::map<std::string, std::int64_t> counts;
  for (const TenantBots& tenant : bots.tenants)
    for (const bots::Source& source : tenant.file.sources) {
      auto secrets = std::make_shared<std::vector<std::string>>();
      for (const bots::SecretPlace& place : source.secrets)
        if (std::string secret = ReadSecret(place); !secret.empty())
          secrets->push_back(std::move(secret));
      const Secrets before = Of(source.name);
      if (secrets->size() < source.secrets.size() && secrets->size() != before->size())
        base::LogWarn("webhooks.secrets", "secrets of a source cannot be read",
                      {{"source", source.name},
                       {"read", static_cast<std::int64_t>(secrets->size())},
                       {"named", static_cast<std::int64_t>(source.secrets.size())}});
      counts[source.name] = static_cast<std::int64_t>(secrets->size());
      read[source.name] = std::move(secrets);
    }
  probe_.SecretsRead(counts);
  const base::Lock lock(mutex_);
  if (bots.revision < revision_) return;
  revision_ = bots.revision;
  secrets_ = std::move(read);
}

SecretKeeper::Secrets SecretKeeper::Of(std::string_view source) const {
  static const Secrets none = std::make_shared<const std::vector<std::string>>();
  const base::Lock lock(mutex_);
  const auto found = secrets_.find(source);
  return found == secrets_.end() ? none : found->second;
}

}  // namespace tenure::webhooks
