#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/answer.hpp"
#include "cli/command.hpp"
#include "http/client.hpp"

namespace tenure::cli {

/// The flags of a command that asks a server.
Flags ServerFlags();

/// Answers in a server's place, in a server's words: for commands that can work on a store of the
/// user's own.
using Answerer = std::function<Answer(http::Method method, const std::string& path,
                                      const std::optional<std::string>& json_body)>;
/// Makes one where the command line asks for it; else nothing.
using Elsewhere = std::function<Answerer(const Given&)>;

/// The server that such a command asks.
class Server {
 public:
  /// `given` must outlive it.
  explicit Server(const Given& given, const Elsewhere& elsewhere = {})
      : given_(given), instead_(elsewhere ? elsewhere(given) : Answerer()) {}

  Form form() const { return given_.Has("--json") ? Form::kJson : Form::kTable; }

  /// Where to ask, the token to send (may be empty), and whose certificates count (empty: the
  /// system's).
  struct Address {
    std::string url{};
    std::string token{};
    std::string ca_file{};
  };
  /// Throws UsageError for a wrong address, base::UserError for a file without a token.
  Address address() const;

  /// Throws UsageError for a wrong address, base::Fault when nothing answers.
  Answer Ask(http::Method method, const std::string& path,
             const std::optional<std::string>& json_body = std::nullopt);

 private:
  const Given& given_;
  const Answerer instead_;
  std::optional<http::Client> client_;  // made by the first question, keeps its connection
};

/// --ca-file, else TENURE_CA_FILE; empty: the system's certificates count.
std::string ChooseCaFile(const Given& given);

/// The token in a file, without the line break at its end. Throws base::UserError when it cannot be
/// read, or is not one line of text.
std::string ReadTokenFile(const std::string& path);

/// The token to use: that of --token-file, else TENURE_TOKEN; empty when there is neither. A token
/// never stands on the command line, where every user of the machine can see it.
std::string ChooseToken(const Given& given);

}  // namespace tenure::cli
