#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/answer.hpp"
#include "app/cli/console.hpp"
#include "app/cli/flags.hpp"
#include "http/client.hpp"

namespace tenure::app {

/// The flags of a command that asks a server, and the way to ask it.
class ServerFlags {
 public:
  void Declare(Flags& flags);

  Form form() const { return json_ ? Form::kJson : Form::kTable; }

  /// Where to ask, the token to send (may be empty), and whose certificates count (empty: the
  /// system's).
  struct Address {
    std::string url{};
    std::string token{};
    std::string ca_file{};
  };
  /// REQUIRES: the flags are parsed. Throws UsageError for a wrong address,
  /// base::UserError for a file without a token.
  Address address() const;

  /// REQUIRES: the flags are parsed. Throws UsageError for a wrong address, base::Fault when
  /// nothing answers.
  Answer Ask(http::Method method, const std::string& path,
             const std::optional<std::string>& json_body = std::nullopt);

  /// The whole of a command that asks one thing: prints the answer as `text` has it (or as JSON),
  /// or says why it was refused. Returns the exit code.
  struct Question {
    http::Method method = http::Method::kGet;
    std::string path{};
    std::optional<std::string> json_body{};
  };
  int Show(const Question& question, Console& console,
           const std::function<std::string(const Answer&)>& text);

 private:
  std::optional<std::string> server_;
  std::optional<std::string> token_file_;
  std::optional<std::string> ca_file_;
  bool json_ = false;
  std::optional<http::Client> client_;  // made by the first question, keeps its connection
};

}  // namespace tenure::app
