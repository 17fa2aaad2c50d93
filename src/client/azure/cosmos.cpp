#include "client/azure/cosmos.hpp"

#include <charconv>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "client/azure/door.hpp"
#include "client/cas/record_text.hpp"
#include "client/failure.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using base::JsonView;
using Kind = CallFailed::Kind;

constexpr std::int64_t kOpenTimeMs = 10'000;
constexpr int kMostAgain = 5;        // of what the service says to ask again at once
constexpr std::size_t kRanges = 64;  // of session tokens that are remembered

JsonView BodyOf(const http::ClientResponse& response, bool wrote) {
  const auto body = JsonView::Parse(response.body);
  if (!body || body->kind() != JsonView::Kind::kObject)
    throw CallFailed(Kind::kUnavailable, "the answer of the Cosmos DB is no JSON object", wrote);
  return *body;
}

std::string TextField(const JsonView& object, std::string_view name, bool wrote) {
  const auto field = object.Find(name);
  auto text = field ? field->Text() : std::nullopt;
  if (!text || text->empty())
    throw CallFailed(Kind::kUnavailable, fmt::format("the answer of the Cosmos DB has no {}", name),
                     wrote);
  return *std::move(text);
}

std::int64_t StampField(const JsonView& object, bool wrote) {
  std::int64_t stamp_s = 0;
  const auto field = object.Find("_ts");
  const std::string_view text = field ? field->text() : std::string_view();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), stamp_s);
  if (error != std::errc{} || end != text.data() + text.size() || stamp_s <= 0)
    throw CallFailed(Kind::kUnavailable, "the answer of the Cosmos DB has no _ts", wrote);
  return stamp_s;
}

std::string_view SubstatusOf(const http::ClientResponse& response) {
  return response.FindHeader("x-ms-substatus").value_or("");
}

/// A failover is under way, or was: another region takes the writes.
bool IsForbiddenWrite(const http::ClientResponse& response) {
  return response.status == 403 && SubstatusOf(response) == "3";
}

std::size_t CountOf(const JsonView& account, std::string_view locations) {
  const auto list = account.Find(locations);
  return list ? list->Values().size() : 0;
}

