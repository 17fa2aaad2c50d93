#pragma once

#include <string_view>
#include <vector>

namespace tenure::http {

// Where the parts of a JSON value stand in its text, for values that are kept as they came. The
// parser's own form has lost that: it knows 1.0 and 1e0 only as the same number.
//
// REQUIRES: the text is valid JSON, which the parser has seen to; nothing is checked again.

/// The texts of an object's values in their order, those of repeated names among them.
std::vector<std::string_view> MemberTexts(std::string_view object);
/// The texts of an array's elements.
std::vector<std::string_view> ElementTexts(std::string_view array);

}  // namespace tenure::http
