#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/cli/answer.hpp"
#include "app/cli/flags.hpp"
#include "http/client.hpp"

namespace tenure::app {

/// The flags of a command that asks a server, and the way to ask it.
class ServerFlags {
 public:
  void Declare(Flags& flags);

  Form form() const { return json_ ? Form::kJson : Form::kTable; }

  /// Where to ask, and the token to send (may be empty).
  struct Address {
    std::string url;
    std::string token;
  };
  /// REQUIRES: the flags are parsed. Throws UsageError for a wrong address.
  Address address() const;

  /// REQUIRES: the flags are parsed. Throws UsageError for a wrong address, base::Fault when
  /// nothing answers.
  Answer Ask(http::Method method, const std::string& path,
             const std::optional<std::string>& json_body = std::nullopt);

 private:
  std::optional<std::string> server_;
  bool json_ = false;
  std::optional<http::Client> client_;  // made by the first question, keeps its connection
};

}  // namespace tenure::app
