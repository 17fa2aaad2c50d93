#include "client/azure/blob.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/azure/door.hpp"
#include "client/cas/record_text.hpp"
#include "client/failure.hpp"

namespace tenure::client {
namespace {

using Kind = CallFailed::Kind;

/// What stands between two tags; moves on behind the second. Names of ours have no character that
/// XML would write otherwise, so a name with one is somebody else's.
std::optional<std::string_view> TakeElement(std::string_view& xml, std::string_view begin,
                                            std::string_view end) {
  const std::size_t from = xml.find(begin);
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t to = xml.find(end, from + begin.size());
  if (to == std::string_view::npos) return std::nullopt;
  const std::string_view inner = xml.substr(from + begin.size(), to - from - begin.size());
  xml.remove_prefix(to + end.size());
  return inner;
}

class BlobStore final : public CasStore {
 public:
  BlobStore(const AzureAddress& address, const AzureIdentity& who,
            std::shared_ptr<ProviderCounters> counters)
      : address_(address), door_(address, who, std::move(counters)) {}

  CasSeen Read(const std::string& name, const CasCall& call) override {
    const auto response = Send({.method = http::Method::kGet, .path = PathOf(name)}, call);
    CasSeen seen;
    if (response.status == 404) {
      seen.sight.now_s = StampOf(response, "Date", false);
      return seen;
    }
    if (response.status != 200) RefuseAzure(response, false, "reading the blob of a lease");
    seen.version = ETagOf(response, false);
    seen.sight.stamp_s = StampOf(response, "Last-Modified", false);
    seen.sight.now_s = StampOf(response, "Date", false);
    try {
      seen.sight.record = ParseCasRecord(response.body);
    } catch (const NoCasRecord& error) {
      throw CallFailed(Kind::kUnavailable,
                       fmt::format("the blob {}{} is not one of ours: {}", address_.prefix,
                                   EncodedLeaseName(name), error.what()));
    }
    return seen;
  }

  std::optional<CasWritten> Write(const std::string& name, const CasRecord& record,
                                  const std::string& version, const CasCall& call) override {
    AzureRequest request{.method = http::Method::kPut,
                         .path = PathOf(name),
                         .headers = {{"x-ms-blob-type", "BlockBlob"}},
                         .body = TextOf(record),
                         .writes = true};
    if (version.empty())
      request.headers.emplace_back("If-None-Match", "*");
    else
      request.headers.emplace_back("If-Match", version);
    const auto response = Send(request, call);
    const std::string code = ErrorCodeOf(response);
    if (response.status == 412 && (code.empty() || code == "ConditionNotMet")) return std::nullopt;
    if (response.status == 409 && code == "BlobAlreadyExists") return std::nullopt;
    if (response.status != 201) RefuseAzure(response, true, "writing the blob of a lease");
    WarnOfVersions(response);
    return CasWritten{.version = ETagOf(response, true),
                      .stamp_s = StampOf(response, "Last-Modified", true)};
  }

  std::vector<std::string> Names(const std::string& prefix, const CasCall& call) override {
    std::vector<std::string> names;
    std::string marker;
    do {
      std::string path =
          fmt::format("/{}?restype=container&comp=list&prefix={}", address_.container,
                      Encoded(address_.prefix + EncodedLeaseName(prefix)));
      if (!marker.empty()) path += "&marker=" + Encoded(marker);
      const auto response = Send({.method = http::Method::kGet, .path = path}, call);
      if (response.status != 200) RefuseAzure(response, false, "listing the blobs of leases");
      std::string_view xml = response.body;
      while (const auto blob = TakeElement(xml, "<Name>", "</Name>")) {
        const auto name =
            DecodedLeaseName(blob->substr(std::min(address_.prefix.size(), blob->size())));
        if (!name) continue;  // somebody else's
        names.push_back(*name);
        if (names.size() > kMostListed) ThrowTooManyLeases();
      }
      std::string_view rest = response.body;
      marker = TakeElement(rest, "<NextMarker>", "</NextMarker>").value_or("");
    } while (!marker.empty());
    return names;
  }

 private:
  std::string PathOf(const std::string& name) const {
    return fmt::format("/{}/{}{}", address_.container, address_.prefix, EncodedLeaseName(name));
  }

  /// Makes the container where it is missing and may be made.
  http::ClientResponse Send(const AzureRequest& request, const CasCall& call) {
    auto response = door_.Send(request, call);
    if (response.status != 404 || ErrorCodeOf(response) != "ContainerNotFound") return response;
    if (!address_.create)
      throw CallFailed(
          Kind::kUnavailable,
          fmt::format("the container {} is not there; create=1 in the address makes it",
                      address_.container));
    const auto made = door_.Send({.method = http::Method::kPut,
                                  .path = fmt::format("/{}?restype=container", address_.container),
                                  .body = "",
                                  .writes = true},
                                 call);
    if (made.status != 201 && ErrorCodeOf(made) != "ContainerAlreadyExists")
      RefuseAzure(made, false, "making the container of leases");
    return door_.Send(request, call);
  }

  static std::string ETagOf(const http::ClientResponse& response, bool writes) {
    const auto tag = response.FindHeader("ETag");
    if (!tag || tag->empty())
      throw CallFailed(Kind::kUnavailable, "the store's answer has no ETag", writes);
    return std::string(*tag);
  }

  void WarnOfVersions(const http::ClientResponse& response) {
    if (!response.FindHeader("x-ms-version-id") || warned_.exchange(true)) return;
    base::LogWarn("leases.blob_versions",
                  "This storage account keeps a version of each write: every renewal leaves one.",
                  {{"account", address_.account}});
  }

  const AzureAddress address_;
  AzureDoor door_;
  std::atomic<bool> warned_ = false;
};

}  // namespace

std::unique_ptr<CasStore> MakeBlobStore(const AzureAddress& address, const AzureIdentity& who,
                                        std::shared_ptr<ProviderCounters> counters) {
  return std::make_unique<BlobStore>(address, who, std::move(counters));
}

}  // namespace tenure::client
