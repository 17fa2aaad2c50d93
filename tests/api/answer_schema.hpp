#pragma once

#include <string>
#include <vector>

#include "support/json.hpp"

namespace tenure::api {

/// What `$ref` points to in `document`, or `described` itself.
support::Json Resolve(const support::Json& described, const support::Json& document);

/// Checks a value against the part of JSON Schema that openapi.json uses: type, enum, required,
/// properties, additionalProperties, items, format. Adds what is wrong, with the way to it.
void CheckAgainstSchema(const support::Json& value, const support::Json& schema,
                        const support::Json& document, std::vector<std::string>& complaints);

}  // namespace tenure::api
