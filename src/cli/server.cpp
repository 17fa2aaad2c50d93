#include "cli/server.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/operator_url.hpp"
#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "cli/contexts.hpp"
#include "cli/flags.hpp"
#include "cli/look.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:8080";

constexpr std::size_t kMaxTokenBytes = 16 * 1024;

std::string Variable(std::string_view name) {
  return config::FindVariable(config::CurrentEnvironment(), name).value_or("");
}

/// Which context the command line or the environment means; nothing when they name a server
/// themselves, or when there are no contexts.
std::optional<Context> ChooseContext(const Given& given) {
  if (given.Has("--context") && given.Has("--server"))
    throw UsageError("give one of --server and --context");
  if (given.Has("--context")) return Contexts::Read().Get(given.Text("--context"));
  if (given.Has("--server") || !Variable("TENURE_SERVER").empty()) return std::nullopt;
  const Contexts contexts = Contexts::Read();
  const std::string by_environment = Variable("TENURE_CONTEXT");
  const std::string& name = by_environment.empty() ? contexts.current() : by_environment;
  if (name.empty()) return std::nullopt;
  return contexts.Get(name);
}

std::string TokenOf(const Context& context) {
  if (!context.token_file.empty()) return ReadTokenFile(context.token_file);
  return context.token_command.empty() ? "" : TokenOfCommand(context);
}

}  // namespace

Flags ServerFlags() {
  return Flags{
             Value("--server", "URL",
                   fmt::format("The server to ask [TENURE_SERVER, else {}].", kDefaultServer)),
             Value("--context", "NAME",
                   "The one of `tenure context` to ask [TENURE_CONTEXT, else the current one].")
                 .Named({"contexts"}),
             Value("--token-file", "FILE", "The token to show [else TENURE_TOKEN]."),
             Value("--ca-file", "FILE",
                   "Whose certificates count, in PEM [TENURE_CA_FILE, else the system's]."),
             Switch("--insecure", "Send the token in clear text, to an http:// address elsewhere."),
             Switch("--json", "Print the server's JSON, for programs.")} +
         LookFlags();
}

Flags ActFlags() {
  return Flags{Switch("--yes", "Do not ask, also in a protected context.")} + ServerFlags();
}

Server::Address Server::address() const {
  const std::optional<Context> context = ChooseContext(given_);
  // What belongs to a context is for its server only: a token is never shown to another. One that
  // was named by the flag goes before the environment, as a flag does.
  const bool by_flag = given_.Has("--context");
  const auto choose = [&](std::string_view flag, std::string_view variable, const auto& of) {
    if (const std::string* const text = given_.Find(flag)) return *text;
    const std::string own = context && (by_flag || Variable(variable).empty()) ? of(*context) : "";
    return own.empty() ? Variable(variable) : own;
  };
  Address address{
      .url = choose("--server", "TENURE_SERVER", [](const Context& own) { return own.server; }),
      .token = given_.Has("--token-file")
                   ? ReadTokenFile(given_.Text("--token-file"))
                   : choose("", "TENURE_TOKEN", [](const Context& own) { return TokenOf(own); }),
      .ca_file =
          choose("--ca-file", "TENURE_CA_FILE", [](const Context& own) { return own.ca_file; }),
      .context = context ? context->name : "",
      .is_protected = context && context->is_protected};
  const bool is_named = given_.Has("--server") || !address.url.empty();
  address.url = CheckedServer(is_named ? address.url : std::string(kDefaultServer));
  if (!address.token.empty() && base::IsClearText(address.url) && !given_.Has("--insecure"))
    throw UsageError(
        fmt::format("the token would be sent to {} in clear text: use https://, or say --insecure",
                    address.url));
  return address;
}

Answer Server::Ask(http::Method method, const std::string& path,
                   const std::optional<std::string>& json_body) {
  if (instead_) return instead_(method, path, json_body);
  if (!asked_) asked_ = address();
  if (method != http::Method::kGet) BeforeActing();
  return Send(method, path, json_body);
}

Answer Server::Look(const std::string& path, const std::string& json_body) {
  if (!asked_) asked_ = address();
  Answer answer = Send(http::Method::kPost, path, json_body);
  answer.to_a_look = true;
  return answer;
}

void Server::BeforeActing() {
  const Console* const console = given_.console();
  if (std::exchange(may_act_, true) || console == nullptr || asked_->context.empty()) return;
  const std::string& name = asked_->context;
  console->Note(fmt::format("in {} ({})\n", name, asked_->url));
  if (!asked_->is_protected || given_.Has("--yes") || given_.Has("--dry-run")) return;
  if (console->person == nullptr)
    throw UsageError(
        fmt::format("{} is protected: --yes must say that it is meant. Nothing happened", name));
  console->err << fmt::format("{} is protected. Type its name to go on: ", name);
  console->err.flush();
  std::string typed;
  std::getline(*console->person, typed);
  if (typed != name) throw base::UserError("that is not its name: nothing happened");
}

Answer Server::Send(http::Method method, const std::string& path,
                    const std::optional<std::string>& json_body) {
  if (!client_) {
    http::ClientOptions options;
    options.base_url = asked_->url;
    options.token = asked_->token;
    options.ca_file = asked_->ca_file;
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

std::string CheckedServer(std::string address) {
  if (address.ends_with('/')) address.pop_back();
  const std::size_t scheme = address.starts_with("http://")    ? 7
                             : address.starts_with("https://") ? 8
                                                               : 0;
  // It may stand below a path, as a proxy shows it.
  const bool plain = address.find_first_of("?#@ \\", scheme) == std::string::npos &&
                     address.find('/', scheme) != scheme &&
                     address.find("//", scheme) == std::string::npos &&
                     config::Printable(address) == address;
  if (scheme == 0 || address.size() == scheme || !plain)
    throw UsageError("--server (TENURE_SERVER) takes an address like http://127.0.0.1:8080");
  return address;
}

std::string ChooseCaFile(const Given& given) {
  return given.Or("--ca-file", Variable("TENURE_CA_FILE"));
}

std::string ReadTokenFile(const std::string& path) {
  try {
    return CheckedToken(base::ReadWholeFile(path, kMaxTokenBytes));
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", path, error.what()));
  }
}

std::string ChooseToken(const Given& given) {
  if (const std::string* const file = given.Find("--token-file")) return ReadTokenFile(*file);
  return Variable("TENURE_TOKEN");
}

}  // namespace tenure::cli
