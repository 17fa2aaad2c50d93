#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "webhooks/bots/file.hpp"

namespace tenure::webhooks::bots {

/// One thing that is wrong, or looks so.
struct Mistake {
  int line = 0;         ///< of a YAML file; 0 in JSON
  std::string where;    ///< "bots[1] deploy-coordinator"; empty: the whole file
  std::string field;    ///< "bots[1].ordering_scope"
  std::string message;  ///< `ordering_scope "repositry" is not none, entity, repository or custom`

  friend bool operator==(const Mistake&, const Mistake&) = default;
};
/// "bots.yaml:14: bots[1] deploy-coordinator: …"; without a file the field stands in its place.
std::string ToText(const Mistake& mistake, std::string_view file);

/// Longer than any retention: for whoever leaves it to the server, and for what is in force already,
/// which no smaller setting refuses.
inline constexpr std::int64_t kAnyHistoryMs = 10LL * 366 * 86'400'000;

/// What the server's settings allow.
struct Bounds {
  std::int64_t max_history_ms = 8LL * 86'400'000;  ///< webhooks.retention
  /// Whether a secret can be read here, for warnings; null: nobody looks.
  bool (*can_read)(const SecretPlace& place) = nullptr;
};

struct Reading {
  File file;                      ///< REQUIRES: nothing is wrong
  bool names_tenant = false;      ///< whether it says whose it is
  std::vector<Mistake> mistakes;  ///< all of them, in the order of their lines
  std::vector<Mistake> warnings;
};

/// Reads a bots file, and the blocks of other systems' documents in it (`bot_config`,
/// `session_limits`, `service_bus_queues`).
Reading ReadYaml(std::string_view text, const Bounds& bounds = {});

/// The same of JSON, as ToJson writes it.
Reading ReadJson(std::string_view text, const Bounds& bounds = {});

}  // namespace tenure::webhooks::bots
