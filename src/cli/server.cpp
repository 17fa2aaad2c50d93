#include "cli/server.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/operator_url.hpp"
#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "cli/flags.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
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

constexpr std::size_t kMaxTokenBytes = 16 * 1024;

}  // namespace

Flags ServerFlags() {
  return {Value("--server", "URL",
                fmt::format("The server to ask [TENURE_SERVER, else {}].", kDefaultServer)),
          Value("--token-file", "FILE", "The token to show [else TENURE_TOKEN]."),
          Value("--ca-file", "FILE",
                "Whose certificates count, in PEM [TENURE_CA_FILE, else the system's]."),
          Switch("--insecure", "Send the token in clear text, to an http:// address elsewhere."),
          Switch("--json", "Print the server's JSON, for programs.")};
}

Server::Address Server::address() const {
  const config::Environment environment = config::CurrentEnvironment();
  const auto choose = [&](std::string_view flag, std::string_view variable,
                          std::string_view otherwise) {
    return given_.Or(flag,
                     config::FindVariable(environment, variable).value_or(std::string(otherwise)));
  };
  Address address{.url = CheckedServer(choose("--server", "TENURE_SERVER", kDefaultServer)),
                  .token = ChooseToken(given_),
                  .ca_file = ChooseCaFile(given_)};
  if (!address.token.empty() && base::IsClearText(address.url) && !given_.Has("--insecure"))
    throw UsageError(
        fmt::format("the token would be sent to {} in clear text: use https://, or say --insecure",
                    address.url));
  return address;
}

Answer Server::Ask(http::Method method, const std::string& path,
                   const std::optional<std::string>& json_body) {
  if (instead_) return instead_(method, path, json_body);
  if (!client_) {
    Address asked = address();
    http::ClientOptions options;
    options.base_url = std::move(asked.url);
    options.token = std::move(asked.token);
    options.ca_file = std::move(asked.ca_file);
    client_.emplace(std::move(options));
  }
  http::ClientResponse response = client_->Send(method, path, json_body);
  Answer answer{.status = response.status,
                .body = std::move(response.body),
                .to_a_look = method == http::Method::kGet};
  if (const auto date = response.FindHeader("Date"))
    answer.server_now_ms = base::ParseHttpDateMs(*date);
  if (const auto retry = response.FindHeader("Retry-After")) answer.retry_after = *retry;
  return answer;
}

std::string ChooseCaFile(const Given& given) {
  return given.Or(
      "--ca-file",
      config::FindVariable(config::CurrentEnvironment(), "TENURE_CA_FILE").value_or(""));
}

std::string ReadTokenFile(const std::string& path) {
  try {
    std::string token = base::ReadWholeFile(path, kMaxTokenBytes);
    while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
    const bool visible =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
    if (token.empty() || !visible) throw base::UserError("is not one line with a token");
    return token;
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", path, error.what()));
  }
}

std::string ChooseToken(const Given& given) {
  if (const std::string* const file = given.Find("--token-file")) return ReadTokenFile(*file);
  return config::FindVariable(config::CurrentEnvironment(), "TENURE_TOKEN").value_or("");
}

}  // namespace tenure::cli
