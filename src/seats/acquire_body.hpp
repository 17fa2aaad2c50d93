#pragma once

#include <cstdint>
#include <string>

#include "http/json_fields.hpp"
#include "seats/command.hpp"

namespace tenure::seats {

/// What the body of an acquire says. Of the command it fills what a body may say.
struct AcquireBody {
  std::string license_key{};
  AcquireCommand command{};
  std::int64_t wait_ms = 0;
};
/// Throws http::ProblemError that names the field, and never the key.
AcquireBody ReadAcquire(http::JsonFields& fields);

}  // namespace tenure::seats
