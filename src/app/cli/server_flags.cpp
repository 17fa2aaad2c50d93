#include "app/cli/server_flags.hpp"

#include <fmt/format.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/token_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "base/time_parse.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:8080";

/// The address without a slash at its end. User names and passwords have no place in it: they
/// would show in every message.
std::string CheckedServer(std::string address) {
  if (address.ends_with('/')) address.pop_back();
  const std::size_t scheme = address.starts_with("http://")    ? 7
                             : address.starts_with("https://") ? 8
                                                               : 0;
  const bool plain = address.find_first_of("/?#@ \\", scheme) == std::string::npos &&
                     config::Printable(address) == address;
  if (scheme == 0 || address.size() == scheme || !plain)
    throw UsageError("--server (TENURE_SERVER) takes an address like http://127.0.0.1:8080");
  return address;
}

}  // namespace

ServerFlags::Address ServerFlags::address() const {
  const config::Environment environment = config::CurrentEnvironment();
  const auto choose = [&](const std::optional<std::string>& flag, std::string_view variable) {
    return flag ? flag : config::FindVariable(environment, variable);
  };
  return {
      .url = CheckedServer(choose(server_, "TENURE_SERVER").value_or(std::string(kDefaultServer))),
      .token = ChooseToken(token_file_),
      .ca_file = choose(ca_file_, "TENURE_CA_FILE").value_or("")};
}

void ServerFlags::Declare(Flags& flags) {
  flags.Add(Flags::Value{"--server", "URL",
                         fmt::format("The server to ask [TENURE_SERVER, else {}].", kDefaultServer),
                         Flags::Need::kOptional, &server_});
  flags.Add(Flags::Value{"--token-file", "FILE", "The token to show [else TENURE_TOKEN].",
                         Flags::Need::kOptional, &token_file_});
  flags.Add(Flags::Value{"--ca-file", "FILE",
                         "Whose certificates count, in PEM [TENURE_CA_FILE, else the system's].",
                         Flags::Need::kOptional, &ca_file_});
  flags.Add(Flags::Switch{"--json", "Print the server's JSON, for programs.", &json_});
}

Answer ServerFlags::Ask(http::Method method, const std::string& path,
                        const std::optional<std::string>& json_body) {
  if (!client_) {
    Address asked = address();
    http::ClientOptions options;
    options.base_url = std::move(asked.url);
    options.token = std::move(asked.token);
    options.ca_file = std::move(asked.ca_file);
    client_.emplace(std::move(options));
  }
  http::ClientResponse response = client_->Send(method, path, json_body);
  Answer answer{.status = response.status, .body = std::move(response.body)};
  if (const auto date = response.FindHeader("Date"))
    answer.server_now_ms = base::ParseHttpDateMs(*date);
  if (const auto retry = response.FindHeader("Retry-After")) answer.retry_after = *retry;
  return answer;
}

int ServerFlags::Show(const Question& question, Console& console,
                      const std::function<std::string(const Answer&)>& text) {
  const Answer answer = Ask(question.method, question.path, question.json_body);
  if (!answer.ok()) return ReportRefusal(answer, form(), console);
  if (form() == Form::kJson)
    PrintJson(answer.body, console);
  else
    console.out << text(answer);
  return kExitDone;
}

}  // namespace tenure::app
