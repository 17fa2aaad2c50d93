// The conformance suite on Azure's stores: blobs on Azurite, documents on a Cosmos DB server.

#include "tenure/leases/conformance.hpp"

#include <memory>
#include <thread>

#include "support/azure_stores.hpp"

namespace tenure::leases::conformance {
namespace {

void WaitReally(Milliseconds time) { std::this_thread::sleep_for(time); }

/// The stores' time, of which fences are made, has whole seconds: what is forgotten within the second
/// of its grant leaves nothing to be higher than.
constexpr Milliseconds kOneSecond{1'050};

support::Azurite& Blobs() {
  static support::Azurite azurite;
  return azurite;
}

Subject BlobSubject() {
  return {.name = "blob",
          .open =
              [] {
                return OpenProvider(Blobs().Url("leases", "create=1&clock_skew=0s&min_ttl=100ms"),
                                    {.azure = {.connection_string = Blobs().ConnectionString()}});
              },
          .advance = WaitReally,
          // Both stamps are cut to seconds, so what lasts a second is over two seconds later.
          .short_ttl = Milliseconds(1'000),
          .expiry_slack = Milliseconds(1'050),
          .forget =
              [] {
                WaitReally(kOneSecond);
                Blobs().Forget();
              }};
}

support::CosmosServer& Documents() {
  static support::CosmosServer server;
  return server;
}

Subject CosmosSubject() {
  Subject subject = BlobSubject();
  subject.name = "cosmos";
  subject.open = [] {
    return OpenProvider(Documents().Url("leases", "create=1&clock_skew=0s&min_ttl=100ms"),
                        {.azure = {.connection_string = Documents().ConnectionString()}});
  };
  subject.forget = [open = subject.open] {
    WaitReally(kOneSecond);
    Documents().Forget();
    open();  // makes the container again
  };
  return subject;
}

std::vector<Subject> AzureSubjects() {
  if (!support::HasAzureStores()) return {};
  return {BlobSubject(), CosmosSubject()};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Azure, LeaseConformance, ::testing::ValuesIn(AzureSubjects()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::leases::conformance
