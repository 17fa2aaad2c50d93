#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_view.hpp"

namespace tenure::webhooks::rules {

/// The body of a webhook: one JSON object, of which only what is asked for is looked at. So half a
/// surrogate pair, U+0000, huge numbers and unknown fields elsewhere are no error.
///
/// Finding a member of the top level costs no walk over the document; those below walk over their
/// parent only.
class Payload {
 public:
  /// Nothing when `json` is not one JSON object. The text outlives the payload.
  static std::optional<Payload> Parse(std::string_view json);

  /// What stands at "pull_request.number" or "commits[0].id".
  /// REQUIRES: IsPath(path).
  std::optional<base::JsonView> Find(std::string_view path) const;

  /// The digits of a whole number from 0 to 2^63 - 1, as it stands; nothing for anything else.
  std::optional<std::string> Id(std::string_view path) const;
  /// A string that is not empty.
  std::optional<std::string> Text(std::string_view path) const;

  std::string_view json() const { return root_.text(); }
  /// Nested deeper than what is handed out inside of other JSON: readers could not take it.
  bool is_deep() const { return deep_; }

 private:
  Payload(base::JsonView root, bool deep);

  base::JsonView root_;
  bool deep_;
  std::vector<std::pair<std::string, base::JsonView>> members_;
};

/// Whether a text names a place in a payload: names of letters, digits, `_` and `-` with points
/// between them, each perhaps with places of a list behind it.
bool IsPath(std::string_view path);

/// The digits of a whole number from 0 to 2^63 - 1.
std::optional<std::string> IdOf(const base::JsonView& value);

}  // namespace tenure::webhooks::rules
