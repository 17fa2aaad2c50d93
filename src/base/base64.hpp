#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// RFC 4648, with its padding.
std::string EncodeBase64(std::string_view bytes);

/// Strict: the standard alphabet, padded to a multiple of four, nothing between; the bits that the
/// padding leaves over are 0. So every text stands for other bytes than every other text. Empty
/// when it is anything else.
std::optional<std::string> DecodeBase64(std::string_view text);

/// The same with the alphabet for URLs and without padding, as tokens are written.
std::string EncodeBase64Url(std::string_view bytes);
std::optional<std::string> DecodeBase64Url(std::string_view text);

}  // namespace tenure::base
