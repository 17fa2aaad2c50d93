#include "inbox/entry_id.hpp"

namespace tenure::inbox {

std::string EntryId(const MessageKey& key) {
  std::string id;
  for (const char byte : key.source) {
    if (byte == '%')
      id += "%25";
    else if (byte == '/')
      id += "%2F";
    else
      id += byte;
  }
  return id + '/' + key.message_id;
}

std::optional<MessageKey> ParseEntryId(std::string tenant, std::string_view id) {
  const std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  MessageKey key{.tenant = std::move(tenant), .message_id = std::string(id.substr(slash + 1))};
  std::string_view source = id.substr(0, slash);
  while (!source.empty()) {
    const std::string_view code = source.substr(0, 3);
    if (source.front() != '%') {
      key.source += source.front();
      source.remove_prefix(1);
    } else if (code == "%25" || code == "%2F") {
      key.source += code == "%25" ? '%' : '/';
      source.remove_prefix(code.size());
    } else {
      return std::nullopt;
    }
  }
  const auto fits = [](const std::string& text) {
    return !text.empty() && text.size() <= kMaxKeyBytes;
  };
  return fits(key.source) && fits(key.message_id) ? std::optional(std::move(key)) : std::nullopt;
}

}  // namespace tenure::inbox
