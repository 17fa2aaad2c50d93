#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/leases/types.hpp"

namespace tenure::client {

/// "%41" is "A". Throws std::invalid_argument for what is no encoding.
std::string PercentDecoded(std::string_view text);

/// Whether a host is this machine's loopback: what is sent there crosses no network.
bool IsLoopbackHost(const std::string& host);

/// What stands behind the question mark of a store's address. Each parameter is taken once; what
/// nobody took is refused by name. All throw std::invalid_argument.
class UrlParameters {
 public:
  explicit UrlParameters(std::string_view query);

  std::optional<std::string> Text(const std::string& name);
  /// "500ms", "5m".
  std::optional<leases::Milliseconds> Duration(const std::string& name, leases::Milliseconds least,
                                               leases::Milliseconds most);
  std::optional<std::int64_t> Number(const std::string& name, std::int64_t least,
                                     std::int64_t most);
  void Finish() const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace tenure::client
