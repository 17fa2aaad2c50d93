#pragma once

#include <string_view>

namespace tenure::base {

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF)
/// without U+0000. PostgreSQL refuses U+0000 in text and SQLite cuts at it, so both engines never
/// see one.
bool IsStorableText(std::string_view text);

}  // namespace tenure::base
