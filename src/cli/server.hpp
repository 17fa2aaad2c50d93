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
/// The same of one that changes something there.
Flags ActFlags();

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
    std::string context{};      ///< whose address it is; empty: of none
    bool is_protected = false;  ///< acts are asked about
  };
  /// Throws UsageError for a wrong address, base::UserError for a file without a token.
  Address address() const;

  /// Before the first act it says where that happens, and asks where the context is protected.
  /// Throws UsageError for a wrong address, base::Fault when nothing answers, base::UserError when
  /// the act was not meant.
  Answer Ask(http::Method method, const std::string& path,
             const std::optional<std::string>& json_body = std::nullopt);
  /// A POST that changes nothing.
  Answer Look(const std::string& path, const std::string& json_body);

 private:
  Answer Send(http::Method method, const std::string& path,
              const std::optional<std::string>& json_body);
  void BeforeActing();

  const Given& given_;
  const Answerer instead_;
  std::optional<Address> asked_;        // made by the first question
  std::optional<http::Client> client_;  // of that address, keeps its connection
  bool may_act_ = false;
};

/// A server's address without a slash at its end. User names and passwords have no place in it: they
/// would show in every message. Throws UsageError.
std::string CheckedServer(std::string address);

/// --ca-file, else TENURE_CA_FILE; empty: the system's certificates count.
std::string ChooseCaFile(const Given& given);

/// The token in a file, without the line break at its end. Throws base::UserError when it cannot be
/// read, or is not one line of text.
std::string ReadTokenFile(const std::string& path);

/// The token to use: that of --token-file, else TENURE_TOKEN; empty when there is neither. A token
/// never stands on the command line, where every user of the machine can see it.
std::string ChooseToken(const Given& given);

}  // namespace tenure::cli
