#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json_view.hpp"
#include "client/cas/record.hpp"

/// How a record and its name stand in a store.
namespace tenure::client {

/// What stands there is no record of ours, or one of a later version: the message says which.
class NoCasRecord : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A JSON object of at most 16 KiB: where it would be longer, the oldest past grants go.
std::string TextOf(const CasRecord& record);
/// Throws NoCasRecord.
CasRecord ParseCasRecord(std::string_view text);
CasRecord ReadCasRecord(const base::JsonView& value);

/// `A-Za-z0-9_-` stay, every other byte is `~` and two hex digits: "." and ".." would be steps of a
/// path, and some stores refuse a slash. What a name begins with stays what its text begins with.
std::string EncodedLeaseName(std::string_view name);
/// Nothing when no name has this text: somebody else's.
std::optional<std::string> DecodedLeaseName(std::string_view text);

}  // namespace tenure::client
