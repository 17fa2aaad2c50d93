#include "leases/lease_store.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "client/url_parameters.hpp"
#include "config/printable.hpp"
#include "config/secret.hpp"
#include "http/message.hpp"
#include "leases/json.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::leases {
namespace {

using cli::Answer;
using cli::Given;
using client::PercentDecoded;

constexpr std::string_view kStorePath = "/api/v1/leases";
constexpr Milliseconds kStoreTimeout{10'000};

Answer Refused(const http::Problem& problem) {
  return {.status = problem.status, .body = http::ToResponse(problem, "").body, .to_a_look = true};
}

Answer Unknown(const std::string& name) {
  return Refused(http::NotFound(
      fmt::format("The lease {} was never granted, or was not used for long.", name)));
}

/// One command's view of a store.
class StoreAnswers {
 public:
  explicit StoreAnswers(std::unique_ptr<Provider> provider)
      : provider_(std::move(provider)), connection_(provider_->Connect()) {}

  Answer Ask(http::Method method, std::string_view path, const std::optional<std::string>& body) {
    try {
      path.remove_prefix(kStorePath.size());
      if (path.empty() || path.front() == '?') return List(path.substr(path.empty() ? 0 : 1));
      path.remove_prefix(1);
      const std::size_t slash = path.find('/');
      const std::string name = PercentDecoded(path.substr(0, slash));
      return method == http::Method::kGet ? Look(name) : Break(name, body.value_or("{}"));
    } catch (const std::exception&) {
      RethrowForCommand();
    }
  }

 private:
  Answer Look(const std::string& name) {
    const auto view = connection_->Get(name, kStoreTimeout);
    if (!view) return Unknown(name);
    return {
        .status = 200, .body = ViewJson(*view), .server_now_ms = view->now_ms, .to_a_look = true};
  }

  Answer List(std::string_view query) {
    client::UrlParameters asked(query);
    const auto limit = static_cast<std::size_t>(asked.Number("limit", 1, 1'000).value_or(100));
    ListRequest request{.prefix = asked.Text("prefix").value_or(""),
                        .holder = asked.Text("holder").value_or(""),
                        .state = {},
                        .after = asked.Text("cursor").value_or(""),
                        .limit = limit};
    const std::string state = asked.Text("state").value_or("");
    for (const auto one : {LeaseState::kFree, LeaseState::kHeld, LeaseState::kBroken})
      if (state == ToText(one)) request.state = one;
    asked.Finish();
    PageReply page;
    page.rows = connection_->List(request, kStoreTimeout);
    page.has_more = page.rows.size() == limit;
    Answer answer{.status = 200, .body = PageJson(page), .to_a_look = true};
    if (!page.rows.empty()) answer.server_now_ms = page.rows.front().now_ms;
    return answer;
  }

  Answer Break(const std::string& name, const std::string& body) {
    const cli::JsonRow asked = cli::JsonRow::Parse(body);
    BreakRequest request{.name = name, .reason = asked.Text("reason")};
    if (!asked.Text("drain_ms").empty()) request.drain = Milliseconds(asked.Number("drain_ms"));
    request.force = asked.Text("force") == "true";
    if (!asked.Text("fence").empty()) request.fence = asked.Number("fence");
    const auto outcome = connection_->Break(request, kStoreTimeout);
    if (!outcome) return Unknown(name);
    if (outcome->guarded) return Refused(GuardedProblem(*outcome));
    return {.status = 200, .body = BreakAnswer(*outcome).value_or(base::StoredAnswer{}).body};
  }

  const std::unique_ptr<Provider> provider_;
  const std::unique_ptr<Connection> connection_;
};

}  // namespace

cli::Flags StoreFlags() {
  return {
      cli::Value(
          "--store", "URL",
          "Where the leases are, without a server: rediss://HOST, azblob://ACCOUNT/CONTAINER, …"),
      cli::Switch("--allow-forgetting", "Hold leases on a store that a crash makes forget them."),
      cli::Switch("--allow-plaintext", "Reach a redis:// elsewhere in clear text.")};
}

std::unique_ptr<Provider> OpenLeaseStore(const Given& given) {
  if (!given.Has("--store")) {
    if (given.Has("--allow-forgetting") || given.Has("--allow-plaintext"))
      throw cli::UsageError("--allow-forgetting and --allow-plaintext belong to --store");
    return nullptr;
  }
  if (given.Has("--server")) throw cli::UsageError("give one of --store and --server");
  const std::string& url = given.Text("--store");
  if (config::HasPassword(url))
    throw cli::UsageError(
        "others can read a command line: leave the password out of --store (a Redis takes "
        "?password_file=FILE, PostgreSQL a passfile)");
  try {
    return OpenProvider(url, {.ca_file = cli::ChooseCaFile(given),
                              .insecure = given.Has("--insecure"),
                              .allow_plaintext = given.Has("--allow-plaintext")});
  } catch (const std::exception&) {
    RethrowForCommand();
  }
}

cli::Answerer LeaseStore(const Given& given) {
  auto provider = OpenLeaseStore(given);
  if (!provider) return {};
  return [answers = std::make_shared<StoreAnswers>(std::move(provider))](
             http::Method method, const std::string& path, const std::optional<std::string>& body) {
    return answers->Ask(method, path, body);
  };
}

void RethrowForCommand() {
  try {
    throw;
  } catch (const std::invalid_argument& error) {
    throw cli::UsageError(error.what());
  } catch (const UnfitStore& error) {
    throw cli::UsageError(config::Printable(error.what()));
  } catch (const ProviderUnavailable& error) {
    throw base::Fault(base::FaultKind::kStoreUnavailable, config::Printable(error.what()));
  } catch (const LeaseError& error) {
    throw base::UserError(config::Printable(error.what()));
  }
}

}  // namespace tenure::leases
