#pragma once

#include <optional>
#include <string>

#include "db/method.hpp"

namespace tenure::seats {

struct Organization {
  std::string id{};  ///< the tenant of its people's tokens
  std::string name{};
  std::string contact_email{};
  std::string metadata{};  ///< a JSON object, or empty
  std::int64_t created_ms = 0;

  std::size_t bytes() const { return db::BytesOf(id, name, contact_email, metadata); }
};

struct MadeOrganization {
  Organization organization{};  ///< as it is
  bool is_new = false;
  bool same = false;  ///< it was there, just like that
};
/// Makes organisations, unless they are there.
void MakeOrganizations(db::Transaction& tx, db::Items<Organization, MadeOrganization> items);

struct OrganizationChange {
  std::string id{};
  std::optional<std::string> name{};
  std::optional<std::string> contact_email{};
  std::optional<std::string> metadata{};

  std::size_t bytes() const { return db::BytesOf(id, name, contact_email, metadata); }
};
struct ChangedOrganization {
  std::optional<Organization> organization{};  ///< nothing: there is none
};
void ChangeOrganizations(db::Transaction& tx,
                         db::Items<OrganizationChange, ChangedOrganization> items);

struct OrganizationsRequest {
  std::string id{};  ///< empty: any
  std::string after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(id, after); }
};
db::Transaction::Pending QueueOrganizations(db::Transaction& tx,
                                            const OrganizationsRequest& request, std::int64_t rows);
Organization ReadOrganization(const db::Rows::Row& row);

std::string OrganizationJson(const Organization& organization);
std::string OrganizationsJson(const db::Page<Organization>& page);

}  // namespace tenure::seats
