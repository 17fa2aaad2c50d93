#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/json_fields.hpp"
#include "push/change.hpp"
#include "push/target.hpp"

namespace tenure::push {

/// What the body of a PUT says of a subscription. Throws http::ProblemError: 400 for what cannot be read, 422 for
/// what cannot be meant; each names its fields, and none quotes a secret or the url.
PutCommand ReadPutBody(std::string_view body, SubscriptionKey key,
                       const std::vector<AllowedHost>& allowed);

/// A secret that somebody chose, of a rotation too; one that is none goes to `impossible`.
std::optional<std::string> ReadSecret(http::JsonFields& fields,
                                      std::vector<http::FieldError>& impossible);
/// A 422.
http::Problem NoSuchMeaning(std::vector<http::FieldError> impossible);
/// The same, unless it is empty.
void RefuseMeaning(std::vector<http::FieldError> impossible);

}  // namespace tenure::push
