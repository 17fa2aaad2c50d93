#pragma once

#include <optional>
#include <string>

#include "db/operation.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {

/// A licence that is to be made. Only the hash of its key comes here.
struct CreateRequest {
  LicenseRow license{};  ///< its id, organisation and terms
  std::string key_hash{};
  std::string by{};

  std::size_t bytes() const {
    return db::BytesOf(license.tenant, license.name, license.metadata, key_hash, by);
  }
};
struct CreateReply {
  std::optional<LicenseRow> license{};  ///< nothing: the organisation has this key already
  std::int64_t now_ms = 0;
};

/// Makes licences with their seats and the first entries of their logs. On the lane of users' keys: a
/// key that is being made elsewhere at this moment is waited for.
class CreateHandler final : public db::TypedHandler<CreateRequest, CreateReply> {
 public:
  std::string_view name() const override { return "seats.create"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }
  std::size_t KeyHash(const CreateRequest& request) const override {
    return std::hash<std::string>()(request.key_hash);
  }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::seats
