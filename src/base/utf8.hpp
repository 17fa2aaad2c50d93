#pragma once

#include <string>
#include <string_view>

namespace tenure::base {

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF)
/// without U+0000. PostgreSQL refuses U+0000 in text and SQLite cuts at it, so both engines never
/// see one.
bool IsStorableText(std::string_view text);

/// The beginning of a UTF-8 text, of at most `max_bytes`, and not cut inside of a character.
std::string_view CutText(std::string_view text, std::size_t max_bytes);

/// The character at the front of `text`, or empty when there is no well-formed one. U+0000 counts
/// as none.
/// REQUIRES: `text` is not empty.
std::string_view FrontCharacter(std::string_view text);

/// Whether a character may be shown: it is no control character, and no invisible one that changes
/// how others are shown (zero width, direction, tags).
/// REQUIRES: `character` is one well-formed UTF-8 sequence.
bool IsHarmless(std::string_view character);

/// Whether there is a control character (U+0000 to U+001F, U+007F to U+009F) or something that is
/// not UTF-8 in it.
bool HasControls(std::string_view text);

/// `text` as it may be shown on a terminal, in a log or in an answer: control characters, invisible
/// marks and bytes that are not UTF-8 become '?', so that what somebody sent cannot move the
/// cursor, set the title, begin a line or pretend to be something else.
std::string Printable(std::string_view text);

}  // namespace tenure::base
