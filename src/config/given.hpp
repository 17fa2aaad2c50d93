#pragma once

#include <string>

#include "config/table.hpp"

namespace tenure::config {

enum class Source { kDefault, kFile, kEnvironment, kFlag };

/// Where a value came from, for people.
struct Origin {
  Source source = Source::kDefault;
  std::string where = "default";  ///< "tenure.yaml:12", "TENURE_LOG_LEVEL", "--listen"
  int line = 0;                   ///< of the file; 0 elsewhere
};

/// A value that somebody gave to a setting that exists; whether the setting accepts it is not known
/// yet.
struct Given {
  const Setting* setting = nullptr;
  bool by_file = false;  ///< `value` is the path of the file that holds the secret
  std::string value;
  Origin origin;
};

}  // namespace tenure::config
