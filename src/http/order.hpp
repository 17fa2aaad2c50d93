#pragma once

#include <optional>
#include <string>

#include "base/uuid.hpp"
#include "http/json_fields.hpp"

/// Which end of a list comes first. Ids are in the order of time, so `desc` is the newest first.
namespace tenure::http {

inline bool ReadDescending(QueryFields& fields) {
  constexpr std::size_t kMaxBytes = 4;
  return fields
      .Parsed("order", kMaxBytes, "must be asc or desc",
              [](const std::string& text) -> std::optional<bool> {
                if (text != "asc" && text != "desc") return std::nullopt;
                return text == "desc";
              })
      .value_or(false);
}

}  // namespace tenure::http