/// What each reply says of how far it was, sent along with the next request, so that reads are
/// seldom stale. Threads: any.
class SessionTokens {
 public:
  void Remember(std::string_view tokens) {
    const base::Lock lock(mutex_);
    while (!tokens.empty()) {
      const std::size_t end = std::min(tokens.find(','), tokens.size());
      const std::string_view token = tokens.substr(0, end);
      tokens.remove_prefix(std::min(end + 1, tokens.size()));
      const std::size_t colon = token.find(':');
      if (colon == std::string_view::npos || token.size() > 1'000) continue;
      if (tokens_.size() >= kRanges) tokens_.clear();
      tokens_.insert_or_assign(std::string(token.substr(0, colon)), token);
    }
  }
  void Forget() {
    const base::Lock lock(mutex_);
    tokens_.clear();
  }
  std::string All() const {
    const base::Lock lock(mutex_);
    std::string all;
    for (const auto& [range, token] : tokens_) all += (all.empty() ? "" : ",") + token;
    return all;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, std::string> tokens_ TENURE_GUARDED_BY(mutex_);
};

class CosmosDocuments final : public CasStore {
 public:
  CosmosDocuments(const AzureAddress& address, const AzureIdentity& who,
                  std::shared_ptr<ProviderCounters> counters)
      : address_(address),
        database_(fmt::format("dbs/{}", address.database)),
        container_(fmt::format("{}/colls/{}", database_, address.container)),
        door_(address, who, std::move(counters)) {}

  /// Why a failover may forget; empty: it does not.
  std::string Open(const CasCall& call) {
    const std::string may_forget = LookAtAccount(call);
    if (address_.create) Create(call);
    const auto response = Send(
        {.path = "/" + container_, .resource_type = "colls", .resource_link = container_}, call);
    if (response.status == 404)
      throw CallFailed(Kind::kUnavailable,
                       fmt::format("the container {} of the database {} is not there; create=1 in "
                                   "the address makes it (with the account's key)",
                                   address_.container, address_.database));
    if (response.status != 200) RefuseAzure(response, false, "looking at the container of leases");
    CheckPartitionKey(BodyOf(response, false));
    return may_forget;
  }

  CasSeen Read(const std::string& name, const CasCall& call) override {
    const auto response = Send(OfDocument(http::Method::kGet, name), call);
    CasSeen seen;
    seen.sight.now_s =
        response.status == 200 || response.status == 404 ? StampOf(response, "Date", false) : 0;
    if (response.status == 404) return seen;
    if (response.status != 200) RefuseAzure(response, false, "reading the document of a lease");
    const JsonView document = BodyOf(response, false);
    seen.version = TextField(document, "_etag", false);
    seen.sight.stamp_s = StampField(document, false);
    try {
      const auto record = document.Find("record");
      if (!record) throw NoCasRecord("it has no record");
      seen.sight.record = ReadCasRecord(*record);
    } catch (const NoCasRecord& error) {
      throw CallFailed(Kind::kUnavailable, fmt::format("the document {} is not one of ours: {}",
                                                       EncodedLeaseName(name), error.what()));
    }
    return seen;
  }

  std::optional<CasWritten> Write(const std::string& name, const CasRecord& record,
                                  const std::string& version, const CasCall& call) override {
    AzureRequest request = OfDocument(http::Method::kPut, name);
    if (version.empty()) {
      request.method = http::Method::kPost;
      request.path = fmt::format("/{}/docs", container_);
      request.resource_link = container_;
    } else {
      request.headers.emplace_back("If-Match", version);
    }
    request.writes = true;
    // Without a ttl of its own the container's would remove it, and with it how its grants ended.
    request.body = fmt::format(R"({{"id":"{}","ttl":-1,"record":{}}})", EncodedLeaseName(name),
                               TextOf(record));
    const auto response = Send(std::move(request), call);
    if (version.empty() && response.status == 409) return std::nullopt;
    // Another version by now; or somebody deleted it, and the next read finds none.
    if (!version.empty() && (response.status == 412 || response.status == 404)) return std::nullopt;
    if (response.status != (version.empty() ? 201 : 200))
      RefuseAzure(response, true, "writing the document of a lease");
    const JsonView document = BodyOf(response, true);
    return CasWritten{.version = TextField(document, "_etag", true),
                      .stamp_s = StampField(document, true)};
  }

  std::vector<std::string> Names(const std::string& prefix, const CasCall& call) override {
    std::vector<std::string> names;
    std::string continuation;
    do {
      AzureRequest request{.method = http::Method::kPost,
                           .path = fmt::format("/{}/docs", container_),
                           .headers = {{"Content-Type", "application/query+json"},
                                       {"x-ms-documentdb-isquery", "True"},
                                       {"x-ms-documentdb-query-enablecrosspartition", "True"},
                                       {"x-ms-max-item-count", "1000"}},
                           .resource_type = "docs",
                           .resource_link = container_};
      if (!continuation.empty()) request.headers.emplace_back("x-ms-continuation", continuation);
      request.body = JsonBody([&](base::JsonWriter& json) {
        json.Field("query", "SELECT c.id FROM c WHERE STARTSWITH(c.id, @prefix)")
            .Key("parameters")
            .BeginArray()
            .BeginObject()
            .Field("name", "@prefix")
            .Field("value", std::string_view(EncodedLeaseName(prefix)))
            .EndObject()
            .EndArray();
      });
      const auto response = Send(std::move(request), call);
      if (response.status != 200) RefuseAzure(response, false, "listing the documents of leases");
      const auto documents = BodyOf(response, false).Find("Documents");
      if (!documents) throw CallFailed(Kind::kUnavailable, "the Cosmos DB lists no documents");
      for (const JsonView& document : documents->Values()) {
        const auto name = DecodedLeaseName(TextField(document, "id", false));
        if (!name) continue;  // somebody else's
        names.push_back(*name);
        if (names.size() > kMostListed) ThrowTooManyLeases();
      }
      continuation = response.FindHeader("x-ms-continuation").value_or("");
    } while (!continuation.empty());
    return names;
  }

 private:
  AzureRequest OfDocument(http::Method method, const std::string& name) const {
    const std::string link = fmt::format("{}/docs/{}", container_, EncodedLeaseName(name));
    return {.method = method,
            .path = "/" + link,
            .headers = {{"x-ms-documentdb-partitionkey",
                         fmt::format(R"(["{}"])", EncodedLeaseName(name))}},
            .resource_type = "docs",
            .resource_link = link};
  }

  http::ClientResponse Send(AzureRequest request, const CasCall& call) {
    for (int again = 0;; ++again) {
      AzureRequest asked = request;
      if (const std::string tokens = session_.All(); !tokens.empty())
        asked.headers.emplace_back("x-ms-session-token", tokens);
      auto response = door_.Send(std::move(asked), call);
      if (const auto token = response.FindHeader("x-ms-session-token")) session_.Remember(*token);
      if (again >= kMostAgain) return response;
      if (response.status == 404 && SubstatusOf(response) == "1002") {
        session_.Forget();  // the replica that was asked is behind what we have seen
      } else if (IsForbiddenWrite(response)) {
        LookAtAccount(call);  // nothing was written here: where do writes go now?
      } else if (response.status != 449) {
        return response;
      }
    }
  }

  std::string LookAtAccount(const CasCall& call) {
    const auto response = door_.SendToAccount({.path = "/"}, call);
    if (response.status != 200) RefuseAzure(response, false, "looking at the Cosmos DB account");
    const JsonView account = BodyOf(response, false);
    const auto several = account.Find("enableMultipleWriteLocations");
    if (several && several->kind() == JsonView::Kind::kTrue)
      throw CallFailed(Kind::kUnfit,
                       "this Cosmos DB account is written in several regions, where the last "
                       "writer wins: leases need an account with one write region");
    const auto writable = account.Find("writableLocations");
    if (!address_.own_endpoint && writable && !writable->Values().empty())
      door_.MoveTo(TextField(writable->Values().front(), "databaseAccountEndpoint", false));
    const auto policy = account.Find("userConsistencyPolicy");
    const auto level = policy ? policy->Find("defaultConsistencyLevel") : std::nullopt;
    const bool strong = level && level->Text() == "Strong";
    if (strong || CountOf(account, "readableLocations") <= 1) return {};
    return "use an account with one region or with Strong consistency (a failover to another "
           "region forgets the last writes otherwise), or accept that a failover forgets who holds "
           "what (`require_durable_grant` off, `--allow-forgetting`)";
  }

  void Create(const CasCall& call) {
    CreateOne("dbs", "", fmt::format(R"({{"id":"{}"}})", address_.database), call);
    CreateOne(
        "colls", database_,
        fmt::format(R"({{"id":"{}","partitionKey":{{"paths":["/id"],"kind":"Hash","version":2}}}})",
                    address_.container),
        call);
  }
  void CreateOne(const std::string& type, const std::string& parent, const std::string& body,
                 const CasCall& call) {
    const auto response =
        Send({.method = http::Method::kPost,
              .path = parent.empty() ? "/" + type : fmt::format("/{}/{}", parent, type),
              .body = body,
              .writes = true,
              .resource_type = type,
              .resource_link = parent},
             call);
    if (response.status != 201 && response.status != 409)
      RefuseAzure(response, false, "making the database and the container of leases");
  }

  void CheckPartitionKey(const JsonView& container) const {
    const auto key = container.Find("partitionKey");
    const auto paths = key ? key->Find("paths") : std::nullopt;
    const auto all = paths ? paths->Values() : std::vector<JsonView>();
    if (all.size() != 1 || all[0].Text() != "/id")
      throw CallFailed(
          Kind::kUnfit,
          fmt::format("the container {} has another partition key than /id", address_.container));
    const auto version = key->Find("version");
    if (!version || version->text() != "2")
      throw CallFailed(Kind::kUnfit,
                       fmt::format("the container {} has a partition key of version 1, which holds "
                                   "names of 101 bytes at most: make it with version 2",
                                   address_.container));
  }

  const AzureAddress address_;
  const std::string database_;  // links, as they are signed
  const std::string container_;
  AzureDoor door_;
  SessionTokens session_;
};

}  // namespace

CosmosStore OpenCosmosStore(const AzureAddress& address, const AzureIdentity& who,
                            std::shared_ptr<ProviderCounters> counters) {
  auto documents = std::make_unique<CosmosDocuments>(address, who, std::move(counters));
  std::string may_forget = documents->Open({.until_ms = BootClock().NowMs() + kOpenTimeMs});
  return {.store = std::move(documents), .may_forget = std::move(may_forget)};
}

}  // namespace tenure::client
